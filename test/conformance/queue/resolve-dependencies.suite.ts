import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  failedWith,
  newJob,
  newJobs,
  retention,
  retryIn,
} from "../../support/factories.ts";
import { addAfter, becauseOf, freed, pair, stays, swept } from "../../support/flows.ts";
import { keep } from "../../support/notes.ts";
import {
  add,
  ask,
  at,
  claimable,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  settleItem,
  startAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SKIP = { key: "nightly", onConflict: "skip" } as const;
const REPLACE = { key: "nightly", onConflict: "replace" } as const;
const EXTEND = { key: "nightly", onConflict: "extend" } as const;
const ONCE = { key: "order 7", onConflict: "return-existing" } as const;
const GATE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;
const AFTER = { kind: "after" } as const;
const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const KEEP_NO_JOBS = retention({ finishedMs: FINAL });
const LEASE_AND_MORE_MS = 30_001;

export function resolveDependenciesSuite(open: OpenStore): void {
  describe("resolveDependencies", () => {
    endTests(open);
    operatorTests(open);
    companyTests(open);
    childrenTests(open);
    raceTests(open);
    pruneTests(open);
  });
}

/** Each way in which a job becomes final without a settle of its worker. */
const OTHER_ENDS: readonly (readonly [
  string,
  "failed" | "cancelled",
  (store: JobStore, parent: JobId) => Promise<unknown>,
])[] = [
  ["the cancellation of a waiting job", "cancelled", (store, id) => store.cancel(id, "ada", null)],
  ["an operator's word", "failed", (store, id) => store.intervene(id, () => failedWith())],
  ["the newcomer that replaces it", "cancelled", (store) => ask(store, { dedup: REPLACE })],
  ["the start of a prefetch in which it was cancelled", "cancelled", startCancelled],
  ["the return of a prefetch in which it was cancelled", "cancelled", returnCancelled],
];

async function startCancelled(store: JobStore, id: JobId): Promise<void> {
  const batch = await take(store, { prefetch: true });
  await store.cancel(id, null, null);
  await startAll(store, batch);
}

async function returnCancelled(store: JobStore, id: JobId): Promise<void> {
  const batch = await take(store, { prefetch: true });
  await store.cancel(id, null, null);
  await store.returnPrefetched(
    batch.lease,
    batch.jobs.map(({ key }) => key),
  );
}

function endTests(open: OpenStore): void {
  test.each(OTHER_ENDS)("follows %s", async (_, state, end) => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, { dedup: SKIP, lane: "parents" });
    const strict = await addAfter(store, [parent], { priority: 1 });
    const tolerant = await addAfter(store, [parent], { priority: 1, onFailed: "run" });

    await end(store, parent);
    await freed(store, strict, tolerant);

    expect(await stateOf(store, parent)).toBe(state);
    expect((await recordOf(store, strict)).cancelReason).toBe(
      becauseOf(parent, state === "failed" ? "failed" : "was cancelled"),
    );
    expect(await claimable(store, { lanes: ["general"], limit: 1 })).toEqual([tolerant]);
  });

  test.each([
    [failedWith(), "cancelled"],
    [completed(), "queued"],
  ] as const)("follows a rescue that ends a run: $to", async (settlement, state) => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, child } = await pair(store);
    await clock.advance(LEASE_AND_MORE_MS);

    await rescueSilent(store, batch.worker, { decide: () => settlement });
    await freed(store, child);

    expect(await stateOf(store, child)).toBe(state);
  });

  test("does not follow a rescue after which a job runs again", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { parent, batch, child } = await pair(store);
    await clock.advance(LEASE_AND_MORE_MS);

    await rescueSilent(store, batch.worker, { decide: () => retryIn(1) });

    await stays(store, child);
    expect(await store.openDependencies(child, 10)).toEqual([parent]);
  });

  test("does not follow a request to cancel before the run has ended", async () => {
    await using db = await open();
    const { store } = db;
    const { parent, batch, child } = await pair(store);

    await store.cancel(parent, null, null);
    await stays(store, child);
    await settleAll(store, batch, completed());
    await freed(store, child);

    expect(await stateOf(store, child)).toBe("queued");
  });

  test("follows a run that was to be retried, but had a cancel request", async () => {
    await using db = await open();
    const { store } = db;
    const { parent, batch, child } = await pair(store);
    await store.cancel(parent, null, null);

    await settleAll(store, batch, retryIn(1));
    await freed(store, child);

    expect((await recordOf(store, child)).cancelReason).toBe(becauseOf(parent, "was cancelled"));
  });

  test("does not follow a settle that is stale", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store);
    const item = settleItem(batch, batch.job, completed());

    expect(await store.settle([{ ...item, n: 2 }])).toEqual(["stale"]);

    await stays(store, child);
  });

  test("has nothing to do in an empty store, nor when nothing has ended", async () => {
    await using db = await open();
    const { store } = db;
    const idle = await store.resolveDependencies(100);
    await pair(store);

    expect([idle, await store.resolveDependencies(100)]).toEqual([0, 0]);
  });

  test("moves jobs of which each has waited for many, in one call", async () => {
    await using db = await open();
    const { store } = db;
    const parents = await add(store, ...newJobs(50));
    const waiting = Array.from({ length: 50 }, () => newJob({ after: parents, lane: "later" }));
    await store.enqueue(waiting);

    await settleAll(store, await take(store, { limit: 50 }), completed());
    await store.resolveDependencies(1_000);

    expect((await store.count({ states: ["completed"] }, 100)).count).toBe(50);
    expect(await take(store, { lanes: ["later"], limit: 100 })).toMatchObject({
      jobs: { length: 50 },
    });
  });

  test("moves all of very many, by and by", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    await store.enqueue(newJobs(1_500, { after: [parent] }));
    await runOne(store, completed());

    const taken = new Set<JobId>();
    for (let call = 0; call < 100 && taken.size < 1_500; call += 1) {
      await store.resolveDependencies(100);
      for (const id of await claimable(store, { limit: 500 })) taken.add(id);
    }

    expect(taken.size).toBe(1_500);
  });
}

