/** `millrace dev` as users start it: a process of its own, and files that change under it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Project } from "./command-line.ts";
import type { Program } from "./programs.ts";

const JOBS = `
import { defineJob } from "millrace";
import { greeting } from "./words/greeting.ts";
export const greet = defineJob({ type: "greet" }).run(() => greeting);
export const long = defineJob({ type: "long", maxAttempts: 1 }).run(
  (_, ctx) =>
    new Promise((resolve, reject) => {
      if (greeting === "Bye") resolve(greeting);
      ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
    }),
);
export const fatal = defineJob({ type: "fatal", maxAttempts: 1 }).run(() => process.exit(7));
`;

describe("millrace dev", () => {
  test("finds the jobs, serves the page, and keeps the last good ones", async () => {
    using project = new Project("jobs.ts");
    const dev = project.start("dev", "--port", "0");
    const heard = listen(dev);
    const [, address = ""] = await dev.said(/^Millrace is at (http:\S+)$/m);
    const good = project.read("jobs.ts");

    const page = await fetch(address);
    project.write("jobs.ts", `${good}\nenum Colour { Red }\n`);
    await heard.include(/TypeScript enum is not supported by Node[^]*The worker runs the old jobs/);
    const first = await greeting(project, '{"name":"Ada"}');
    project.write("jobs.ts", good.replace("Hello", "Bye"));
    await heard.include(/(?:The worker runs long, greet.*\n[^]*){2}/);
    const second = await greeting(project, '{"name":"Ada"}');
    dev.child.kill("SIGTERM");

    expect(page.status).toBe(200);
    expect(first).toBe('"Hello Ada"\n');
    expect(second).toBe('"Bye Ada"\n');
    expect(await dev.ended).toMatchObject({ code: 0, signal: null });
  });

  test("follows changes of what the job file imports, and charges no job for it", async () => {
    using project = projectWithImports();
    const dev = project.start("dev", "--port", "0", "--grace", "50ms");
    const heard = listen(dev);
    await dev.said(/^Millrace is at/m);
    const id = await project.enqueue("long");
    await project.untilRunning(id);

    project.write("words/greeting.ts", 'export { greeting } from "./bye.ts";\n');
    await heard.include(/there is no \.\/bye\.ts[^]*The worker runs the old jobs/);
    expect(await greeting(project)).toBe('"Hello"\n');
    // No module loads the missing file yet, and still its coming counts.
    project.write("words/bye.ts", 'export const greeting = "Bye";\n');
    await heard.include(/(?:The worker runs (?!the old).*\n[^]*){2}/);
    const after = await greeting(project);
    const long = await project.start("jobs", "follow", id).ended;
    dev.child.kill("SIGTERM");

    expect(after).toBe('"Bye"\n');
    expect(long).toMatchObject({ code: 0, stdout: '"Bye"\n' });
    expect(await project.view(id)).toMatchObject({ state: "completed", attempts: 1 });
    expect(await dev.ended).toMatchObject({ code: 0 });
  });

  test("survives a worker that dies, and starts it again at the next change", async () => {
    using project = projectWithImports();
    const dev = project.start("dev", "--port", "0");
    const heard = listen(dev);
    const [, address = ""] = await dev.said(/^Millrace is at (http:\S+)$/m);

    await project.enqueue("fatal");
    await heard.include(/The worker has ended \(7\)/);
    const page = await fetch(address);
    project.write("words/greeting.ts", 'export const greeting = "Welcome back";\n');
    const after = await greeting(project);
    dev.child.kill("SIGTERM");

    expect(page.status).toBe(200);
    expect(after).toBe('"Welcome back"\n');
    expect(await dev.ended).toMatchObject({ code: 0 });
  });

  test("makes new deps after it has let go of the old ones, and says when it cannot", async () => {
    using project = new Project();
    const job =
      'import { defineJob } from "millrace";\nexport const job = defineJob({ type: "x" })';
    const jobs = (deps: string): string => `${job}.run(() => {});\nexport const deps = ${deps};\n`;
    const told = (name: string): string =>
      `() => (console.error("made ${name}"), { dispose: () => console.error("gone ${name}") })`;
    project.write("jobs.ts", jobs(told("first")));
    const dev = project.start("dev", "--port", "0");
    const heard = listen(dev);
    await dev.said(/^Millrace is at/m);

    project.write("jobs.ts", jobs("() => { throw new Error('no database'); }"));
    await heard.include(/gone first[^]*no database[^]*No worker runs until the next change/);
    project.write("jobs.ts", jobs(told("second")));
    await heard.include(/made second[^]*The worker runs x\.\n$/);
    dev.child.kill("SIGTERM");

    const { code, stderr } = await dev.ended;
    expect(stderr).toMatch(/gone second/);
    expect(code).toBe(0);
  });

  test("keeps the last good jobs when the preset beside the new ones is wrong", async () => {
    using project = new Project("jobs.ts");
    const dev = project.start("dev", "--port", "0");
    const heard = listen(dev);
    await dev.said(/^Millrace is at/m);
    const good = project.read("jobs.ts");

    project.write("jobs.ts", `${good}\nexport const preset = { pollMs: 500 };\n`);
    await heard.include(/preset\.retry must be an object[^]*The worker runs the old jobs/);
    const answer = await greeting(project, '{"name":"Ada"}');
    dev.child.kill("SIGTERM");

    expect(answer).toBe('"Hello Ada"\n');
    expect(await dev.ended).toMatchObject({ code: 0 });
  });

  test("does not start with jobs that cannot be loaded", async () => {
    using project = new Project("enum.ts");

    const { code, stdout, stderr } = await project.start("dev", "--jobs", "enum.ts").ended;

    expect(code).toBe(2);
    expect(stderr).toContain("enum.ts:3: TypeScript enum is not supported by Node.");
    expect(stdout).toBe("");
  });

  test("leaves no worker behind when it is killed", async () => {
    using project = projectWithImports();
    const dev = project.start("dev", "--port", "0");
    await dev.said(/^Millrace is at/m);
    const id = await project.enqueue("long");
    await project.untilRunning(id);

    dev.child.kill("SIGKILL");
    // The worker has the same output as its parent: only when both have gone does it end.
    const { signal } = await dev.ended;

    expect(signal).toBe("SIGKILL");
    expect(await project.view(id)).toMatchObject({ state: "queued", attempts: 0 });
  });
});

function projectWithImports(): Project {
  const project = new Project();
  mkdirSync(join(project.path, "words"));
  project.write("words/greeting.ts", 'export const greeting: string = "Hello";\n');
  project.write("jobs.ts", JOBS);
  return project;
}

/** What a worker answers to this job. */
async function greeting(project: Project, ...payload: readonly string[]): Promise<string> {
  // The job file may be broken: the worker runs the last good one.
  const words = ["enqueue", "greet", ...payload, "--no-jobs", "--follow"];
  return (await project.start(...words).ended).stdout;
}

/** Hears what a program says on stderr. */
function listen(program: Program): { include(pattern: RegExp): Promise<void> } {
  let heard = "";
  program.child.stderr?.on("data", (chunk: Buffer) => (heard += chunk.toString()));
  return {
    async include(pattern) {
      await expect.poll(() => heard, { timeout: 20_000 }).toMatch(pattern);
    },
  };
}
