/** The worker of jobs that are marked as started, and that wait for a slot, dies. */
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";
import { withMarked } from "./marked-scene.ts";

describe("a worker that dies with jobs marked as started", () => {
  test("costs them no attempt, and counts one crash", async () => {
    await using kit = await openTest();
    const { job, running, marked, next, ran, die } = await withMarked(kit);
    await die();

    kit.mill.work({ jobs: [job] });
    await kit.advance("5m");

    for (const begun of [running, marked]) {
      expect(await kit.mill.jobs.attempts(begun.id)).toMatchObject([
        { outcome: "crashed", attempts: 0, crashes: 1 },
        { outcome: "succeeded", attempts: 1, crashes: 1 },
      ]);
    }
    expect(await kit.mill.jobs.attempts(next.id)).toMatchObject([
      { outcome: "succeeded", attempts: 1, crashes: 0 },
    ]);
    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 1, 2, 3]);
  });

  test.each([{ maxAttempts: 1 }, { onOrphan: "fail" }] as const)(
    "ends no job that has not begun, also with %o",
    async (settings) => {
      await using kit = await openTest();
      const { job, running, waiting, die } = await withMarked(kit, { ...settings, marks: 0 });
      await die();

      kit.mill.work({ jobs: [job] });
      await kit.advance("5m");

      for (const each of waiting) expect(await kit.outcomes(each)).toEqual(["succeeded"]);
      expect(await kit.mill.jobs.get(running.id)).toMatchObject({ state: "failed" });
    },
  );
});