function operatorTests(open: OpenStore): void {
  test("keeps a job waiting that is hurried, due at once when it is its turn", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, child } = await pair(store, { due: { delayMs: 60_000 } });
    await clock.advance(10);
    const runAt = clock.now();

    const answer = await store.hurry(child);

    expect(answer).toEqual({ status: "done", state: "queued" });
    expect(await recordOf(store, child)).toMatchObject({ state: "queued", heldBy: AFTER, runAt });
    await stays(store, child);
    expect(await claimable(store)).toEqual([]);
    await settleAll(store, batch, completed());
    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });

  test.each([0, 60_000])("keeps a job waiting that is moved by extend: %d ms", async (delayMs) => {
    await using db = await open();
    const { store, clock } = db;
    const { batch, child } = await pair(store, { dedup: EXTEND, due: { delayMs: 30_000 } });
    const runAt = clock.now() + delayMs;

    const answer = await ask(store, { dedup: EXTEND, due: { delayMs } });

    expect(answer).toEqual({ status: "existing", id: child, state: "queued", by: "dedup" });
    expect(await recordOf(store, child)).toMatchObject({ state: "queued", heldBy: AFTER, runAt });
    await stays(store, child);
    await settleAll(store, batch, completed());
    await freed(store, child);
    const state = delayMs === 0 ? "queued" : "scheduled";
    expect(await recordOf(store, child)).toMatchObject({ state, runAt, heldBy: null });
  });

  test("forgets a waiting job that is cancelled, and cancels those that wait for it", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store, { dedup: SKIP });
    const grandchild = await addAfter(store, [child]);

    const answer = await store.cancel(child, "ada", "not needed");
    await freed(store, grandchild);
    await settleAll(store, batch, completed());
    await store.resolveDependencies(100);

    expect(answer).toEqual({ status: "cancelled" });
    expect(await recordOf(store, child)).toMatchObject({
      state: "cancelled",
      cancelReason: "not needed",
      heldBy: null,
    });
    expect(await store.openDependencies(child, 10)).toEqual([]);
    expect(await store.attempts(child)).toHaveLength(1);
    expect((await recordOf(store, grandchild)).cancelReason).toBe(
      becauseOf(child, "was cancelled"),
    );
    expect(await claimable(store)).toEqual([]);
    expect(await ask(store, { dedup: SKIP })).toMatchObject({ status: "created" });
  });

  test("forgets a waiting job that an operator fails", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store);
    const grandchild = await addAfter(store, [child]);

    const answer = await store.intervene(child, () => failedWith());
    await freed(store, grandchild);
    await settleAll(store, batch, completed());
    await store.resolveDependencies(100);

    expect(answer).toEqual({ status: "done", state: "failed" });
    expect(await store.openDependencies(child, 10)).toEqual([]);
    expect(await stateOf(store, child)).toBe("failed");
    expect((await recordOf(store, grandchild)).cancelReason).toBe(becauseOf(child, "failed"));
    expect(await store.deadLetter(child)).not.toBeNull();
  });

  test("keeps a job waiting that an operator sends round again", async () => {
    await using db = await open();
    const { store, clock } = db;
    const { parent, batch, child } = await pair(store);

    const answer = await store.intervene(child, () => retryIn(5_000));

    expect(answer).toEqual({ status: "done", state: "queued" });
    await stays(store, child);
    expect(await store.openDependencies(child, 10)).toEqual([parent]);
    await settleAll(store, batch, completed());
    await freed(store, child);
    const runAt = clock.now() + 5_000;
    expect(await recordOf(store, child)).toMatchObject({ state: "scheduled", runAt, attempts: 1 });
  });

  test("forgets a waiting job that is replaced", async () => {
    await using db = await open();
    const { store } = db;
    const { parent, batch, child } = await pair(store, { dedup: SKIP });

    const heir = await addAfter(store, [parent], { dedup: REPLACE });

    expect(await stateOf(store, child)).toBe("cancelled");
    await settleAll(store, batch, completed());
    await freed(store, heir);
    expect(await claimable(store)).toEqual([heir]);
  });

  test("gives way to a waiting job with its key", async () => {
    await using db = await open();
    const { store } = db;
    const { parent, child } = await pair(store, { dedup: SKIP, idempotency: ONCE });

    const answers = [
      await ask(store, { dedup: SKIP, after: [parent] }),
      await ask(store, { idempotency: ONCE, after: [parent] }),
    ];

    expect(answers).toEqual([
      { status: "existing", id: child, state: "queued", by: "dedup" },
      { status: "existing", id: child, state: "queued", by: "idempotency" },
    ]);
    await stays(store, child);
  });
}

