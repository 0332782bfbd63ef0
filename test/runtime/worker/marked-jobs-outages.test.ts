/** Jobs that are marked as started and wait for a slot, while something happens to their worker. */
import { describe, expect, test } from "vitest";
import { crashedOnce, failedWith } from "../../support/factories.ts";
import { rescueSilent } from "../../support/steps.ts";
import { openLateStore } from "../late-store.ts";
import { openTest, replaceVerb, type RuntimeTest } from "../support.ts";
import { withMarked } from "./marked-scene.ts";

type Write = "claim" | "renew" | "rescue" | "settle" | "startPrefetched" | "returnPrefetched";

const HEARTBEATS: readonly Write[] = ["renew"];
const WRITES: readonly Write[] = [
  "claim",
  "renew",
  "rescue",
  "settle",
  "startPrefetched",
  "returnPrefetched",
];

describe("a job that is marked as started", () => {
  test("goes back uncharged when its worker becomes quiet", async () => {
    await using kit = await openTest();
    const { worker, marked, next, end, ran } = await withMarked(kit);

    await worker.quiet();
    await kit.settled();
    end.open();
    await kit.settled();

    expect(ran).toEqual([0, 1]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted"]);
    expect(await kit.mill.jobs.get(marked.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.outcomes(next)).toEqual([]);
  });

  test("goes back when an operator makes its worker quiet", async () => {
    await using kit = await openTest();
    const { worker, marked, end, ran } = await withMarked(kit);

    await kit.store.quiet(worker.id);
    await kit.advance("1s");
    end.open();
    await kit.settled();

    expect(ran).toEqual([0, 1]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted"]);
  });

  test("goes back if the worker becomes quiet while the store marks it", async () => {
    await using kit = await openLateStore();
    const { worker, next, endOne, ran } = await withMarked(kit);
    const answered = kit.holdAnswers("startPrefetched");
    endOne(1);
    await kit.settled();

    void worker.quiet();
    await kit.settled();
    answered.open();
    await kit.settled();

    expect(ran).toEqual([0, 1, 2]);
    expect(await kit.outcomes(next)).toEqual(["interrupted"]);
  });
});

describe("a lease that expires with jobs marked as started", () => {
  test.each([
    { refused: "heartbeats", verbs: HEARTBEATS },
    { refused: "writes", verbs: WRITES },
  ])("costs them nothing, and runs each once ($refused are refused)", async ({ verbs }) => {
    await using kit = await openTest();
    const { marked, next, end, ran } = await withMarked(kit);
    const repair = refuse(kit, verbs);
    await kit.advance("31s");
    end.open();
    await kit.advance("5s");
    expect(ran).toEqual([0, 1]);
    repair();

    await kit.advance("10s");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted", "succeeded"]);
    expect(await kit.outcomes(next)).toEqual(["succeeded"]);
    expect(await kit.mill.jobs.get(marked.id)).toMatchObject({ attempts: 1 });
  });

  test("gives them to another worker while the runs of this one go on", async () => {
    await using kit = await openTest();
    const { marked, end, ran } = await withMarked(kit);
    const repair = refuse(kit, HEARTBEATS);

    await kit.advance("31s");

    expect(ran).toEqual([0, 1]);
    expect(await kit.outcomes(marked)).toEqual(["interrupted"]);
    repair();
    end.open();
  });

  test("does not end their runs twice if another worker has taken them", async () => {
    await using kit = await openTest();
    const { worker, marked, end, ran } = await withMarked(kit);
    const repair = refuse(kit, ["renew", "settle"]);
    await kit.advance("31s");
    await rescueSilent(kit.store, worker.id, { decide: crashedOnce });
    end.open();
    repair();

    await kit.advance("20s");

    expect(ran.filter((number) => number === 2)).toEqual([2]);
    expect(await kit.mill.jobs.attempts(marked.id)).toMatchObject([
      { outcome: "crashed", crashes: 1 },
      { outcome: "succeeded", crashes: 1 },
    ]);
  });

  test("by the store's clock alone does not run them under the old lease", async () => {
    await using kit = await openTest();
    const { worker, marked, endOne, ran } = await withMarked(kit);
    await kit.store.renew(worker.id, 0);
    await rescueSilent(kit.store, worker.id, { decide: crashedOnce });
    await kit.advance("1s");

    endOne(1);
    await kit.advance("1m");

    expect(ran.filter((number) => number === 2)).toEqual([2]);
    expect(await kit.outcomes(marked)).toEqual(["crashed", "succeeded"]);
  });

  test("while the store marks them does not run them", async () => {
    await using kit = await openLateStore();
    const { next, endOne, ran } = await withMarked(kit);
    const marks = kit.holdAnswers("startPrefetched");
    const beats = kit.holdAnswers("renew");
    endOne(1);
    await kit.advance("31s");

    marks.open();
    await kit.settled();
    expect(ran).toEqual([0, 1, 2]);
    expect(await kit.outcomes(next)).toEqual(["interrupted"]);
    beats.open();
    await kit.advance("5s");

    expect(ran).toEqual([0, 1, 2, 3]);
    expect(await kit.outcomes(next)).toEqual(["interrupted", "succeeded"]);
  });
});

describe("an operator of another process ends a job that is marked as started", () => {
  test.each([
    { act: "fails", to: "failed", end: (kit: RuntimeTest, id: string) => fail(kit, id) },
    {
      act: "cancels",
      to: "cancelled",
      end: (kit: RuntimeTest, id: string) => kit.store.cancel(id, null, null),
    },
  ])("$act it: its handler is not called after the next heartbeat", async ({ to, end }) => {
    await using kit = await openTest();
    const scene = await withMarked(kit);

    await end(kit, scene.marked.id);
    await kit.advance("1s");
    scene.end.open();
    await kit.advance("5s");

    expect(scene.ran).toEqual([0, 1, 3]);
    expect(await kit.mill.jobs.get(scene.marked.id)).toMatchObject({ state: to });
    expect(await kit.outcomes(scene.marked)).toHaveLength(1);
    expect(warnings(kit)).toEqual([]);
  });

  test("fails it: a handler that was called before the heartbeat is told to stop", async () => {
    await using kit = await openTest();
    const scene = await withMarked(kit, { long: 2 });

    await fail(kit, scene.marked.id);
    scene.endOne(1);
    await kit.settled();
    expect(scene.ran).toEqual([0, 1, 2]);
    await kit.advance("10s");

    expect(await kit.mill.jobs.get(scene.marked.id)).toMatchObject({ state: "failed" });
    expect(await kit.outcomes(scene.marked)).toHaveLength(1);
    expect(scene.ran).toEqual([0, 1, 2, 3]);
  });
});

describe("a stop while the store refuses writes", () => {
  test("leaves marked jobs to another worker, counted once and not charged", async () => {
    await using kit = await openTest();
    const { worker, job, marked, next, end, ran } = await withMarked(kit);
    const repair = refuse(kit, WRITES);
    const stopped = worker.stop().catch((error: unknown) => error);
    end.open();
    await kit.advance("1m");
    expect(await stopped).toMatchObject({
      code: "STOP_TIMED_OUT",
      message: expect.stringContaining("results of 2 run(s)"),
    });
    repair();

    kit.mill.work({ jobs: [job] });
    await kit.advance("5m");

    expect(ran.toSorted((a, b) => a - b)).toEqual([0, 1, 1, 2, 3]);
    expect(await kit.mill.jobs.attempts(marked.id)).toMatchObject([
      { outcome: "crashed", attempts: 0, crashes: 1 },
      { outcome: "succeeded", attempts: 1, crashes: 1 },
    ]);
    expect(await kit.outcomes(next)).toEqual(["succeeded"]);
  });
});

function fail(kit: RuntimeTest, id: string): Promise<unknown> {
  return kit.store.intervene(id, () => failedWith());
}

/** These verbs fail, as on a full disk. Answers how to repair the store. */
function refuse({ store }: RuntimeTest, verbs: readonly Write[]): () => void {
  const repairs = verbs.map((verb) =>
    replaceVerb(store, verb, () => Promise.reject(new Error("planted: the disk is full"))),
  );
  return () => {
    for (const repair of repairs) repair();
  };
}

function warnings({ logged }: RuntimeTest) {
  return logged.filter(({ level }) => level === "warn");
}
