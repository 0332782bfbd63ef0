import { describe, expect, test } from "vitest";
import type { Settlement } from "../../../src/core/outcome.ts";
import { AFTER_MAX } from "../../../src/store/types/jobs-and-runs.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  jobId,
  newJob,
  newJobs,
  retention,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { addAfter, becauseOf, freed, pair, stays, wakes } from "../../support/flows.ts";
import {
  add,
  ask,
  at,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SKIP = { key: "nightly", onConflict: "skip" } as const;
const REPLACE = { key: "nightly", onConflict: "replace" } as const;
const EXTEND = { key: "nightly", onConflict: "extend" } as const;
const ONCE = { key: "order 7", onConflict: "return-existing" } as const;
const AFTER = { kind: "after" } as const;
const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const KEEP_NO_JOBS = retention({ finishedMs: FINAL });

const WELL: readonly Settlement[] = [completed(), completedWithErrors(2)];
const BADLY = [
  [failedWith(), "failed"],
  [cancelled("not needed"), "was cancelled"],
] as const;

export function afterSuite(open: OpenStore): void {
  describe("after", () => {
    waitingTests(open);
    shapeTests(open);
    failureTests(open);
    unknownTests(open);
    finalBeforeTests(open);
  });
  describe("openDependencies", () => {
    awaitedTests(open);
  });
}

function waitingTests(open: OpenStore): void {
  test("waits for a job that waits, runs or waits again, and says so", async () => {
    await using db = await open();
    const { store, clock } = db;
    const runAt = clock.now();
    const [parent] = await add(store, {});

    const answer = await ask(store, { after: [parent] });

    const child = answer.status === "created" ? answer.id : "";
    expect(answer).toEqual({ status: "created", id: child, state: "queued" });
    const waiting = { state: "queued", heldBy: AFTER, runAt, attempts: 0 };
    expect(await recordOf(store, child)).toMatchObject(waiting);
    const batch = await take(store);
    expect(batch.jobs.map(({ id }) => id)).toEqual([parent]);
    await stays(store, child);
    await settleAll(store, batch, retryIn(1_000));
    await stays(store, child);
    await clock.advance(1_000);
    await store.promote(10);
    await runOne(store, runAgain());
    await stays(store, child);
    expect(await recordOf(store, child)).toMatchObject(waiting);
    expect(await claimable(store)).toEqual([parent]);
    expect(await eventsOf(store, child)).toEqual(["job:enqueued"]);
  });

  test.each(WELL)("runs once its parent has ended as $to", async (settlement) => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store, { payload: '{"n":1}', priority: 7 });

    await settleAll(store, batch, settlement);

    await freed(store, child);
    expect(await recordOf(store, child)).toMatchObject({ state: "queued", heldBy: null });
    const { job } = await takeOne(store);
    expect(job).toMatchObject({ id: child, n: 1, tries: 0, payload: '{"n":1}', priority: 7 });
    expect(await eventsOf(store, child)).toEqual(["job:enqueued", "job:started"]);
  });

  test("wakes those who may claim it", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store);

    await wakes(db, async () => {
      await settleAll(store, batch, completed());
      await freed(store, child);
    });

    expect(await claimable(store)).toEqual([child]);
  });

  test("keeps a job that is not due in its place until it is", async () => {
    await using db = await open();
    const { store, clock } = db;
    const runAt = clock.now() + 60_000;
    const { batch, child } = await pair(store, { due: { delayMs: 60_000 } });
    expect(await recordOf(store, child)).toMatchObject({ state: "queued", heldBy: AFTER, runAt });

    await settleAll(store, batch, completed());
    await freed(store, child);

    expect(await recordOf(store, child)).toMatchObject({ state: "scheduled", runAt, heldBy: null });
    expect(await claimable(store)).toEqual([]);
    await clock.advance(60_000);
    await store.promote(10);
    expect(await claimable(store)).toEqual([child]);
  });

  test("lets a job run at once that fell due while it waited", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, child } = await pair(store, { due: { delayMs: 1_000 } });
    await clock.advance(2_000);
    expect(await store.promote(10)).toMatchObject({ moved: 0 });
    await stays(store, child);

    await settleAll(store, batch, completed());
    await freed(store, child);

    expect(await recordOf(store, child)).toMatchObject({
      state: "queued",
      runAt: clock.now() - 1_000,
    });
    expect(await claimable(store)).toEqual([child]);
  });

  test("takes its place in the order of those it could have run with", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, child } = await pair(store, { priority: 5 });
    await clock.advance(10);
    const [later, urgent] = await add(store, { priority: 5 }, { priority: 1 });
    await settleAll(store, batch, completed());
    await freed(store, child);

    expect(await claimable(store)).toEqual([urgent, child, later]);
  });
}

