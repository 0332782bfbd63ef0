/** Failpoints in a real process: it dies at the very moment that its environment names. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineJob, openMillrace } from "../../src/index.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { ended, linesOf, startChild, temporaryFolder } from "./children.ts";

const mail = defineJob({ type: "mail" });

describe("a worker that is killed at a failpoint", () => {
  test.each([
    ["after:claim", "the job is held and its handler has not run", 0],
    ["before:settle", "the handler has run and its end is not written", 1],
  ])("%s, when %s, loses no job: the next one runs it", async (point, _, runs) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "jobs.db");
    const mill = await openMillrace(`sqlite:${path}`);
    const job = await mill.enqueue(mail);

    const env = ["env", `MILLRACE_FAILPOINTS=${point}=kill`];
    const struck = startChild("failpoints.child.ts", [path], { prefix: env });
    expect(await saidBy(struck)).toEqual([
      `warned: failpoints are armed: ${point}=kill@1`,
      ...Array<string>(runs).fill(`ran ${job.id}`),
    ]);
    expect(await ended(struck)).toBe("SIGKILL");
    expect((await mill.jobs.get(job.id)).state).toBe("running");

    const sound = startChild("failpoints.child.ts", [path]);
    await mill.result(job);
    sound.kill("SIGKILL");
    expect(await saidBy(sound)).toContain(`ran ${job.id}`);
    await mill.close();
    expect(await outcomesOf(path, job.id)).toEqual(["crashed", "succeeded"]);
  });
});

async function saidBy(child: ChildProcess): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(child)) lines.push(line);
  return lines;
}

async function outcomesOf(path: string, id: string): Promise<string[]> {
  const store = makeSqliteStore({ path });
  await store.open();
  const attempts = await store.attempts(id);
  await store.close();
  return attempts.map(({ outcome }) => outcome);
}
