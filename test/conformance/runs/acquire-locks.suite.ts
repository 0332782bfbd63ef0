import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/core/outcome.ts";
import { MOVES_MAX, type OpenRun } from "../../../src/store/types/notes.ts";
import type { ClaimedJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  newJobs,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { wakes } from "../../support/flows.ts";
import { done, halfway, keep, runNote } from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  recordOf,
  rescueSilent,
  settleAll,
  settleItem,
  startAll,
  take,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const NONE = { status: "done", names: [] } as const;
const STALE = { status: "stale" } as const;

/** Each way to speak for a run that one does not hold. */
const FORGERIES: readonly (readonly [string, (run: OpenRun) => OpenRun])[] = [
  ["a wrong secret", (run) => ({ ...run, lease: { ...run.lease, secret: "guessed" } })],
  ["an unknown lease", (run) => ({ ...run, lease: { ...run.lease, number: 9_999 } })],
  ["the number of an earlier run", (run) => ({ ...run, n: run.n - 1 })],
  ["the number of a later run", (run) => ({ ...run, n: run.n + 1 })],
  ["an unknown job", (run) => ({ ...run, key: 9_999 })],
];

const ENDS: readonly Settlement[] = [completed(), failedWith(), retryIn(60_000), runAgain()];

type Run = Batch & { readonly job: ClaimedJob };

export function acquireLocksSuite(open: OpenStore): void {
  describe("acquireLocks", () => {
    fenceTests(open);
    nameTests(open);
    keyTests(open);
    vacateTests(open);
    endTests(open);
  });
}

function runOf({ lease, job: { key, n } }: Run): OpenRun {
  return { lease, key, n };
}

/** Two jobs that run, each with a lease of its own. */
async function twoRuns(store: JobStore): Promise<readonly [Run, Run]> {
  await add(store, {}, {});
  return [await takeOne(store), await takeOne(store)];
}

async function holders(store: JobStore, ...names: readonly string[]) {
  return Promise.all(names.map((name) => store.lockHolder("default", name)));
}

function fenceTests(open: OpenStore): void {
  test.each(FORGERIES)("refuses %s and takes nothing (I4)", async (_, forge) => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const run = runOf(await takeOne(store));

    const answer = await store.acquireLocks(forge(run), ["a"]);

    expect(answer).toEqual(STALE);
    expect(await holders(store, "a")).toEqual([null]);
    expect(await store.acquireLocks(run, ["a"])).toEqual({ status: "done", names: ["a"] });
    expect(await holders(store, "a")).toEqual([id]);
  });

  test("refuses a run of another lease", async () => {
    await using db = await open();
    const { store } = db;
    const [mine, theirs] = await twoRuns(store);

    const answer = await store.acquireLocks({ ...runOf(theirs), lease: mine.lease }, ["a"]);

    expect(answer).toEqual(STALE);
    expect(await holders(store, "a")).toEqual([null]);
  });

  test.each(ENDS)("refuses a run that has ended as $outcome", async (settlement) => {
    await using db = await open();
    const { store } = db;
    await add(store, {}, {});
    const batch = await take(store);
    const job = at(batch.jobs, 0);
    await store.settle([settleItem(batch, job, settlement)]);

    expect(await store.acquireLocks(runOf({ ...batch, job }), ["a"])).toEqual(STALE);
    expect(await holders(store, "a")).toEqual([null]);
  });

  test("refuses a job of a prefetch until it has begun", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await take(store, { prefetch: true });
    const run = runOf({ ...batch, job: at(batch.jobs, 0) });

    const early = await store.acquireLocks(run, ["a"]);
    await startAll(store, batch);

    expect([early, await store.acquireLocks(run, ["a"])]).toEqual([
      STALE,
      { status: "done", names: ["a"] },
    ]);
  });

  test("refuses the old holder of a job that was rescued (I3, I4)", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, {});
    const zombie = await takeOne(store);
    await clock.advance(30_001);
    await rescueSilent(store, zombie.worker, { decide: crashedOnce });
    const heir = await takeOne(store);
    await store.acquireLocks(runOf(heir), ["a"]);

    expect(await store.acquireLocks(runOf(zombie), ["a", "b"])).toEqual(STALE);
    expect(await holders(store, "b")).toEqual([null]);
  });

  test("refuses a run that an operator has ended", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await store.intervene(id, () => failedWith());

    expect(await store.acquireLocks(runOf(batch), ["a"])).toEqual(STALE);
  });
}

