import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { NewJob, SettleItem } from "../../../src/store/types/jobs-and-runs.ts";
import {
  completed,
  failedWith,
  jobId,
  newJob,
  newJobs,
  retention,
} from "../../support/factories.ts";
import { becauseOf, freed, stays } from "../../support/flows.ts";
import { runNote } from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const SKIP = { dedup: { key: "nightly", onConflict: "skip" } } as const;
const EXTEND = { dedup: { key: "nightly", onConflict: "extend" } } as const;
const REPLACE = { dedup: { key: "nightly", onConflict: "replace" } } as const;
const ONCE = { idempotency: { key: "order 7", onConflict: "return-existing" } } as const;
const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;

/** Jobs that wait for others, where a key stands between them. */
export function fanInSuite(open: OpenStore): void {
  describe("after one that gave way", () => {
    holderTests(open);
    orderTests(open);
    removedHolderTests(open);
  });
  describe("children that run after others", () => {
    keyedChildrenTests(open);
  });
}

function holderTests(open: OpenStore): void {
  const KEYS: readonly (readonly [string, Partial<NewJob>])[] = [
    ["idempotency", ONCE],
    ["dedup, skip", SKIP],
    ["dedup, extend", EXTEND],
  ];

  test.each(KEYS)("waits for the holder of the key: %s", async (_, key) => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, key);
    const [gives, job] = forked(key);

    const answers = await store.enqueue([gives, job]);

    expect(answers).toMatchObject([
      { status: "existing", id: holder },
      { status: "created", id: job.id, state: "queued" },
    ]);
    await stays(store, job.id);
    expect(await store.openDependencies(job.id, 10)).toEqual([holder]);
    expect(await runOne(store, completed())).toBe(holder);
    await freed(store, job.id);
    expect(await claimable(store)).toEqual([job.id]);
    expect(await store.get(gives.id)).toBeNull();
  });

  test("waits for the living successor of the same job", async () => {
    await using db = await open();
    const { store } = db;
    const [dead] = await add(store, {});
    await runOne(store, failedWith());
    const [successor] = await add(store, { retryOf: dead });
    const [gives, job] = forked({ retryOf: dead });

    const answers = await store.enqueue([gives, job]);

    expect(answers).toMatchObject([
      { status: "existing", id: successor, by: "successor" },
      { status: "created", id: job.id },
    ]);
    expect(await store.openDependencies(job.id, 10)).toEqual([successor]);
  });

  test("is cancelled with the holder of the key, and names it", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, SKIP);
    const [gives, job] = forked(SKIP);
    await store.enqueue([gives, job]);

    await runOne(store, failedWith());

    await freed(store, job.id);
    expect(await recordOf(store, job.id)).toMatchObject({
      state: "cancelled",
      cancelReason: becauseOf(holder, "failed"),
    });
  });

  test("waits once for a holder that it names several times", async () => {
    await using db = await open();
    const { store } = db;
    const [holder, other] = await add(store, SKIP, { priority: 200 });
    const gives = newJobs(3, SKIP);
    const job = newJob({ after: [...gives.map(({ id }) => id), holder, other] });

    expect(await store.enqueue([...gives, job])).toMatchObject([
      { status: "existing" },
      { status: "existing" },
      { status: "existing" },
      { status: "created" },
    ]);
    expect((await store.openDependencies(job.id, 10)).toSorted()).toEqual(
      [holder, other].toSorted(),
    );
    await runOne(store, completed());
    await stays(store, job.id);
    await runOne(store, completed());
    await freed(store, job.id);
    expect(await claimable(store)).toEqual([job.id]);
  });

  test("knows holders that are as new as itself, and may have a key as well", async () => {
    await using db = await open();
    const { store } = db;
    const [first, gives] = [newJob(SKIP), newJob(SKIP)];
    const job = newJob({ ...ONCE, after: [gives.id] });
    const twin = newJob({ ...ONCE, after: [gives.id] });
    const last = newJob({ after: [twin.id] });

    const answers = await store.enqueue([first, gives, job, twin, last]);

    expect(answers).toMatchObject([
      { status: "created", id: first.id },
      { status: "existing", id: first.id },
      { status: "created", id: job.id },
      { status: "existing", id: job.id },
      { status: "created", id: last.id },
    ]);
    for (const { id } of [first, job, last]) {
      await freed(store, id);
      expect(await runOne(store, completed())).toBe(id);
    }
  });
}