function shapeTests(open: OpenStore): void {
  test("runs a chain link by link, made in one call", async () => {
    await using db = await open();
    const { store } = db;
    const chain = Array.from({ length: 6 }, () => jobId());
    await add(
      store,
      ...chain.map((id, index) => ({ id, after: index === 0 ? [] : [at(chain, index - 1)] })),
    );

    for (const id of chain) {
      await freed(store, id);
      const batch = await take(store);
      expect(batch.jobs.map((job) => job.id)).toEqual([id]);
      await settleAll(store, batch, completed());
    }

    expect(await claimable(store)).toEqual([]);
  });

  test("fans out to 20 jobs", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    const jobs = newJobs(20, { after: [parent] });
    await store.enqueue(jobs);
    const batch = await take(store);
    expect(batch.jobs).toHaveLength(1);

    await settleAll(store, batch, completed());

    const ids = jobs.map(({ id }) => id);
    await freed(store, ...ids);
    expect(await claimable(store)).toEqual(ids);
  });

  test("fans in from 20 jobs, and runs after the last, once", async () => {
    await using db = await open();
    const { store } = db;
    const parents = newJobs(20);
    await store.enqueue(parents);
    const child = await addAfter(
      store,
      parents.map(({ id }) => id),
    );
    const batch = await take(store);
    const [last, ...others] = batch.jobs.map((job) => settleItem(batch, job, completed()));

    for (const item of others) await store.settle([item]);
    await stays(store, child);
    expect(await store.openDependencies(child, 100)).toEqual([at(parents, 0).id]);
    expect(await claimable(store)).toEqual([]);
    await store.settle([last!]);

    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
    await store.resolveDependencies(100);
    expect(await claimable(store)).toEqual([]);
  });

  test("fans in when all parents end in one settle", async () => {
    await using db = await open();
    const { store } = db;
    const parents = newJobs(20);
    await store.enqueue(parents);
    const child = await addAfter(
      store,
      parents.map(({ id }) => id),
    );

    await settleAll(store, await take(store), completed());

    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test("fans in from as many as a job may wait for", async () => {
    await using db = await open();
    const { store } = db;
    const parents = newJobs(AFTER_MAX);
    await store.enqueue(parents);
    const child = await addAfter(
      store,
      parents.map(({ id }) => id),
    );

    for (let turn = 0; turn < 2; turn += 1) {
      await stays(store, child);
      await settleAll(store, await take(store, { limit: AFTER_MAX / 2 }), completed());
    }

    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test("meets again after a diamond", async () => {
    await using db = await open();
    const { store } = db;
    const [top, left, right, bottom] = [jobId(), jobId(), jobId(), jobId()];
    await add(
      store,
      { id: top },
      { id: left, after: [top] },
      { id: right, after: [top] },
      { id: bottom, after: [left, right] },
    );

    await runOne(store, completed());
    await freed(store, left, right);
    const sides = await take(store);
    await store.settle([settleItem(sides, at(sides.jobs, 1), completed())]);
    await stays(store, bottom);
    await store.settle([settleItem(sides, at(sides.jobs, 0), completed())]);

    await freed(store, bottom);
    expect(await claimable(store)).toEqual([bottom]);
  });
}

function failureTests(open: OpenStore): void {
  test.each(BADLY)("is cancelled with a parent that ended: $to", async (settlement, how) => {
    await using db = await open();
    const { store, clock } = db;
    const { parent, batch, child } = await pair(store, { dedup: SKIP, concurrencyKey: "k" });

    await settleAll(store, batch, settlement);
    await freed(store, child);

    const reason = becauseOf(parent, how);
    const finishedAt = clock.now();
    expect(await recordOf(store, child)).toMatchObject({
      state: "cancelled",
      runAt: null,
      heldBy: null,
      startedAt: null,
      finishedAt,
      attempts: 0,
      cancelReason: reason,
    });
    expect(await store.attempts(child)).toMatchObject([
      { n: 1, tries: 0, outcome: "cancelled", startedAt: null, worker: null, finishedAt, reason },
    ]);
    expect(await eventsOf(store, child)).toEqual(["job:enqueued", "job:cancelled"]);
    expect(await store.deadLetter(child)).toBeNull();
    expect(await claimable(store)).toEqual([]);
    expect(await ask(store, { dedup: SKIP })).toMatchObject({ status: "created" });
  });

  test.each(BADLY)("runs after a parent that ended: $to, if it is told to", async (settlement) => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store, { onFailed: "run" });

    await settleAll(store, batch, settlement);

    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test("is cancelled with the first of several that fails, and the others go on", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await add(store, {}, {});
    const strict = await addAfter(store, [one, two]);
    const tolerant = await addAfter(store, [one, two], { onFailed: "run" });
    const batch = await take(store);

    await store.settle([settleItem(batch, at(batch.jobs, 1), failedWith())]);
    await freed(store, strict);
    await stays(store, tolerant);
    await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
    await freed(store, tolerant);

    expect(await recordOf(store, strict)).toMatchObject({
      state: "cancelled",
      cancelReason: becauseOf(two, "failed"),
    });
    expect(await store.attempts(strict)).toHaveLength(1);
    expect(await claimable(store)).toEqual([tolerant]);
  });

  test("is cancelled once when all of its parents fail together", async () => {
    await using db = await open();
    const { store } = db;
    const parents = await add(store, {}, {}, {});
    const child = await addAfter(store, parents);

    await settleAll(store, await take(store), failedWith());
    await freed(store, child);
    await store.resolveDependencies(100);

    expect(await store.attempts(child)).toHaveLength(1);
    expect(await eventsOf(store, child)).toEqual(["job:enqueued", "job:cancelled"]);
  });

  test("passes a cancellation on down a chain, and stops where one is to run", async () => {
    await using db = await open();
    const { store } = db;
    const [a, b, c, d, e] = [jobId(), jobId(), jobId(), jobId(), jobId()];
    await add(
      store,
      { id: a },
      { id: b, after: [a] },
      { id: c, after: [b] },
      { id: d, after: [c], onFailed: "run" },
      { id: e, after: [d] },
    );

    await runOne(store, failedWith());
    await freed(store, b, c, d);

    expect((await recordOf(store, b)).cancelReason).toBe(becauseOf(a, "failed"));
    expect((await recordOf(store, c)).cancelReason).toBe(becauseOf(b, "was cancelled"));
    await stays(store, e);
    expect(await claimable(store)).toEqual([d]);
  });

  test("passes a cancellation on to all of a wide and deep family", async () => {
    await using db = await open();
    const { store } = db;
    const [root] = await add(store, {});
    const middle = newJobs(10, { after: [root] });
    await store.enqueue(middle);
    const leaves = middle.flatMap(({ id }) => newJobs(5, { after: [id] }));
    await store.enqueue(leaves);

    await runOne(store, failedWith());
    await freed(store, ...[...middle, ...leaves].map(({ id }) => id));

    expect((await store.count({ states: ["cancelled"] }, 100)).count).toBe(60);
    expect(await claimable(store)).toEqual([]);
  });
}

function unknownTests(open: OpenStore): void {
  test("is refused alone when there is no such job, and writes nothing", async () => {
    await using db = await open();
    const { store } = db;
    const [known] = await add(store, {});
    const missing = jobId();
    const lost = newJob({
      after: [known, missing],
      dedup: SKIP,
      idempotency: ONCE,
      tags: { a: "1" },
    });
    const neighbours = [newJob({ after: [known] }), newJob()] as const;

    const answers = await store.enqueue([neighbours[0], lost, neighbours[1]]);

    expect(answers).toMatchObject([
      { status: "created", id: neighbours[0].id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: missing },
      { status: "created", id: neighbours[1].id },
    ]);
    expect(await store.get(lost.id)).toBeNull();
    expect(await eventsOf(store, lost.id)).toEqual([]);
    expect(await store.list({ tags: { a: "1" } }, { limit: 10 })).toMatchObject({ jobs: [] });
    expect(await ask(store, { dedup: SKIP })).toMatchObject({ status: "created" });
    expect(await ask(store, { idempotency: ONCE })).toMatchObject({ status: "created" });
    // The id is free as well.
    expect(await ask(store, { id: lost.id })).toMatchObject({ status: "created" });
  });

  test("may name jobs that come before it in the call, and none that come after", async () => {
    await using db = await open();
    const { store } = db;
    const [first, second] = [newJob(), newJob()];
    const early = newJob({ after: [second.id] });
    const itself = jobId();

    const answers = await store.enqueue([
      first,
      early,
      newJob({ id: itself, after: [itself] }),
      second,
      newJob({ after: [first.id, second.id] }),
    ]);

    expect(answers).toMatchObject([
      { status: "created" },
      { status: "refused", code: "AFTER_UNKNOWN", holder: second.id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: itself },
      { status: "created" },
      { status: "created", state: "queued" },
    ]);
    expect(await claimable(store)).toEqual([first.id, second.id]);
  });

  test("may name jobs of its call that have keys, whichever has which", async () => {
    await using db = await open();
    const { store } = db;
    const keyed = newJob({ dedup: SKIP });
    const plain = newJob({ after: [keyed.id] });
    const last = newJob({ after: [plain.id], idempotency: ONCE });

    const answers = await store.enqueue([keyed, plain, last]);

    expect(answers).toMatchObject(
      [keyed, plain, last].map(({ id }) => ({ status: "created", id })),
    );
    for (const { id } of [keyed, plain, last]) {
      await freed(store, id);
      expect(await runOne(store, completed())).toBe(id);
    }
  });

  test("does not name a job of its call that was refused", async () => {
    await using db = await open();
    const { store } = db;
    const refused = newJob({ priority: -1 });

    const answers = await store.enqueue([refused, newJob({ after: [refused.id] })]);

    expect(answers).toMatchObject([
      { status: "refused", code: "STORE_REFUSED" },
      { status: "refused", code: "AFTER_UNKNOWN", holder: refused.id },
    ]);
  });

  test("is refused when it names more jobs than it may", async () => {
    await using db = await open();
    const { store } = db;
    const parents = newJobs(AFTER_MAX + 1);
    await store.enqueue(parents);

    const answer = await ask(store, { after: parents.map(({ id }) => id) });

    expect(answer).toMatchObject({ status: "refused", code: "STORE_REFUSED" });
    expect((await store.count({}, 2_000)).count).toBe(AFTER_MAX + 1);
  });

  test("is known by its id, key or predecessor first", async () => {
    await using db = await open();
    const { store } = db;
    const after = [jobId()];
    const [dead] = await add(store, {});
    await runOne(store, failedWith());
    const known = newJob();
    await store.enqueue([known]);
    const [once, single, successor] = await add(
      store,
      { idempotency: ONCE },
      { dedup: SKIP },
      { retryOf: dead },
    );

    const answers = await store.enqueue([
      { ...known, after },
      newJob({ after, idempotency: ONCE }),
      newJob({ after, dedup: SKIP }),
      newJob({ after, dedup: EXTEND }),
      newJob({ after, retryOf: dead }),
    ]);

    expect(answers).toMatchObject([
      { status: "existing", id: known.id, by: "id" },
      { status: "existing", id: once, by: "idempotency" },
      { status: "existing", id: single, by: "dedup" },
      { status: "existing", id: single, by: "dedup" },
      { status: "existing", id: successor, by: "successor" },
    ]);
  });

  test("takes no place of another when it is refused", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, { dedup: REPLACE });

    const answer = await ask(store, { dedup: REPLACE, after: [jobId()] });

    expect(answer).toMatchObject({ status: "refused", code: "AFTER_UNKNOWN" });
    expect(await claimable(store)).toEqual([holder]);
  });

  test("does not know a job that retention has removed", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [gone] = await add(store, {});
    await runOne(store, completed());
    await clock.advance(1);
    await store.prune(KEEP_NO_JOBS, 10);

    expect(await ask(store, { after: [gone] })).toEqual({
      status: "refused",
      code: "AFTER_UNKNOWN",
      holder: gone,
    });
  });

  test("is harmless when it is repeated after a lost answer", async () => {
    await using db = await open();
    const { store } = db;
    const [parent, other] = await add(store, {}, { priority: 200 });
    const child = newJob({ after: [parent] });
    await store.enqueue([child]);

    const waiting = await store.enqueue([child, { ...child, after: [parent, other] }]);
    await runOne(store, completed());
    await freed(store, child.id);
    const free = await store.enqueue([child]);

    const existing = { status: "existing", id: child.id, state: "queued", by: "id" };
    expect([...waiting, ...free]).toEqual([existing, existing, existing]);
    expect(await claimable(store)).toEqual([child.id, other]);
  });
}