function nameTests(open: OpenStore): void {
  test("takes what is free and leaves what others have, in the order asked", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["c", "a"]);

    const answer = await store.acquireLocks(runOf(two), ["d", "c", "b", "a"]);

    expect(answer).toEqual({ status: "done", names: ["d", "b"] });
    expect(await holders(store, "a", "b", "c", "d")).toEqual([
      one.job.id,
      two.job.id,
      one.job.id,
      two.job.id,
    ]);
  });

  test("is harmless when it is repeated after a lost answer", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["b", "a"]);

    const again = await store.acquireLocks(runOf(one), ["a", "c", "b"]);

    expect(again).toEqual({ status: "done", names: ["a", "c", "b"] });
    expect(await store.acquireLocks(runOf(two), ["a", "b", "c"])).toEqual(NONE);
  });

  test("asks for nothing and is given nothing", async () => {
    await using db = await open();
    const { store } = db;
    const [one] = await twoRuns(store);

    expect(await store.acquireLocks(runOf(one), [])).toEqual(NONE);
  });

  test("keeps tenants apart, and names byte for byte", async () => {
    await using db = await open();
    const { store } = db;
    const names = ["größe / \"1\" '{}'", "A", "a", " a", "a ", "x".repeat(500)];
    await add(store, {}, { tenant: "acme" });
    const [one, two] = [await takeOne(store), await takeOne(store)];

    const answers = [
      await store.acquireLocks(runOf(one), names),
      await store.acquireLocks(runOf(two), names.toReversed()),
    ];

    expect(answers).toEqual([
      { status: "done", names },
      { status: "done", names: names.toReversed() },
    ]);
    expect(await store.lockHolder("acme", "größe / \"1\" '{}'")).toBe(two.job.id);
  });

  test("takes as many names as one note may move", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    const names = Array.from({ length: MOVES_MAX }, (_, index) => `edition ${index}`);

    const answer = await store.acquireLocks(runOf(one), names);

    expect(answer).toEqual({ status: "done", names });
    expect(await store.acquireLocks(runOf(two), names)).toEqual(NONE);
    await keep(store, one, { releases: names });
    expect(await store.acquireLocks(runOf(two), names)).toEqual({ status: "done", names });
  });

  test("gives each name to one of many runs that ask at once, through two handles", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    await db.store.enqueue(newJobs(8));
    const batch = await take(db.store);
    const names = Array.from({ length: 30 }, (_, index) => `edition ${index}`);

    const answers = await Promise.all(
      batch.jobs.map((job, index) =>
        handles[index % 2]!.acquireLocks(
          runOf({ ...batch, job }),
          index % 3 === 0 ? names : names.toReversed(),
        ),
      ),
    );

    const had = answers.flatMap((answer) => (answer.status === "done" ? answer.names : []));
    expect(had.toSorted()).toEqual(names.toSorted());
    for (const [index, answer] of answers.entries()) {
      const own = answer.status === "done" ? answer.names : [];
      const id = at(batch.jobs, index).id;
      expect(await holders(db.store, ...own)).toEqual(own.map(() => id));
    }
  });
}

function keyTests(open: OpenStore): void {
  test("does not take the concurrency key of a job that runs", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, { concurrencyKey: "docs/main" }, {});
    await takeOne(store);
    const other = await takeOne(store);

    const answer = await store.acquireLocks(runOf(other), ["docs/main", "docs/next"]);

    expect(answer).toEqual({ status: "done", names: ["docs/next"] });
    expect(await holders(store, "docs/main")).toEqual([id]);
  });

  test("keeps jobs with that concurrency key from being claimed", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const run = await takeOne(store);
    await store.acquireLocks(runOf(run), ["docs/main"]);
    const [keyed, theirs] = await add(
      store,
      { concurrencyKey: "docs/main" },
      { concurrencyKey: "docs/main", tenant: "acme" },
    );

    const meanwhile = await claimable(store);
    const moved = await store.hold(100);
    const held = await recordOf(store, keyed);
    await keep(store, run, { releases: ["docs/main"] });

    expect(meanwhile).toEqual([theirs]);
    expect(moved).toBe(1);
    expect(held.heldBy).toEqual({ kind: "key", name: "docs/main" });
    expect((await recordOf(store, keyed)).heldBy).toBeNull();
    expect(await claimable(store)).toEqual([keyed]);
  });

  test("takes the key of a job that only waits, which then waits on", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {}, { concurrencyKey: "docs/main" });
    const run = await takeOne(store);

    expect(await store.acquireLocks(runOf(run), ["docs/main"])).toMatchObject({
      names: ["docs/main"],
    });
    expect(await claimable(store)).toEqual([]);
  });

  test("finds its own concurrency key had, and never gives it up before its end", async () => {
    await using db = await open();
    const { store } = db;
    const [id, next] = await add(
      store,
      { concurrencyKey: "docs/main" },
      { concurrencyKey: "docs/main" },
    );
    const run = await takeOne(store);

    const answer = await store.acquireLocks(runOf(run), ["docs/main"]);
    await keep(store, run, { releases: ["docs/main"] });

    expect(answer).toEqual({ status: "done", names: ["docs/main"] });
    expect(await holders(store, "docs/main")).toEqual([id]);
    expect(await claimable(store)).toEqual([]);
    await settleAll(store, run, completed());
    expect(await claimable(store)).toEqual([next]);
  });
}