function orderTests(open: OpenStore): void {
  test("knows it though others of the call are refused", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, SKIP);
    const [gives, refused] = [newJob(SKIP), newJob({ priority: -1 })];
    const job = newJob({ after: [gives.id] });

    const answers = await store.enqueue([gives, refused, job, newJob({ after: [refused.id] })]);

    expect(answers).toMatchObject([
      { status: "existing", id: holder },
      { status: "refused", code: "STORE_REFUSED" },
      { status: "created", id: job.id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: refused.id },
    ]);
    expect(await store.openDependencies(job.id, 10)).toEqual([holder]);
  });

  test("does not know one that gives way, or is made, later in the call", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, SKIP);
    const [first, gives, made] = [newJob(), newJob(SKIP), newJob()];
    // They come after one that stands before them, and must not see more for that.
    const early = [gives, made].map(({ id }) => newJob({ after: [first.id, id] }));

    const answers = await store.enqueue([first, ...early, gives, made]);

    expect(answers).toMatchObject([
      { status: "created", id: first.id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: gives.id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: made.id },
      { status: "existing", id: holder },
      { status: "created", id: made.id },
    ]);
  });

  test("does not know one that gave way in another call", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, SKIP);
    const [gives, job] = forked(SKIP);
    await store.enqueue([gives]);

    expect(await store.enqueue([job])).toEqual([
      { status: "refused", code: "AFTER_UNKNOWN", holder: gives.id },
    ]);
  });

  test("does not take a job for one that gave way when that has come into being", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, { ...SKIP, priority: 1 });
    const id = jobId();
    const [gives, made, job] = [newJob({ ...SKIP, id }), newJob({ id }), newJob({ after: [id] })];

    const answers = await store.enqueue([gives, made, job]);

    expect(answers).toMatchObject([
      { status: "existing", id: holder },
      { status: "created", id },
      { status: "created", id: job.id },
    ]);
    expect(await store.openDependencies(job.id, 10)).toEqual([id]);
  });

  test("may take the place of another that waits", async () => {
    await using db = await open();
    const { store } = db;
    const [once, single] = await add(store, ONCE, REPLACE);
    const gives = newJob(ONCE);
    const job = newJob({ ...REPLACE, after: [gives.id] });

    expect(await store.enqueue([gives, job])).toMatchObject([
      { status: "existing", id: once },
      { status: "created", id: job.id },
    ]);
    expect(await stateOf(store, single)).toBe("cancelled");
    expect(await store.openDependencies(job.id, 10)).toEqual([once]);
  });
}

function removedHolderTests(open: OpenStore): void {
  test("is due at once when the job behind the key was removed", async () => {
    await using db = await open();
    const { store } = db;
    const gone = await outlivedBy(db, ONCE);
    const [gives, job] = forked(ONCE);
    const later = newJob({ after: [gives.id], due: { delayMs: 1_000 } });

    const answers = await store.enqueue([gives, job, later]);

    expect(answers).toEqual([
      { status: "existing", id: gone, state: null, by: "idempotency" },
      { status: "created", id: job.id, state: "queued" },
      { status: "created", id: later.id, state: "scheduled" },
    ]);
    expect(await recordOf(store, job.id)).toMatchObject({ heldBy: null });
    expect(await claimable(store)).toEqual([job.id]);
  });

  test("waits for the others when the job behind one key was removed", async () => {
    await using db = await open();
    const { store } = db;
    await outlivedBy(db, ONCE);
    const [rest] = await add(store, {});
    const gives = newJob(ONCE);
    const job = newJob({ after: [gives.id, rest] });
    await store.enqueue([gives, job]);

    await stays(store, job.id);
    expect(await store.openDependencies(job.id, 10)).toEqual([rest]);
    await runOne(store, completed());
    await freed(store, job.id);
    expect(await claimable(store)).toEqual([job.id]);
  });

  test("still does not know a job that retention has removed", async () => {
    await using db = await open();
    const { store } = db;
    const gone = await outlivedBy(db, ONCE);
    const gives = newJob(ONCE);

    const answers = await store.enqueue([gives, newJob({ after: [gives.id, gone] })]);

    expect(answers).toMatchObject([
      { status: "existing", id: gone },
      { status: "refused", code: "AFTER_UNKNOWN", holder: gone },
    ]);
  });
}

function keyedChildrenTests(open: OpenStore): void {
  test("wait for the holder of a key to which another child gave way", async () => {
    await using db = await open();
    const { store } = db;
    const [, other] = await add(store, { priority: 1 }, { priority: 2 });
    const batch = await take(store);
    const [holder] = await add(store, SKIP);
    const [end, note] = [forked(SKIP), forked(SKIP)];

    const kept = await store.record([
      runNote(batch, at(batch.jobs, 1), { completed: { name: "a", result: null }, children: note }),
    ]);
    const settled = await store.settle([withChildren(batch, end)]);

    expect([...kept, ...settled]).toEqual(["recorded", "settled"]);
    expect((await store.checkpoints(at(batch.jobs, 1).key)).phases).toHaveLength(1);
    expect(await stateOf(store, other)).toBe("running");
    await stays(store, end[1].id, note[1].id);
    expect(await store.openDependencies(end[1].id, 10)).toEqual([holder]);
    expect(await store.openDependencies(note[1].id, 10)).toEqual([holder]);
    await runOne(store, completed());
    await freed(store, end[1].id, note[1].id);
    expect(await claimable(store)).toHaveLength(2);
  });

  test("are due at once when the job behind the key of another child was removed", async () => {
    await using db = await open();
    const { store } = db;
    await outlivedBy(db, ONCE);
    await add(store, {});
    const batch = await takeOne(store);
    const [gives, child] = forked(ONCE);

    expect(await store.settle([withChildren(batch, [gives, child])])).toEqual(["settled"]);
    expect(await claimable(store)).toEqual([child.id]);
  });
}

/** One that gives way because of its key, and one to run after it. */
function forked(key: Partial<NewJob>): readonly [NewJob, NewJob] {
  const gives = newJob(key);
  return [gives, newJob({ after: [gives.id] })];
}

/** The id of a job that is gone, and whose key is not. */
async function outlivedBy(
  { store, clock }: Awaited<ReturnType<OpenStore>>,
  key: Partial<NewJob>,
): Promise<JobId> {
  const [id] = await add(store, key);
  await settleAll(store, await take(store), completed());
  await clock.advance(1);
  await store.prune(retention({ finishedMs: FINAL }), 10);
  expect(await store.get(id)).toBeNull();
  return id;
}

/** The success of the first job of a batch, and what it brings into being. */
function withChildren(batch: Batch, children: readonly NewJob[]): SettleItem {
  return { ...settleItem(batch, at(batch.jobs, 0), completed()), children };
}