/** Pauses, keys and retention beside it. */
function companyTests(open: OpenStore): void {
  test("is neither held nor released by gates while it waits", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store);
    await store.pause(GATE, WHY);

    expect([await store.hold(100), await store.release(100)]).toEqual([0, 0]);
    await stays(store, child);
    await settleAll(store, batch, completed());
    await freed(store, child);
    expect(await claimable(store)).toEqual([]);
    expect(await store.hold(100)).toBe(1);
    await store.resume(GATE);
    expect(await store.release(100)).toBe(1);
    expect(await claimable(store)).toEqual([child]);
  });

  test("waits for its parents first and for its key then", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store, { concurrencyKey: "k", priority: 1 });
    await add(store, { concurrencyKey: "k" });
    const rival = await takeOne(store);
    expect(await store.hold(100)).toBe(0);
    expect((await recordOf(store, child)).heldBy).toEqual(AFTER);

    await settleAll(store, batch, completed());
    await freed(store, child);
    expect(await claimable(store)).toEqual([]);
    await store.hold(100);
    expect((await recordOf(store, child)).heldBy).toEqual({ kind: "key", name: "k" });
    await settleAll(store, rival, completed());

    expect(await claimable(store)).toEqual([child]);
    expect(await store.lockHolder("default", "k")).toBe(child);
  });

  test("is not given a key's turn while it waits for others", async () => {
    await using db = await open();
    const { store } = db;
    const { child } = await pair(store, { concurrencyKey: "k", priority: 1 });
    await add(store, { concurrencyKey: "k" });
    const rival = await takeOne(store);
    const [next] = await add(store, { concurrencyKey: "k" });
    await store.hold(100);

    await settleAll(store, rival, completed());

    await stays(store, child);
    expect(await claimable(store)).toEqual([next]);
  });

  test("crosses tenants, lanes and types", async () => {
    await using db = await open();
    const { store } = db;
    const { batch, child } = await pair(store, { tenant: "acme", lane: "slow", type: "report" });

    await settleAll(store, batch, completed());
    await freed(store, child);

    expect(await claimable(store, { tenants: ["acme"], lanes: ["slow"] })).toEqual([child]);
  });

  test("lists waiting jobs as queued, with what holds them", async () => {
    await using db = await open();
    const { store } = db;
    const { child } = await pair(store);

    const { jobs } = await store.list({ states: ["queued"] }, { limit: 10 });

    expect(jobs).toMatchObject([{ id: child, heldBy: AFTER }]);
    expect((await store.count({ states: ["queued"] }, 10)).count).toBe(1);
  });
}