function vacateTests(open: OpenStore): void {
  test("ends with the note that gives the name up, and others may have it", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a", "b"]);

    await keep(store, one, { units: [done("a")], releases: ["a", "never had"] });

    expect(await holders(store, "a", "b")).toEqual([null, one.job.id]);
    expect(await store.acquireLocks(runOf(two), ["a", "b"])).toEqual({
      status: "done",
      names: ["a"],
    });
  });

  test("is given up once by two notes of one call: one waiting job is next", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const run = await takeOne(store);
    await store.acquireLocks(runOf(run), ["a"]);
    await add(store, { concurrencyKey: "a" }, { concurrencyKey: "a" });
    const moved = await store.hold(100);
    const note = runNote(run, run.job, { releases: ["a"] });

    await store.record([note, note]);

    expect(moved).toBe(2);
    expect(await store.stats(100)).toMatchObject({ queued: 1, held: 1 });
  });

  test("gives up nothing that another run has", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a"]);

    await keep(store, two, { releases: ["a"] });

    expect(await holders(store, "a")).toEqual([one.job.id]);
  });

  test("gives up nothing with a note that is stale or refused", async () => {
    await using db = await open();
    const { store } = db;
    const [one] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a"]);
    const note = runNote(one, one.job, { releases: ["a"] });

    const answers = await store.record([
      { ...note, lease: { ...note.lease, secret: "guessed" } },
      { ...note, progress: halfway({ percent: 101 }) },
    ]);

    expect(answers).toEqual(["stale", "refused"]);
    expect(await holders(store, "a")).toEqual([one.job.id]);
  });

  test("gives up with each of several notes of one call", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a", "b"]);
    await store.acquireLocks(runOf(two), ["c"]);

    const answers = await store.record([
      runNote(one, one.job, { releases: ["a"] }),
      runNote(two, two.job, { releases: ["c"] }),
      runNote(one, one.job, { releases: ["b"] }),
    ]);

    expect(answers).toEqual(["recorded", "recorded", "recorded"]);
    expect(await holders(store, "a", "b", "c")).toEqual([null, null, null]);
  });

  test("hands a name to the most urgent job that waits for it as its key, and wakes", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const run = await takeOne(store);
    await store.acquireLocks(runOf(run), ["a"]);
    const [last, urgent] = await add(
      store,
      { concurrencyKey: "a", priority: 9 },
      { concurrencyKey: "a", priority: 1 },
    );
    await store.hold(100);

    await wakes(db, () => keep(store, run, { releases: ["a"] }));

    expect((await recordOf(store, last)).heldBy).toEqual({ kind: "key", name: "a" });
    expect(await claimable(store)).toEqual([urgent]);
  });

  test("may be taken again by the run that gave it up", async () => {
    await using db = await open();
    const { store } = db;
    const [one] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a"]);
    await keep(store, one, { releases: ["a"] });

    expect(await store.acquireLocks(runOf(one), ["a"])).toEqual({ status: "done", names: ["a"] });
  });
}

function endTests(open: OpenStore): void {
  test.each(ENDS)("ends with a run that ends as $outcome", async (settlement) => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a", "b"]);
    await store.acquireLocks(runOf(two), ["c"]);

    await store.settle([
      { ...settleItem(one, one.job, settlement), note: { releases: ["a"], units: [done("a")] } },
    ]);

    expect(await holders(store, "a", "b", "c")).toEqual([null, null, two.job.id]);
    expect(await store.acquireLocks(runOf(two), ["a", "b"])).toMatchObject({ names: ["a", "b"] });
  });

  test("ends with a rescue, and with the hand of an operator", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a"]);
    await store.acquireLocks(runOf(two), ["b"]);
    await store.intervene(two.job.id, () => failedWith());
    expect(await holders(store, "a", "b")).toEqual([one.job.id, null]);
    await clock.advance(30_001);

    await rescueSilent(store, one.worker, { decide: crashedOnce });

    expect(await holders(store, "a", "b")).toEqual([null, null]);
  });

  test("hands its names on to jobs that wait for them as their keys", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const run = await takeOne(store);
    await store.acquireLocks(runOf(run), ["a", "b"]);
    const ids = await add(store, { concurrencyKey: "a" }, { concurrencyKey: "b" });
    await store.hold(100);

    await settleAll(store, run, completed());

    expect(await claimable(store)).toEqual(ids);
  });

  test("is not kept by a later run of the same job", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await twoRuns(store);
    await store.acquireLocks(runOf(one), ["a"]);
    await settleAll(store, one, runAgain());
    const again = await takeOne(store);

    expect(await store.acquireLocks(runOf(two), ["a"])).toMatchObject({ names: ["a"] });
    expect(await store.acquireLocks(runOf(again), ["a"])).toEqual(NONE);
  });
}
