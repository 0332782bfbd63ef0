/** What `millrace jobs follow` says about a job that has ended, and about one that does not run. */
import { describe, expect, test } from "vitest";
import { runCommandLine } from "../../src/cli/program.ts";
import { defineJob } from "../../src/index.ts";
import { TestStore } from "./command-line.ts";

const email = defineJob({ type: "email" });

describe("millrace jobs follow", () => {
  test("shows the recorded times of a job that has ended", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const publish = defineJob({ type: "publish" }).phase("render", () => 1);
    const { id } = await mill.enqueue(publish);
    await using _ = mill.work({ jobs: [publish] });
    await mill.wait({ id, type: "publish" });

    const { err } = await store.type("jobs", "follow", id);
    const events = await store.type("jobs", "follow", id, "-o", "ndjson");

    const { job, progress } = await mill.jobs.details(id);
    const [phase] = progress.phases;
    expect(err.trimEnd().split("\n")).toEqual([
      `${job.startedAt?.toISOString()} publish ${id} running, run 1`,
      `${phase?.startedAt?.toISOString()} publish ${id} phase render started`,
      `${phase?.finishedAt?.toISOString()} publish ${id} phase render completed`,
      `${job.finishedAt?.toISOString()} publish ${id} completed`,
    ]);
    expect(JSON.parse(events.out.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      at: job.finishedAt?.toISOString(),
      event: "job:completed",
    });
  });

  test.each(["jobs follow", "enqueue --follow"])(
    "%s names the command that explains a job which is not final in time",
    async (words) => {
      await using store = new TestStore();
      const { id } = await (await store.mill).enqueue(email);
      const args = words === "jobs follow" ? ["jobs", "follow", id] : ["enqueue", "a", "--follow"];

      const { code, err } = await store.type(...args, "--timeout", "1ms");

      expect(code).toBe(124);
      expect(err).toMatch(/WAIT_TIMED_OUT: job (\w{26}) .*\n.*millrace jobs explain \1 --db /);
      expect(err).not.toContain("jobs.explain");
    },
  );

  test("explains why a job does not run", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const { id } = await mill.enqueue(email);

    let err = "";
    const code = await runCommandLine(["jobs", "follow", id, "--db", `sqlite:${store.file}`], {
      out: () => {},
      err(text) {
        err += text;
        if (text.includes("no worker is running")) void mill.jobs.cancel(id);
      },
    });

    expect(code).toBe(4);
    expect(err).toMatch(/ It is due, but no worker is running\. Start one: millrace worker/);
    expect(err.match(/no worker is running/g)).toHaveLength(1);
  });
});
