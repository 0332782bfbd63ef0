/** What handlers get from the command line as `ctx.deps`. */
import { describe, expect, test } from "vitest";
import { Project } from "./command-line.ts";

const JOB = `
import { defineJob } from "millrace";
export const greet = defineJob({ type: "greet" })
  .using<{ greeting: string }>()
  .run((_, ctx) => ctx.deps.greeting);
`;

describe("the functions of a job file", () => {
  const CALLER = `
    import { defineJob } from "millrace";
    export const greet = defineJob({ type: "greet" })
      .run(async (_, ctx) => (await ctx.callFunction("comms.greeting")).payload);
  `;

  test("are called by name", async () => {
    using project = new Project();
    const answer = '({ status: "succeeded", payload: "Hello" })';
    const functions = `export const functions = { "comms.greeting": () => ${answer} };`;
    project.write("jobs.ts", `${CALLER}${functions}\n`);
    const { result } = await runOne(project);
    expect(result).toBe("Hello");
  });

  test("are refused if they are none", async () => {
    using project = new Project();
    project.write("jobs.ts", `${CALLER}export const functions = { "comms.greeting": 7 };\n`);
    const { code, stderr } = await project.start("worker", "--jobs", "jobs.ts").ended;
    expect(code).not.toBe(0);
    expect(stderr).toContain("functions.comms.greeting must be a function");
  });
});

describe("the deps of a job file", () => {
  test("may be an object (004-20)", async () => {
    using project = new Project();
    project.write("jobs.ts", `${JOB}export const deps = { greeting: "Hello" };\n`);

    const { result } = await runOne(project);

    expect(result).toBe("Hello");
  });

  test.each([
    ["[Symbol.asyncDispose]", "async [Symbol.asyncDispose]"],
    ["dispose", "dispose"],
  ])("may be made when the worker starts, and end by %s when it has stopped", async (_, name) => {
    using project = new Project();
    const deps = `
      export async function deps() {
        console.error("deps made");
        return { greeting: "Hello", ${name}() { console.error("deps gone", this.greeting); } };
      }
    `;
    project.write("jobs.ts", `${JOB}${deps}`);

    const { result, ended } = await runOne(project);

    expect(result).toBe("Hello");
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(
      /deps made\n[^]*worker \w+ runs[^]*has stopped.*\ndeps gone Hello/,
    );
  });

  test("are those of millrace.config.ts when the file has none of its own", async () => {
    using project = new Project();
    const config = 'export default { jobs: "./jobs.ts" };\nexport const deps = ';
    project.write("millrace.config.ts", `${config}() => ({ greeting: "From the config" });\n`);
    project.write("jobs.ts", JOB);

    const first = await runOne(project);
    project.write("jobs.ts", `${JOB}export const deps = { greeting: "From the file" };\n`);
    const second = await runOne(project);

    expect(first.result).toBe("From the config");
    expect(second.result).toBe("From the file");
  });

  test.each([
    ["= 7", 2, "jobs.ts: deps is neither an object nor a function that returns one."],
    [
      "= async () => null",
      2,
      "jobs.ts: deps is neither an object nor a function that returns one.",
    ],
    ["= () => { throw new Error('no database'); }", 1, "jobs.ts: deps could not be made:\nError:"],
    [
      "= { dispose() { throw new Error('still busy'); } }",
      1,
      "jobs.ts: deps could not be disposed of:\nError: still busy",
    ],
  ])("that say %s end the worker in plain words", async (text, exit, message) => {
    using project = new Project();
    project.write("jobs.ts", `${JOB}export const deps ${text};\n`);

    const { code, stderr } = await project.start("worker", "--jobs", "jobs.ts", "--until-idle")
      .ended;

    expect(stderr).toContain(message);
    expect(code).toBe(exit);
  });

  test.each(["deps", "preset"])("%s is no setting: the config exports it by name", async (name) => {
    using project = new Project("jobs.ts");
    project.write("millrace.config.ts", `export default { jobs: "./jobs.ts", ${name}: {} };\n`);

    const { code, stderr } = await project.start("worker").ended;

    expect(code).toBe(2);
    expect(stderr).toContain(`Export ${name} by name: export const ${name} = …`);
  });

  test("are explained by --help", async () => {
    using project = new Project();

    const { stdout } = await project.start("worker", "--help").ended;

    expect(stdout).toContain("export const deps = async () =>");
    expect(stdout).not.toContain("--under-dev");
  });
});

async function runOne(project: Project) {
  const id = await project.enqueue("greet");
  const ended = await project.start("worker", "--jobs", "jobs.ts", "--until-idle").ended;
  const { result } = await project.view(id);
  return { ended, result };
}
