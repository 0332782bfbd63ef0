/** `millrace stats --last`: figures about ended runs. */
import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/index.ts";
import { TestStore } from "./command-line.ts";

const email = defineJob({ type: "email" }).run(() => {});

describe("millrace stats --last", () => {
  test("shows waits, run times, throughput and errors by type and lane (004-11)", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const job = await mill.enqueue(email);
    await using worker = mill.work({ jobs: [email], signals: false });
    await worker.ready;
    await mill.wait(job);

    const { code, out } = await store.type("stats", "--last", "1h");
    const metrics = await store.json("stats", "--last", "1h", "--type", "email");

    expect(code).toBe(0);
    expect(out).toMatch(/^TYPE +LANE +RUNS +PER SECOND +ERRORS +WAIT P50/);
    expect(out).toMatch(/^email +general +1 +0\.00 +0\.0 % +/m);
    expect(metrics).toMatchObject({ total: { runs: 1 }, groups: [{ type: "email", runs: 1 }] });
    const other = await store.type("stats", "--last", "1h", "--lane", "slow");
    expect(other).toMatchObject({ code: 0, out: "", err: "No run has ended in this time.\n" });
  });

  test("shows the versions of the application that came in this time", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    await using worker = mill.work({ jobs: [email], signals: false, appVersion: "2.0" });
    await worker.ready;

    const { out, err } = await store.type("stats", "--last", "1h");
    const metrics = await store.json("stats", "--last", "1h");

    expect(err).toBe("No run has ended in this time.\n");
    expect(out).toMatch(/^\nDEPLOYED +VERSION\n\d{4}-\d\d-\d\dT[\d:.]+Z +2\.0\n$/);
    expect(metrics.deploys).toMatchObject([{ appVersion: "2.0" }]);
  });

  test.each([
    [["--by", "type", "--last", "1h"], "exclude each other"],
    [["--type", "email"], "need --last"],
    [["--last", "soon"], "duration"],
  ])("refuses %j", async (words, problem) => {
    await using store = new TestStore();

    const { code, err } = await store.type("stats", ...words);

    expect(code).toBe(2);
    expect(err).toContain(problem);
  });
});
