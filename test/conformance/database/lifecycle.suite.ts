import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import {
  completed,
  jobId,
  newJob,
  newJobs,
  retention,
  workerId,
  workerInfo,
} from "../../support/factories.ts";
import {
  add,
  claimable,
  claimRequest,
  recordOf,
  settleAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const GATE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;
const LEASE = { number: 1, secret: "x" } as const;

/** Every verb that talks to the database. */
const VERBS: readonly (readonly [string, (store: JobStore) => Promise<unknown>])[] = [
  ["enqueue", (store) => store.enqueue([newJob()])],
  ["register", (store) => store.register(workerInfo())],
  ["deregister", (store) => store.deregister(workerId())],
  ["renew", (store) => store.renew(workerId(), 1)],
  ["claim", (store) => store.claim(claimRequest(workerId()))],
  ["startPrefetched", (store) => store.startPrefetched(LEASE, [1])],
  ["returnPrefetched", (store) => store.returnPrefetched(LEASE, [1])],
  ["settle", (store) => store.settle([{ lease: LEASE, key: 1, n: 1, settlement: completed() }])],
  ["record", (store) => store.record([{ lease: LEASE, key: 1, n: 1 }])],
  ["checkpoints", (store) => store.checkpoints(1)],
  ["silent", (store) => store.silent(1)],
  [
    "rescue",
    (store) => store.rescue({ worker: workerId(), beats: 1, limit: 1, decide: () => completed() }),
  ],
  ["promote", (store) => store.promote(1)],
  ["cancel", (store) => store.cancel(jobId(), null, null)],
  ["pause", (store) => store.pause(GATE, WHY)],
  ["resume", (store) => store.resume(GATE)],
  ["gates", (store) => store.gates()],
  ["hold", (store) => store.hold(1)],
  ["release", (store) => store.release(1)],
  ["get", (store) => store.get(jobId())],
  ["ends", (store) => store.ends([jobId()])],
  ["attempts", (store) => store.attempts(jobId())],
  ["progress", (store) => store.progress(jobId())],
  ["units", (store) => store.units(jobId(), {}, { limit: 1 })],
  ["histories", (store) => store.histories([jobId()], { units: 1, logs: 1 })],
  ["unitHolders", (store) => store.unitHolders("main", 1)],
  ["list", (store) => store.list({}, { limit: 1 })],
  ["count", (store) => store.count({}, 1)],
  ["deadLetter", (store) => store.deadLetter(jobId())],
  ["feed", (store) => store.feed(0, 1)],
  ["prune", (store) => store.prune(retention(), 1)],
];

export function lifecycleSuite(open: OpenStore): void {
  describe("open", () => {
    test.each(VERBS)("comes first: %s is refused before it", async (_, call) => {
      await using db = await open();
      const store = db.unopened();

      await expect(call(store)).rejects.toMatchObject({
        name: "MillraceError",
        code: "STORE_CLOSED",
      });
    });

    test("finds everything that another handle has written", async () => {
      await using db = await open();
      const [id] = await add(db.store, { payload: '{"a":1}' });

      const other = await db.another();

      expect(await other.get(id)).toEqual(await db.store.get(id));
    });

    test("finds everything again after a close (I1)", async () => {
      await using db = await open();
      const { store } = db;
      const [running, waiting, later] = await add(
        store,
        { priority: 1, tags: { a: "1" } },
        { idempotency: { key: "k", onConflict: "error" } },
        { due: { delayMs: 500 } },
      );
      const batch = await takeOne(store);
      await store.pause({ kind: "tenant", name: "acme" }, WHY);
      const before = await everything(store);
      await store.close();

      const reopened = await db.another();

      expect(await everything(reopened)).toEqual(before);
      expect(await stateOf(reopened, later)).toBe("scheduled");
      expect(
        await reopened.enqueue([newJob({ idempotency: { key: "k", onConflict: "error" } })]),
      ).toMatchObject([{ status: "refused", holder: waiting }]);
      await settleAll(reopened, batch, completed());
      expect(await stateOf(reopened, running)).toBe("completed");
      const next = await takeOne(reopened);
      expect(next.lease.number).toBeGreaterThan(batch.lease.number);
    });

    test("lets several handles be opened on a new database at once", async () => {
      await using db = await open();
      const handles = await Promise.all([db.another(), db.another(), db.another()]);

      const answers = await Promise.all(handles.map((handle) => handle.enqueue([newJob()])));

      expect(answers.flat().map((answer) => answer.status)).toEqual(Array(3).fill("created"));
      expect((await db.store.count({}, 10)).count).toBe(3);
    });
  });

  describe("close", () => {
    test.each(VERBS)("comes last: %s is refused after it", async (_, call) => {
      await using db = await open();
      const { store } = db;
      await store.close();

      await expect(call(store)).rejects.toMatchObject({
        name: "MillraceError",
        code: "STORE_CLOSED",
      });
    });

    test("is harmless when repeated, and before open", async () => {
      await using db = await open();
      const { store } = db;

      await store.close();
      await store.close();
      await db.unopened().close();

      const other = await db.another();
      expect((await other.count({}, 1)).count).toBe(0);
    });

    test("lets writes finish that were accepted before it (I1)", async () => {
      await using db = await open();
      const { store } = db;
      await store.enqueue(newJobs(2, { priority: 1 }));
      const batch = await take(store);
      const job = newJob({ type: "never seen before" });

      const enqueued = store.enqueue([job]);
      const settled = store.settle(
        batch.jobs.map(({ key, n }) => ({ ...batch, key, n, settlement: completed() })),
      );
      await store.close();

      expect(await enqueued).toEqual([{ status: "created", id: job.id, state: "queued" }]);
      expect(await settled).toEqual(["settled", "settled"]);
      const other = await db.another();
      expect(await recordOf(other, job.id)).toMatchObject({ state: "queued" });
      expect((await other.count({ states: ["completed"] }, 10)).count).toBe(2);
    });

    test("leaves the other handles open", async () => {
      await using db = await open();
      const other = await db.another();
      const [id] = await add(db.store, {});

      await db.store.close();

      expect(await claimable(other)).toEqual([id]);
    });
  });
}

async function everything(store: JobStore): Promise<unknown> {
  return {
    listing: await store.list({}, { limit: 100 }),
    feed: await store.feed(0, 100),
    gates: await store.gates(),
    silent: await store.silent(100),
  };
}