function childrenTests(open: OpenStore): void {
  test("follows children of a note that run after one another and after their parent", async () => {
    await using db = await open();
    const { store } = db;
    const [parentId] = await add(store, {});
    const batch = await takeOne(store);
    const first = newJob({ parentId });
    const second = newJob({ parentId, after: [first.id] });
    const last = newJob({ parentId, after: [second.id, parentId] });
    const note = {
      completed: { name: "fetch", result: null },
      children: [first, second, last],
    };

    await keep(store, batch, note, note);

    await stays(store, second.id, last.id);
    expect(await runOne(store, completed())).toBe(first.id);
    await freed(store, second.id);
    expect(await runOne(store, completed())).toBe(second.id);
    await stays(store, last.id);
    await settleAll(store, batch, completed());
    await freed(store, last.id);
    expect(await claimable(store)).toEqual([last.id]);
  });

  test("follows children of an end that run after it", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    const batch = await takeOne(store);
    const first = newJob({ after: [parent] });
    const second = newJob({ after: [first.id] });

    const answers = await store.settle([
      { ...settleItem(batch, batch.job, completed()), children: [first, second] },
    ]);

    expect(answers).toEqual(["settled"]);
    await freed(store, first.id);
    await stays(store, second.id);
    expect(await runOne(store, completed())).toBe(first.id);
    await freed(store, second.id);
    expect(await claimable(store)).toEqual([second.id]);
  });
}

function raceTests(open: OpenStore): void {
  test("misses nothing when parents end while others come to wait for them", async () => {
    await using db = await open();
    const other = await db.another();
    const { store } = db;
    const parents = newJobs(25);
    await store.enqueue(parents);
    const batch = await take(store);
    const children = parents.map(({ id }) => newJob({ after: [id] }));

    await Promise.all(
      batch.jobs.flatMap((job, index) => [
        store.settle([settleItem(batch, job, completed())]),
        other.enqueue([at(children, index)]),
      ]),
    );

    const ids = children.map(({ id }) => id);
    await swept(store, ...ids);
    expect((await claimable(store)).toSorted()).toEqual(ids.toSorted());
  });

  test("lets a job go once when its parents end at the same time", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    const parents = newJobs(12);
    await db.store.enqueue(parents);
    const ids = parents.map(({ id }) => id);
    const children = newJobs(5, { after: ids });
    await db.store.enqueue(children);
    const batch = await take(db.store);

    await Promise.all(
      batch.jobs.map((job, index) =>
        handles[index % 2]!.settle([settleItem(batch, job, completed())]),
      ),
    );

    const waiting = children.map(({ id }) => id);
    await swept(db.store, ...waiting);
    expect(await claimable(db.store)).toEqual(waiting);
    await db.store.resolveDependencies(100);
    expect(await claimable(db.store)).toEqual([]);
  });

  test("cancels or frees, never both, when an operator cancels at the same time", async () => {
    await using db = await open();
    const other = await db.another();
    const { store } = db;
    const parents = newJobs(20);
    await store.enqueue(parents);
    const batch = await take(store);
    const children = parents.map(({ id }) => newJob({ after: [id] }));
    await store.enqueue(children);

    const answers = await Promise.all(
      children.map(async ({ id }, index) => {
        const [, answer] = await Promise.all([
          store.settle([settleItem(batch, at(batch.jobs, index), completed())]),
          other.cancel(id, null, null),
        ]);
        return answer;
      }),
    );

    const ids = children.map(({ id }) => id);
    await swept(store, ...ids);
    expect(answers).toEqual(ids.map(() => ({ status: "cancelled" })));
    for (const id of ids) expect(await store.attempts(id)).toHaveLength(1);
    expect(await claimable(store)).toEqual([]);
  });
}

function pruneTests(open: OpenStore): void {
  test("loses no job whose parent retention would remove", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [parent] = await add(store, {});
    await store.enqueue(newJobs(1_500, { after: [parent] }));
    await runOne(store, completed());
    await clock.advance(1);
    const { key } = await recordOf(store, parent);

    await store.prune(KEEP_NO_JOBS, 100);
    await store.remove([key], KEEP_NO_JOBS);
    const taken = new Set<JobId>();
    for (let call = 0; call < 100 && taken.size < 1_500; call += 1) {
      await store.resolveDependencies(100);
      for (const id of await claimable(store, { limit: 500 })) taken.add(id);
    }

    expect(taken.size).toBe(1_500);
    expect((await store.count({ states: ["cancelled"] }, 10)).count).toBe(0);
    await store.prune(KEEP_NO_JOBS, 100);
    expect(await store.get(parent)).toBeNull();
  });

  test("keeps no parent once no job waits for it", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [one, two] = await add(store, {}, {});
    const child = await addAfter(store, [one, two]);
    const cancelledChild = await addAfter(store, [one, two]);
    await runOne(store, completed());
    await store.cancel(cancelledChild, null, null);
    await stays(store, child);
    await clock.advance(1);

    await store.prune(KEEP_NO_JOBS, 100);

    expect(await store.get(one)).toBeNull();
    expect(await store.get(cancelledChild)).toBeNull();
    expect(await store.openDependencies(child, 10)).toEqual([two]);
    await runOne(store, completed());
    await freed(store, child);
    expect(await claimable(store)).toEqual([child]);
  });
}
