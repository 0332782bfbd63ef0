/** The preset that a job file or millrace.config.ts brings along. */
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const JOB = `
import { defaults, defineJob } from "millrace";
export const greet = defineJob({ type: "greet" }).run(() => { throw new Error("no"); });
`;
const ONCE = "{ ...defaults, retry: { ...defaults.retry, maxAttempts: 1 } }";

test("the preset of a job file replaces the numbers of the library", async () => {
  using project = new Project();
  project.write("jobs.ts", `${JOB}export const preset = ${ONCE};\n`);

  expect(await runOne(project)).toMatchObject({ state: "failed", maxAttempts: 1 });
});

test("that of millrace.config.ts counts when the job file has none", async () => {
  using project = new Project();
  project.write("jobs.ts", JOB);
  const config = 'import { defaults } from "millrace";\nexport default {};\n';
  project.write("millrace.config.ts", `${config}export const preset = ${ONCE};\n`);

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
