/** The preset that a job file or millrace.config.ts brings along. */
import { expect, test } from "vitest";
import { Project } from "../command-line.ts";

const JOB = `
import { defineJob } from "millrace";
export const greet = defineJob({ type: "greet" }).run(() => { throw new Error("no"); });
`;
/** An unclassified error is final. */
const PRESET = 'export { jobqueue as preset } from "millrace";\n';

test("the preset of a job file replaces the numbers of the library", async () => {
  using project = new Project();
  project.write("jobs.ts", `${JOB}${PRESET}`);

  expect(await runOne(project)).toMatchObject({ state: "failed" });
});

test("that of millrace.config.ts counts when the job file has none", async () => {
  using project = new Project();
  project.write("jobs.ts", JOB);
  project.write("millrace.config.ts", `export default {};\n${PRESET}`);

  expect(await runOne(project)).toMatchObject({ state: "failed" });
});

test("a preset without some numbers ends the worker in plain words", async () => {
  using project = new Project();
  project.write("jobs.ts", `${JOB}export const preset = { retention: { auditMs: 5 } };\n`);

  const { code, stderr } = await project.start("worker", "--jobs", "jobs.ts").ended;

  expect(code).toBe(2);
  expect(stderr).toContain("jobs.ts: preset");
});

async function runOne(project: Project) {
  const id = await project.enqueue("greet", "--no-jobs");
  await project.start("worker", "--jobs", "jobs.ts", "--until-idle").ended;
  return project.view(id);
}