function finalBeforeTests(open: OpenStore): void {
  test.each(WELL)("goes on at once after a job that had ended as $to", async (settlement) => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    await runOne(store, settlement);

    const answer = await ask(store, { after: [parent] });

    expect(answer).toMatchObject({ status: "created", state: "queued" });
    const child = answer.status === "created" ? answer.id : "";
    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test.each(BADLY)("is cancelled after a job that had ended: $to", async (settlement, how) => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    await runOne(store, settlement);

    const strict = await addAfter(store, [parent]);
    const tolerant = await addAfter(store, [parent], { onFailed: "run" });
    await freed(store, strict, tolerant);

    expect(await recordOf(store, strict)).toMatchObject({
      state: "cancelled",
      cancelReason: becauseOf(parent, how),
    });
    expect(await claimable(store)).toEqual([tolerant]);
  });

  test("waits for those of its parents that have not ended", async () => {
    await using db = await open();
    const { store } = db;
    const [done, rest] = await add(store, {}, {});
    await runOne(store, completed());

    const child = await addAfter(store, [done, rest]);
    await stays(store, child);

    expect(await store.openDependencies(child, 10)).toEqual([rest]);
    await runOne(store, completed());
    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test("is not due before its time all the same", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [parent] = await add(store, {});
    await runOne(store, completed());

    const child = await addAfter(store, [parent], { due: { delayMs: 1_000 } });
    await freed(store, child);

    expect(await recordOf(store, child)).toMatchObject({
      state: "scheduled",
      runAt: clock.now() + 1_000,
    });
  });
}

function awaitedTests(open: OpenStore): void {
  test("names the jobs that are not final, no more than asked", async () => {
    await using db = await open();
    const { store } = db;
    const parents = await add(store, {}, {}, {}, {});
    const child = await addAfter(store, parents);
    await runOne(store, completed());
    const batch = await takeOne(store);
    await settleAll(store, batch, retryIn(1_000));

    expect((await store.openDependencies(child, 10)).toSorted()).toEqual(
      parents.slice(1).toSorted(),
    );
    expect(await store.openDependencies(child, 2)).toHaveLength(2);
    expect(await store.openDependencies(parents[0], 10)).toEqual([]);
    expect(await store.openDependencies(jobId(), 10)).toEqual([]);
  });

  test("names none once the job goes on", async () => {
    await using db = await open();
    const { store } = db;
    const { parent, batch, child } = await pair(store);
    const before = await store.openDependencies(child, 10);
    await settleAll(store, batch, completed());
    await freed(store, child);

    expect([before, await store.openDependencies(child, 10)]).toEqual([[parent], []]);
  });
}
