/** The store marks jobs as started, and its answer comes late or is lost. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { JobKey } from "../../../src/store/types/jobs-and-runs.ts";
import { addCrashed } from "../../support/steps.ts";
import { openLateStore } from "../late-store.ts";
import { openTest, replaceVerb, type RuntimeTest } from "../support.ts";
import { withMarked } from "./marked-scene.ts";

describe("a mark that the store answers late", () => {
  test.each([
    { fate: "taken", ran: [0, 1, 2, 3, 4] },
    { fate: "cancelled", ran: [0, 1, 2, 3, 5] },
  ])(
    "leaves its slot to a claim that is under way, unless the job was $fate",
    async ({ fate, ran }) => {
      await using kit = await openLateStore();
      const scene = await withMarked(kit, { slots: 2, long: 5 });
      const overdue = scene.waiting[1]!;
      const marked = kit.holdAnswers("startPrefetched");
      scene.endOne(1);
      // The last prefetched job is being marked. The job that has waited too long goes back.
      await kit.advance("3s");
      expect(await kit.outcomes(overdue)).toEqual(["interrupted"]);
      const claimed = kit.holdAnswers("claim");
      if (fate === "cancelled") await kit.mill.jobs.cancel(overdue.id);
      scene.endOne(2);
      await kit.settled();

      marked.open();
      await kit.settled();
      claimed.open();
      await kit.settled();

      expect(scene.ran).toEqual(ran);
      expect(scene.busiest()).toBe(2);
      scene.end.open();
    },
  );
});

describe("a mark whose answer is lost", () => {
  test("is repeated, and its job runs once", async () => {
    await using kit = await openTest();
    const { next, endOne, ran } = await withMarked(kit);
    const repair = loseMarks(kit);
    endOne(1);
    await kit.settled();
    expect(ran).toEqual([0, 1, 2]);
    repair();

    await kit.advance("10s");

    expect(ran).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(next)).toEqual(["succeeded"]);
  });

  test("for longer than a mark lasts does not run its job under the old start", async () => {
    await using kit = await openTest();
    const { next, endOne, ran } = await withMarked(kit);
    const repair = loseMarks(kit);
    endOne(1);
    await kit.advance("10s");
    expect(ran).toEqual([0, 1, 2]);
    repair();

    await kit.advance("10s");

    expect(ran).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(next)).toEqual(["interrupted", "succeeded"]);
  });

  test("for that long does not begin the run of a job that runs alone", async () => {
    await using kit = await openTest();
    const ran: number[] = [];
    const job = defineJob({ type: "lone", payload: typed<number>() }).run((number) => {
      ran.push(number);
    });
    const id = await addCrashed(kit.store, 3, { type: "lone", payload: "7" });
    const repair = loseMarks(kit);
    kit.mill.work({ jobs: [job] });
    await kit.advance("10s");
    expect(ran).toEqual([]);
    repair();

    await kit.advance("10s");

    expect(ran).toEqual([7]);
    expect((await kit.mill.jobs.attempts(id)).slice(-2)).toMatchObject([
      { outcome: "interrupted", attempts: 0 },
      { outcome: "succeeded" },
    ]);
  });

  test.each(["quiet", "stop"] as const)("goes back uncharged at a %s", async (verb) => {
    await using kit = await openTest();
    const { worker, next, endOne, ran } = await withMarked(kit);
    const repair = loseMarks(kit);
    endOne(1);
    await kit.settled();
    repair();

    const done = worker[verb]();
    await kit.settled();
    await done;

    expect(ran).toEqual([0, 1, 2]);
    expect(await kit.mill.jobs.get(next.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.mill.jobs.attempts(next.id)).toMatchObject([
      { outcome: "interrupted", crashes: 0 },
    ]);
  });

  test("while the prefetch goes back gives its job back at the next heartbeat", async () => {
    await using kit = await openLateStore();
    const { worker, next, endOne, ran } = await withMarked(kit);
    const answered = kit.holdAnswers("startPrefetched", "lost");
    endOne(1);
    await kit.settled();
    void worker.quiet();
    await kit.settled();

    answered.open();
    await kit.advance("2s");

    expect(ran).toEqual([0, 1, 2]);
    expect(await kit.outcomes(next)).toEqual(["interrupted"]);
    expect(await kit.mill.jobs.get(next.id)).toMatchObject({ state: "queued" });
  });

  test("keeps no job started beside a job that runs alone", async () => {
    await using kit = await openTest();
    await addCrashed(kit.store, 3, { type: "marked", payload: "9", lane: "other" });
    await kit.mill.pause({ lane: "other" }, "later");
    const begun: number[] = [];
    const { next, endOne, ran } = await withMarked(kit, {
      lanes: { other: 1 },
      during: async () => void begun.push((await kit.mill.jobs.stats()).running),
    });
    const repair = loseMarks(kit);
    endOne(1);
    await kit.settled();
    begun.length = 0;
    await kit.mill.resume({ lane: "other" });
    await kit.advance("15s");
    expect(kit.logged.some(({ message }) => message.includes("is emptied"))).toBe(true);
    expect(ran).toEqual([0, 1, 2]);
    repair();

    await kit.advance("20s");

    expect(ran).toEqual([0, 1, 2, 9, 3]);
    expect(begun).toEqual([1, 1]);
    expect(await kit.outcomes(next)).toEqual(["interrupted", "succeeded"]);
  });
});

/**
 * The store marks a job as started, and the worker hears of an error, now and whenever it asks for
 * this job. Answers how to repair the store.
 */
function loseMarks({ store }: RuntimeTest): () => void {
  const start = store.startPrefetched.bind(store);
  let lost: JobKey | undefined;
  return replaceVerb(store, "startPrefetched", async (...args: Parameters<typeof start>) => {
    const [, [key]] = args;
    const answer = await start(...args);
    lost ??= key;
    if (key === lost) throw new Error("planted: the answer was lost");
    return answer;
  });
}
