import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineJob, openMillrace } from "millrace";
import { describe, expect, test } from "vitest";
import { Command } from "./command.ts";
import { temporaryFolder } from "./children.ts";

const CHILD = join(import.meta.dirname, "programs", "closed-stderr.child.ts");

const INDEX = join(import.meta.dirname, "..", "..", "src", "index.ts");

/** Writes lines to stderr after the test has closed its read end. */
const JOBS = `
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob } from "${INDEX}";

export const job = defineJob({ type: "noisy" }).run(async (_, ctx) => {
  console.error('"the run begins"');
  while (!existsSync("closed")) await sleep(10);
  for (let line = 0; line < 3; line += 1) {
    process.stderr.write("a line of the handler\\n");
    await sleep(10);
  }
});
`;

describe("a stderr without a reader", () => {
  test("does not end a process with the default logger", async () => {
    const child = spawn(process.execPath, [CHILD], { stdio: "pipe" });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.destroy();
    await once(child.stderr, "close");
    child.stdin.end();

    const [code] = await once(child, "close");

    expect({ code, out }).toEqual({ code: 0, out: "completed 1\ncompleted 2\ncompleted 3\n" });
  });

  test("does not end the command worker with a run in flight", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "jobs.ts"), JOBS);
    const mill = await openMillrace(`sqlite:${join(folder.path, "millrace.db")}`);
    const job = await mill.enqueue(defineJob({ type: "noisy" }));
    const worker = new Command(folder.path, ["worker", "--jobs", "jobs.ts"]);
    await worker.said(/runs noisy/);
    await worker.said(/"the run begins"/);
    worker.child.stderr?.destroy();
    writeFileSync(join(folder.path, "closed"), "");

    const done = await Promise.race([mill.wait(job), worker.ended]);
    worker.child.kill("SIGTERM");

    expect(done).toMatchObject({ state: "completed" });
    expect(await worker.ended).toBe(0);
    await mill.close();
  });
});
