/** Workers as users start them: processes of their own, real job files, real signals. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Project, type } from "./command-line.ts";

describe("millrace worker", () => {
  test("runs every job that the file exports, and ends when it is idle", async () => {
    using project = new Project("jobs.ts");
    const greet = await project.enqueue("greet", '{"name":"Ada"}');
    const doomed = await project.enqueue("doomed");
    const careless = await project.enqueue("careless");
    const unknown = await project.enqueue("elsewhere");

    const { code, stderr } = await project.start("worker", "--jobs", "jobs.ts", "--until-idle")
      .ended;

    expect(code).toBe(0);
    expect(await project.view(greet)).toMatchObject({ state: "completed", result: "Hello Ada" });
    expect(await project.view(doomed)).toMatchObject({ state: "failed" });
    expect(await project.view(unknown)).toMatchObject({ state: "queued" });
    // No code awaited the promise, yet the worker lives and says whose it was.
    expect(await project.view(careless)).toMatchObject({ state: "completed" });
    expect(entries(stderr)).toContainEqual(
      expect.objectContaining({
        level: "error",
        job_id: careless,
        error: expect.stringContaining("left behind"),
      }),
    );
  });

  test("counts as idle what it cannot run, and says why that is left", async () => {
    using project = new Project("jobs.ts");
    const paused = await project.enqueue("doomed");
    const greet = await project.enqueue("greet", '{"name":"Ada"}', "--tenant", "acme");
    const noSlot = await project.enqueue("long");
    await type("pause", "--tenant", "acme", "--reason", "in arrears", "--db", project.db);
    await type("pause", "--type", "doomed", "--reason", "no way", "--db", project.db);

    const options = ["--until-idle", "--lanes", "fast=1"];
    const worker = project.start("worker", "--jobs", "jobs.ts", ...options);
    const { code, stderr } = await worker.ended;

    expect(code).toBe(0);
    expect(stderr).toContain("idle, and due jobs are left: The tenant acme is paused");
    expect(stderr).toContain("millrace resume --tenant acme");
    expect(stderr).toContain("millrace resume --type doomed");
    expect(stderr).toContain("This worker has no slot for the lane general; its lanes are fast.");
    for (const id of [paused, greet, noSlot]) {
      expect(await project.view(id)).toMatchObject({ state: "queued", attempts: 0 });
    }
  });

  test("runs only the types and the tenant that it was told", async () => {
    using project = new Project("jobs.ts");
    const wanted = await project.enqueue("greet", '{"name":"Ada"}', "--tenant", "acme");
    const foreign = await project.enqueue("greet", '{"name":"Bob"}');
    const other = await project.enqueue("doomed", "--tenant", "acme");

    const options = ["--types", "greet", "--tenant", "acme", "--lanes", "general=1"];
    const worker = project.start("worker", "--jobs", "jobs.ts", "--until-idle", ...options);

    expect((await worker.ended).code).toBe(0);
    expect(await project.view(wanted)).toMatchObject({ state: "completed" });
    expect(await project.view(foreign)).toMatchObject({ state: "queued" });
    expect(await project.view(other)).toMatchObject({ state: "queued" });
  });

  test("stops at SIGTERM: says what it waits for, and hands it back uncharged", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("long");
    const worker = project.start("worker", "--jobs", "jobs.ts", "--grace", "100ms");
    await project.untilRunning(id);

    worker.child.kill("SIGTERM");
    const { code, stderr } = await worker.ended;

    expect(code).toBe(0);
    const returned = "1 run(s) did not end within 100 ms; their jobs were returned to the queue";
    expect(entries(stderr).slice(1)).toMatchObject([
      { msg: `stopping: waiting for long ${id}; a second signal exits at once` },
      { msg: returned },
      { msg: expect.stringMatching(/^worker \w+ has stopped$/) },
    ]);
    expect(await project.view(id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("stops when an operator asks for it, and exits with 0", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("long");
    const worker = project.start("worker", "--jobs", "jobs.ts", "--grace", "100ms");
    await project.untilRunning(id);
    const { out } = await type("workers", "list", "-o", "json", "--db", project.db);
    const [{ id: workerId }] = JSON.parse(out);

    const asked = await type("workers", "stop", workerId, "--db", project.db);
    const { code, stderr } = await worker.ended;

    expect(asked).toMatchObject({ code: 0, out: `${workerId} was asked to stop.\n` });
    expect(code).toBe(0);
    expect(entries(stderr).slice(1)).toMatchObject([
      { msg: "an operator has asked this worker to stop", worker_id: workerId },
      { msg: expect.stringContaining("1 run(s) did not end within 100 ms") },
      { msg: `worker ${workerId} has stopped` },
    ]);
    expect(await project.view(id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("leaves at once at the second signal (004-36)", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("long");
    const worker = project.start("worker", "--jobs", "jobs.ts", "--grace", "1h");
    await project.untilRunning(id);

    const nagging = setInterval(() => worker.child.kill("SIGINT"), 50);
    const { code } = await worker.ended;
    clearInterval(nagging);

    expect(code).toBe(130);
  });

  test("finds jobs.ts, as millrace dev does", async () => {
    using project = new Project("jobs.ts");
    const id = await project.enqueue("greet", '{"name":"Ada"}');

    const { code } = await project.start("worker", "--until-idle").ended;

    expect(code).toBe(0);
    expect(await project.view(id)).toMatchObject({ state: "completed" });
  });

  test("says without a job file where one would be found", async () => {
    using project = new Project();

    const { code, stderr } = await project.start("worker").ended;

    expect(code).toBe(2);
    expect(stderr).toContain("There is no job file: neither jobs.ts nor src/jobs.ts exists.");
  });

  test("tells at the end of --until-idle how many jobs are due later, and when", async () => {
    using project = new Project();
    project.write(
      "jobs.ts",
      'import { defineJob } from "millrace";\n' +
        'const backoff = { kind: "fixed", base: "1h" } as const;\n' +
        'export const flaky = defineJob({ type: "flaky", backoff }).run(() => {\n' +
        '  throw new Error("not yet");\n});\n',
    );
    const id = await project.enqueue("flaky");
    await project.enqueue("flaky", "--delay", "2d");

    const { code, stderr } = await project.start("worker", "--until-idle").ended;

    const { state, runAt } = await project.view(id);
    expect({ code, state }).toEqual({ code: 0, state: "scheduled" });
    expect(stderr).toContain(
      `idle, and 2 jobs are due later, the first at ${runAt?.toISOString()}`,
    );
  });

  test("says that a lease without a unit is in milliseconds", async () => {
    using project = new Project("jobs.ts");

    const { code, stderr } = await project.start("worker", "--lease", "3").ended;

    expect(code).toBe(2);
    expect(stderr).toContain("lease is 3 ms and must be at least 50 ms");
    expect(stderr).toContain('write "3s"');
  });

  test.each([
    ["a file that is not there", ["--jobs", "nowhere.ts"], "There is no file nowhere.ts."],
    ["a type that is none of the jobs", ["--jobs", "jobs.ts", "--types", "gret"], "mean greet?"],
  ])("refuses %s", async (_, args, advice) => {
    using project = new Project("jobs.ts");

    const { code, stderr } = await project.start("worker", ...args).ended;

    expect(code).toBe(2);
    expect(stderr).toContain(advice);
    expect(existsSync(join(project.path, "millrace.db"))).toBe(false);
  });
});

describe("a job file with a schedule", () => {
  test("has its schedule declared, by name and in a list, and its jobs run (000-54)", async () => {
    using project = new Project();
    writeFileSync(
      join(project.path, "jobs.ts"),
      'import { defineJob, schedule } from "millrace";\n' +
        'export const tidy = defineJob({ type: "tidy" }).run(() => {});\n' +
        'export const nightly = schedule("nightly", { cron: "0 3 * * *" }, tidy);\n' +
        "export const all = [tidy, nightly];\n",
    );
    const SOON = { timeout: 30_000 };
    const worker = project.start("worker", "--jobs", "jobs.ts");
    const list = async () => {
      const { code, out } = await type("schedules", "list", "--db", project.db, "-o", "json");
      return code === 0 ? JSON.parse(out) : null;
    };

    await expect.poll(list, SOON).toMatchObject([{ name: "nightly", owner: "code", type: "tidy" }]);
    const run = await type("schedules", "run", "nightly", "--db", project.db, "-o", "json");
    const { id } = JSON.parse(run.out);
    await expect.poll(() => project.view(id), SOON).toMatchObject({ state: "completed" });

    worker.child.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  });
});

describe("a job file that Node cannot run", () => {
  test.each([
    ["enum.ts", "enum.ts:3: TypeScript enum is not supported by Node.", "node --import tsx"],
    ["parameter-property.ts", "parameter-property.ts:4: TypeScript parameter property", "tsx"],
    ["decorator.ts", "decorator.ts:6: a decorator is not supported by Node.", "node --import tsx"],
    ["js-for-ts.ts", 'js-for-ts.ts:2: Node finds no "./neighbour.js".', 'Write "./neighbour.ts"'],
    ["no-extension.ts", 'no-extension.ts:2: Node finds no "./neighbour".', "node --import tsx"],
    ["jsx.ts", "jsx.ts:2: Node cannot run view.tsx.", "node --import tsx"],
    ["view.tsx", "view.tsx:1: Node cannot run view.tsx.", "node --import tsx"],
  ])("%s: the error names file, line and cure", async (file, message, cure) => {
    using project = new Project(...new Set([file, "neighbour.ts", "view.tsx"]));

    const { code, stderr } = await project.start("worker", "--jobs", file).ended;

    expect(code).toBe(2);
    expect(stderr.startsWith(message)).toBe(true);
    expect(stderr).toContain(cure);
  });

  test("is not blamed on Millrace when its own code throws", async () => {
    using project = new Project();
    writeFileSync(join(project.path, "jobs.ts"), "\nthrow new Error('no settings');\n");

    const { code, stderr } = await project.start("worker", "--jobs", "jobs.ts").ended;

    expect(code).toBe(1);
    expect(stderr).toMatch(/^jobs\.ts threw an error while it was loaded:\n.*no settings/);
    expect(stderr).toContain("jobs.ts:2");
  });
});

describe("Ctrl-C while following a job", () => {
  test("detaches, says how to follow it again, and leaves the job alone", async () => {
    using project = new Project();
    const command = project.start("enqueue", "unserved", "--follow", "-o", "ndjson");
    await command.said(/job:enqueued/);

    command.child.kill("SIGINT");
    const { code, stderr } = await command.ended;

    const [, id = ""] = /millrace jobs follow (\w{26})\n$/.exec(stderr) ?? [];
    expect(code).toBe(130);
    expect(await project.view(id)).toMatchObject({ state: "queued" });
  });
});

describe("millrace.config.ts", () => {
  test("gives way to environment and flags, and wins over the defaults", async () => {
    using project = new Project();
    const config = 'export default { db: "sqlite:./file.db", port: 1, jobs: "./file.ts" };';
    writeFileSync(join(project.path, "millrace.config.ts"), config);

    const command = ["config", "print", "--jobs", "flag.ts"];
    const { stdout } = await project.startWith({ MILLRACE_PORT: "2" }, ...command).ended;

    expect(stdout).toMatch(/^db +sqlite:\.\/file\.db +millrace\.config\.ts$/m);
    expect(stdout).toMatch(/^port +2 +MILLRACE_PORT$/m);
    expect(stdout).toMatch(/^jobs +flag\.ts +--jobs$/m);
    expect(stdout).toMatch(/^lanes +\{"fast":3,"general":5\} +default$/m);
  });

  test("takes what work takes as lanes, for a worker and for dev", async () => {
    using project = new Project("jobs.ts");
    const lanes = { fast: 1, general: { slots: 2, fair: { weights: { acme: 3 } }, ageing: "10m" } };
    project.write("millrace.config.ts", `export default { lanes: ${JSON.stringify(lanes)} };`);

    const { stdout } = await project.start("config", "print", "-o", "json").ended;
    await project.enqueue("greet", '{"name":"Ada"}');
    const worker = await project.start("worker", "--jobs", "jobs.ts", "--until-idle").ended;
    const listed = await project.start("fairness", "list", "-o", "json").ended;
    const dev = project.start("dev", "--jobs", "jobs.ts", "--port", "0");
    await dev.said(/^Millrace is at/m);
    dev.child.kill("SIGTERM");

    const value = JSON.stringify(lanes);
    const source = "millrace.config.ts";
    expect(JSON.parse(stdout)).toContainEqual({ name: "lanes", value, source });
    expect(worker.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ lane: "general", weights: { acme: 3 } }]);
    expect((await dev.ended).code).toBe(0);
  });

  test("gives way to JSON in the flag, which is checked as well", async () => {
    using project = new Project();
    const print = (lanes: string) => project.start("config", "print", "--lanes", lanes).ended;

    expect((await print('{"general":{"slots":5,"fair":true}}')).stdout).toMatch(
      /^lanes +\{"general":\{"slots":5,"fair":true\}\} +--lanes$/m,
    );
    const unknown = await print('{"general":{"slots":5,"fare":true}}');
    expect(unknown).toMatchObject({ code: 2 });
    expect(unknown.stderr).toContain("lanes.general.fare is unknown; did you mean fair?");
    expect((await print("{general")).stderr).toContain("Write JSON such as");
  });

  test.each(["jobs.ts", "src/jobs.mjs"])("is not needed to find and print %s", async (file) => {
    using project = new Project();
    mkdirSync(join(project.path, "src"));
    project.write(file, "");

    const { stdout } = await project.start("config", "print").ended;

    expect(stdout).toMatch(/^db +sqlite:\.\/millrace\.db +default$/m);
    const row = stdout.split("\n").find((line) => line.startsWith("jobs "));
    expect(row?.split(/ {2,}/)).toEqual(["jobs", file, "found by dev, worker and enqueue"]);
  });

  test("is not needed to print that no job file was found", async () => {
    using project = new Project();

    const { stdout } = await project.start("config", "print").ended;

    expect(stdout).toMatch(/^jobs +not set$/m);
  });

  test("lets enqueue use the definition of a job", async () => {
    using project = new Project("jobs.ts");
    const config = 'export default { jobs: "./jobs.ts" };';
    writeFileSync(join(project.path, "millrace.config.ts"), config);

    const { stdout } = await project.start("enqueue", "greet", '{"name":"Ada"}').ended;
    const typo = await project.start("enqueue", "gret").ended;

    expect(await project.view(stdout.trim())).toMatchObject({ lane: "fast" });
    expect(typo).toMatchObject({ code: 2 });
    expect(typo.stderr).toContain("Did you mean greet?");
  });

  test.each([
    ["{ prot: 1 }", "there is no setting “prot”.\nDid you mean port?"],
    ["{ port: 70000 }", "port must be a number from 0 to 65535, not 70000.\nCorrect port in"],
    ["{ lanes: 5 }", "lanes must be an object such as { general: 5 }."],
    [
      "{ lanes: { general: -1 } }",
      "lanes.general must be a whole number from 0 to 10,000, not -1.",
    ],
    ["{ lanes: { general: 0 } }", "lanes must give at least one lane a slot."],
    ["{ lanes: { general: '5' } }", "lanes.general must be a number of slots, or an object"],
    ["{ lanes: { general: { fair: true } } }", "lanes.general.slots must be a whole number"],
    ["{ lanes: { a: { slots: 1, fare: true } } }", "lanes.a.fare is unknown; did you mean fair?"],
    ["{ lanes: { a: { slots: 1, fair: 'yes' } } }", "lanes.a.fair must be true, false or {"],
    ["{ lanes: { a: { slots: 1, fair: { weights: { b: 0 } } } } }", "lanes.a.fair.weights cannot"],
    ["{ lanes: { a: { slots: 1, ageing: 'soon' } } }", "lanes.a.ageing must be a duration such"],
    ["7", "the file has no object as default export."],
  ])("is refused when it says %s", async (text, complaint) => {
    using project = new Project();
    writeFileSync(join(project.path, "millrace.config.mjs"), `export default ${text};\n`);

    const { code, stderr } = await project.start("config", "print").ended;

    expect(code).toBe(2);
    expect(stderr).toContain(`millrace.config.mjs: ${complaint}`);
  });
});

/** The lines of a log that are JSON. */
function entries(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}
