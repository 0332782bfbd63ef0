import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { ChunkItem, OperationPlan } from "../../../src/store/types/operations.ts";
import {
  failedWith,
  fault,
  jobId,
  newJob,
  newOperation,
  retention,
  completed as succeeded,
} from "../../support/factories.ts";
import { add, claimable, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const RUNNER = "runner-1";
const HOUR = 3_600_000;
const MISSING = "0".repeat(26);

/** What became of the items of an operation with one chunk. */
async function applied(
  store: JobStore,
  plan: Partial<OperationPlan>,
  items: readonly ChunkItem[],
  idempotencyMs = 0,
): Promise<readonly object[]> {
  const { id } = await store.startOperation(newOperation(plan));
  const held = await store.claimOperations(RUNNER);
  const { cursor } = held.find((each) => each.id === id)!;
  const chunk = { runner: RUNNER, from: cursor, to: null, items, idempotencyMs };
  while ((await store.applyChunk(id, chunk)).status === "again");
  const found = await store.operationItems(id, { after: 0, limit: 100 });
  return found.map(({ id: job, outcome, code, successor }) => ({
    id: job,
    outcome,
    code,
    successor,
  }));
}

const itemsOf = (ids: readonly JobId[]): ChunkItem[] => ids.map((id) => ({ id }));

async function failed(store: JobStore, ...jobs: readonly Partial<NewJob>[]): Promise<JobId[]> {
  const ids = await add(store, ...jobs);
  await settleAll(store, await take(store), failedWith(fault()));
  return [...ids];
}

async function completed(store: JobStore, ...jobs: readonly Partial<NewJob>[]): Promise<JobId[]> {
  const ids = await add(store, ...jobs);
  await settleAll(store, await take(store), succeeded());
  return [...ids];
}

export function effectsSuite(open: OpenStore): void {
  describe("a chunk", () => {
    test("cancels waiting jobs and asks running ones, as cancel does", async () => {
      await using db = await open();
      const { store } = db;
      const [over] = await completed(store, {});
      const [running] = await add(store, {});
      await take(store);
      const [queued, scheduled] = await add(store, {}, { due: { delayMs: HOUR } });
      const ids = [queued, scheduled, running, over!];

      const outcomes = await applied(store, { action: "cancel", ids }, itemsOf(ids));

      expect(outcomes).toMatchObject([
        { id: queued, outcome: "done" },
        { id: scheduled, outcome: "done" },
        { id: running, outcome: "done" },
        { id: over, outcome: "skipped", code: "state" },
      ]);
      expect(await store.get(queued)).toMatchObject({ state: "cancelled" });
      expect(await store.get(running)).toMatchObject({ cancelRequested: true });
    });

    test("writes an audit entry for each item that it changes, and for the operation", async () => {
      await using db = await open();
      const { store } = db;
      const [over, again] = await completed(store, {}, {});
      const [dead, other] = await failed(store, {}, {});
      const [first, second] = await add(store, {}, {});
      const retried = { id: again!, successor: { ...newJob(), retryOf: again! } };
      const anew = { id: dead!, successor: { ...newJob(), retryOf: dead! } };

      await applied(store, { action: "priority", priority: 3, ids: [] }, itemsOf([first, over!]));
      await applied(store, { action: "retry", ids: [] }, [retried]);
      await applied(store, { action: "cancel", ids: [] }, itemsOf([second]));
      await applied(store, { action: "reprocess", ids: [] }, [anew]);
      await applied(store, { action: "discard", ids: [] }, itemsOf([other!]));
      await applied(store, { action: "delete", ids: [] }, itemsOf([over!]));

      const entries = await store.audits({}, { limit: 100 });
      const names = entries.filter(({ subjectKind }) => subjectKind === "job");
      expect(names.map(({ name, subject }) => [name, subject]).toReversed()).toEqual([
        ["job_prioritised", first],
        ["job_retried", again],
        ["job_cancel_requested", second],
        ["job_dlq_reprocess_requested", dead],
        ["job_dlq_reprocess_success", dead],
        ["job_dlq_discarded", other],
        ["job_deleted", over],
      ]);
      expect(new Set(names.map(({ actor }) => actor))).toEqual(new Set(["ada"]));
      expect(names[0]?.reason).toMatch(/^operation \w+ of the installation: wrong list$/);
      expect(entries.filter(({ name }) => name === "operation_started")).toHaveLength(6);
    });

    test("records the request for each open letter, also if it is refused (003-27)", async () => {
      await using db = await open();
      const { store } = db;
      const [held, refused, closed] = await failed(
        store,
        { dedup: { key: "account-7", onConflict: "skip" } },
        {},
        {},
      );
      await store.review(closed!, { status: "discarded", by: "ada", notes: null });
      await add(store, { dedup: { key: "account-7", onConflict: "skip" } });
      const anew = (id: JobId, more: Partial<NewJob> = {}): ChunkItem => {
        return { id, successor: { ...newJob(), retryOf: id, ...more } };
      };
      const key = { dedup: { key: "account-7", onConflict: "skip" } } as const;
      const items = [
        anew(held!, key),
        { id: refused!, fail: "STORE_REFUSED" },
        anew(closed!),
        { id: MISSING, skip: "unknown" },
      ];

      const outcomes = await applied(store, { action: "reprocess", ids: [] }, items);

      expect(outcomes).toMatchObject([
        { id: held, outcome: "skipped", code: "held" },
        { id: refused, outcome: "failed" },
        { id: closed, outcome: "skipped", code: "closed" },
        { id: MISSING, outcome: "skipped", code: "unknown" },
      ]);
      const requests = await store.audits(
        { name: "job_dlq_reprocess_requested" },
        { limit: 10, oldestFirst: true },
      );
      expect(requests.map(({ subject }) => subject)).toEqual([held, refused]);
      expect(requests[0]).toMatchObject({
        actor: "ada",
        reason: expect.stringMatching(/operation/),
      });
    });

    test("repeats no job that a successor stands for, unless the successor failed", async () => {
      await using db = await open();
      const { store } = db;
      const [one] = await failed(store, {});
      const again = (id: JobId): ChunkItem => ({ id, successor: { ...newJob(), retryOf: id } });
      const retry = (items: readonly ChunkItem[]): Promise<readonly object[]> =>
        applied(store, { action: "retry", ids: [] }, items);
      const first = again(one!);
      const two = first.successor!.id;
      expect(await retry([first])).toMatchObject([{ id: one, outcome: "done", successor: two }]);
      const existing = { outcome: "skipped", code: "existing" };
      expect(await retry([again(one!)])).toMatchObject([{ ...existing, successor: two }]);
      await settleAll(store, await take(store), failedWith(fault()));

      // Both have failed, and one of them is repeated.
      const second = again(two);
      const three = second.successor!.id;
      expect(await retry([second, again(one!)])).toMatchObject([
        { id: two, outcome: "done", successor: three },
        { id: one, ...existing, successor: two },
      ]);
      await settleAll(store, await take(store), failedWith(fault()));
      const last = again(three);
      expect(await retry([last])).toMatchObject([{ outcome: "done" }]);
      await settleAll(store, await take(store), succeeded());

      const whole = { ...existing, successor: last.successor!.id };
      for (const id of [one!, two, three]) expect(await retry([again(id)])).toMatchObject([whole]);
      const [other] = await failed(store, {});
      await retry([again(other!)]);
      await settleAll(store, await take(store), failedWith(fault()));
      expect(await retry([again(other!)])).toMatchObject([{ id: other, outcome: "done" }]);
      await take(store);
      expect(await claimable(store)).toEqual([]);
    });

    test("reprocesses the dead letters of the jobs that it repeats", async () => {
      await using db = await open();
      const { store } = db;
      const [dead, closed] = await failed(store, {}, {});
      await store.review(closed!, { status: "discarded", by: "bob", notes: null });
      const items = [dead!, closed!].map((id) => {
        return { id, successor: { ...newJob(), retryOf: id } };
      });

      await applied(store, { action: "retry", ids: [] }, items);

      expect(await store.deadLetter(dead!)).toMatchObject({
        status: "reprocessed",
        reviewedBy: "ada",
        successor: items[0]!.successor.id,
      });
      expect(await store.deadLetter(closed!)).toMatchObject({ status: "discarded" });
      const named = await store.audits({ name: "job_dlq_reprocess_success" }, { limit: 10 });
      expect(named.map(({ subject }) => subject)).toEqual([dead]);
    });

    test("resolves the dependants of the jobs that it cancels", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, {});
      const [dependant] = await add(store, { after: [first] });

      await applied(store, { action: "cancel", ids: [first] }, itemsOf([first]));
      await store.resolveDependencies(10);

      expect(await store.get(dependant)).toMatchObject({ state: "cancelled" });
    });

    test("repeats final jobs and hurries scheduled ones, as retry does", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = await failed(store, {}, {});
      const [before] = await add(store, { retryOf: two! });
      const [scheduled] = await add(store, { due: { delayMs: HOUR } });
      const successor = newJob({ retryOf: one! });
      const items = [
        { id: one!, successor },
        { id: two!, successor: newJob({ retryOf: two! }) },
        { id: scheduled },
        { id: MISSING },
      ];

      const outcomes = await applied(store, { action: "retry", ids: [] }, items);

      expect(outcomes).toEqual([
        { id: one, outcome: "done", code: null, successor: successor.id },
        { id: two, outcome: "skipped", code: "existing", successor: before },
        { id: scheduled, outcome: "done", code: null, successor: null },
        { id: MISSING, outcome: "skipped", code: "unknown", successor: null },
      ]);
      expect(await store.get(scheduled)).toMatchObject({ state: "queued" });
    });

    test("goes on when an item is refused, and says why", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two, three] = await failed(store, {}, { dedup: null }, {});
      await add(store, { dedup: { key: "k", onConflict: "skip" } });
      const dedup = { key: "k", onConflict: "skip" } as const;
      const items = [
        { id: one!, successor: newJob({ retryOf: one!, priority: -5 }) },
        { id: two!, successor: newJob({ retryOf: two!, dedup }) },
        { id: three!, successor: newJob({ retryOf: three! }) },
      ];

      const outcomes = await applied(store, { action: "retry", ids: [] }, items);

      expect(outcomes).toMatchObject([
        { id: one, outcome: "failed", code: "STORE_REFUSED", successor: null },
        { id: two, outcome: "skipped", code: "held" },
        { id: three, outcome: "done" },
      ]);
    });

    test("deletes final jobs, as retention does, and keeps their dead letters", async () => {
      await using db = await open();
      const { store } = db;
      const key = { key: "once", onConflict: "error" } as const;
      const [gone] = await completed(store, { idempotency: key });
      const [letter] = await failed(store, {});
      const [waiting] = await add(store, {});
      const ids = [gone!, letter!, waiting];

      const outcomes = await applied(store, { action: "delete", ids }, itemsOf(ids), HOUR);

      expect(outcomes).toMatchObject([
        { id: gone, outcome: "done" },
        { id: letter, outcome: "done" },
        { id: waiting, outcome: "skipped", code: "state" },
      ]);
      expect(await store.get(gone!)).toBeNull();
      expect(await store.deadLetter(letter!)).not.toBeNull();
      // The idempotency key outlives the job.
      const [again] = await store.enqueue([newJob({ idempotency: key })]);
      expect(again).toMatchObject({ status: "refused", code: "IDEMPOTENCY_KEY_USED" });
    });

    test("keeps the key of a deleted job for the longest declared period", async () => {
      await using db = await open();
      const { store, clock } = db;
      const key = { key: "once", onConflict: "error" } as const;
      const [gone] = await completed(store, { idempotency: key });
      await store.prune(retention({ idempotencyMs: 10 * HOUR }), 10);

      await applied(store, { action: "delete", ids: [gone!] }, itemsOf([gone!]), HOUR);
      await clock.advance(9 * HOUR);
      await store.prune(retention({ idempotencyMs: HOUR }), 10);
      const [again] = await store.enqueue([newJob({ idempotency: key })]);

      expect(await store.get(gone!)).toBeNull();
      expect(again).toMatchObject({ status: "refused", code: "IDEMPOTENCY_KEY_USED" });
    });

    test("keeps a final job whose parent has not ended", async () => {
      await using db = await open();
      const { store } = db;
      const [parent] = await add(store, { due: { delayMs: HOUR } });
      const [child] = await completed(store, { parentId: parent });

      const outcomes = await applied(store, { action: "delete", ids: [child!] }, [{ id: child! }]);

      expect(outcomes).toMatchObject([{ outcome: "skipped", code: "kept" }]);
      expect(await store.get(child!)).not.toBeNull();
    });

    test("gives waiting jobs a priority", async () => {
      await using db = await open();
      const { store } = db;
      const [over] = await completed(store, {});
      const [one, two] = await add(store, {}, {});
      const ids = [two, over!];

      const outcomes = await applied(store, { action: "priority", priority: 1, ids }, itemsOf(ids));

      expect(outcomes).toMatchObject([{ outcome: "done" }, { outcome: "skipped", code: "state" }]);
      expect(await claimable(store)).toEqual([two, one]);
    });

    test("makes waiting jobs due at another time", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [one, two] = await add(store, {}, { due: { delayMs: HOUR } });
      const ids = [one, two];
      const at = clock.now() + 2 * HOUR;

      const plan = { action: "reschedule", due: { at }, ids } as const;
      await applied(store, plan, itemsOf(ids));
      for (const id of ids) {
        expect(await store.get(id)).toMatchObject({ state: "scheduled", runAt: at });
      }
      await applied(store, { ...plan, due: { delayMs: 0 } }, itemsOf(ids));
      expect(await store.get(two)).toMatchObject({ state: "queued" });
    });

    test("reprocesses dead letters, each with one successor", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two, three] = await failed(store, {}, {}, {});
      await store.review(two!, { status: "discarded", by: "ada", notes: null });
      const [before] = await store.reprocessMany([{ ...newJob(), retryOf: three! }], "ada", null);
      const items = [one!, two!, three!].map((id) => ({ id, successor: newJob({ retryOf: id }) }));

      const plan = { action: "reprocess", ids: [] } as const;
      const outcomes = await applied(store, plan, [...items, { id: MISSING, successor: newJob() }]);

      expect(outcomes).toEqual([
        { id: one, outcome: "done", code: null, successor: items[0]!.successor.id },
        { id: two, outcome: "skipped", code: "closed", successor: null },
        { id: three, outcome: "skipped", code: "existing", successor: before!.job },
        { id: MISSING, outcome: "skipped", code: "closed", successor: null },
      ]);
      expect(await store.deadLetter(one!)).toMatchObject({
        status: "reprocessed",
        reviewedBy: "ada",
        successor: items[0]!.successor.id,
      });
    });

    test("discards and acknowledges open dead letters", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await failed(store, {}, {});
      await store.review(ids[1]!, { status: "discarded", by: "bob", notes: null });

      const seen = { action: "acknowledge", ids } as const;
      expect(await applied(store, seen, itemsOf([...ids, MISSING]))).toMatchObject([
        { outcome: "done" },
        { outcome: "skipped", code: "closed" },
        { outcome: "skipped", code: "unknown" },
      ]);
      expect(await store.deadLetter(ids[0]!)).toMatchObject({ status: "acknowledged" });
      await applied(store, { action: "discard", ids }, itemsOf(ids));
      expect(await store.deadLetter(ids[0]!)).toMatchObject({
        status: "discarded",
        reviewedBy: "ada",
      });
      expect(await store.deadLetter(ids[1]!)).toMatchObject({ reviewedBy: "bob" });
    });
  });

  describe("prune", () => {
    test("answers that there is more while items of old operations are left", async () => {
      await using db = await open();
      const { store, clock } = db;
      await applied(store, { action: "cancel", ids: [] }, itemsOf([jobId(), jobId()]));
      await clock.advance(31 * 24 * HOUR);

      expect(await store.prune(retention(), 1)).toMatchObject({ more: true });
      expect(await store.prune(retention(), 100)).toMatchObject({ more: false });
    });
  });
}
