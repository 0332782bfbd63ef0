import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { ClaimedJob, NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, failedWith, newJob, retention, retryIn } from "../../support/factories.ts";
import { done, halfway, keep, runNote } from "../../support/notes.ts";
import {
  add,
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

const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const KEEP_NO_JOBS = retention({ finishedMs: FINAL });
const DEDUP = { key: "site-1", onConflict: "skip" } as const;

interface Family {
  readonly batch: Batch & { readonly job: ClaimedJob };
  readonly parent: JobId;
  readonly holder: JobId;
  /** A child with the key of the holder. */
  readonly child: NewJob;
}

/** A running parent, and a job that holds the key of its child. */
async function family(store: JobStore, overrides: Partial<NewJob> = {}): Promise<Family> {
  const [parent] = await add(store, { lane: "parents" });
  const batch = await takeOne(store, { lanes: ["parents"] });
  const [holder] = await add(store, { dedup: DEDUP, ...overrides });
  return { batch, parent, holder, child: newJob({ parentId: parent, dedup: DEDUP }) };
}

/** The parent stays running: the child comes with a phase. */
async function giveWay(store: JobStore, { batch, child }: Family): Promise<void> {
  await keep(store, batch, { completed: { name: "one", result: null }, children: [child] });
}

/** The id that a child asked for, when the holder of its key was there before. */
export function aliasesSuite(open: OpenStore): void {
  describe("aliases", () => {
    test("name the holder of the key, after a phase and after the end of a run", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      const { batch, parent, holder, child } = known;
      const second = newJob({ parentId: parent, dedup: DEDUP });

      await giveWay(store, known);
      const children = [second];
      await store.settle([{ ...settleItem(batch, batch.job, completed()), children }]);

      expect(await store.get(child.id)).toEqual(await recordOf(store, holder));
      expect(await store.get(second.id)).toEqual(await recordOf(store, holder));
      expect((await store.list({}, { limit: 10 })).jobs).toHaveLength(2);
    });

    test("keep a child away when its note is repeated and the key is free", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      const { batch, parent, holder, child } = known;
      await giveWay(store, known);
      await runOne(store, completed());
      const next = newJob({ parentId: parent, after: [child.id] });
      const note = { completed: { name: "one", result: null }, children: [child, next] };

      await keep(store, batch, note);
      const children = [child];
      await store.settle([{ ...settleItem(batch, batch.job, completed()), children }]);
      // The store resolves the dependencies of a new job after its commit.
      await store.resolveDependencies(100);

      expect((await store.get(child.id))?.id).toBe(holder);
      expect(await claimable(store)).toEqual([next.id]);
    });

    test("name a child of the same call", async () => {
      await using db = await open();
      const { store } = db;
      const { batch, parent } = await family(store);
      const dedup = { key: "other", onConflict: "skip" } as const;
      const [first, second] = [
        newJob({ parentId: parent, dedup }),
        newJob({ parentId: parent, dedup }),
      ];

      await keep(store, batch, { units: [done("a")], children: [first, second] });

      expect((await store.get(second.id))?.id).toBe(first.id);
    });

    test("name the holder of an idempotency key", async () => {
      await using db = await open();
      const { store } = db;
      const idempotency = { key: "order-7", onConflict: "return-existing" } as const;
      const known = await family(store, { dedup: null, idempotency });
      const child = newJob({ parentId: known.parent, idempotency });

      await giveWay(store, { ...known, child });

      expect((await store.get(child.id))?.id).toBe(known.holder);
    });

    test("are read with all that the holder has", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      const { holder, child } = known;
      await giveWay(store, known);
      const batch = await takeOne(store);
      const line = { turn: 1, at: 1, level: "info", message: "hello", fields: null } as const;
      await keep(store, batch, { progress: halfway(), units: [done("a")], logs: [line] });
      await settleAll(store, batch, retryIn(1_000));

      expect(await store.attempts(child.id)).toEqual(await store.attempts(holder));
      expect(await store.attempts(child.id)).toHaveLength(1);
      expect(await store.progress(child.id)).toEqual(await store.progress(holder));
      expect((await store.progress(child.id))?.progress?.overall).toBe(75);
      const units = await store.units(child.id, {}, { limit: 10 });
      expect(units.map(({ unit }) => unit)).toEqual(["a"]);
      const newest = await store.logs(child.id, { limit: 10 });
      const all = await store.logs(child.id, { limit: 10, after: 0 });
      expect([newest, all].map(([entry]) => entry?.message)).toEqual(["hello", "hello"]);
    });

    test("let an operator move the holder", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store, { due: { delayMs: 60_000 } });
      const { holder, child } = known;
      await giveWay(store, known);

      const hurried = await store.hurry(child.id);
      expect([hurried, await stateOf(store, holder)]).toEqual([
        { status: "done", state: "queued" },
        "queued",
      ]);
      const again = await store.intervene(child.id, () => retryIn(1_000));
      expect(again.status).toBe("done");
      expect(await store.cancel(child.id, null, null)).toEqual({ status: "cancelled" });
      expect(await stateOf(store, holder)).toBe("cancelled");
    });

    test("are dependencies on the holder, in a later call", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      const { batch, parent, holder, child } = known;
      await giveWay(store, known);
      const next = newJob({ parentId: parent, after: [child.id] });

      await keep(store, batch, { completed: { name: "two", result: null }, children: [next] });
      const [other] = await add(store, { after: [child.id], type: "other" });

      expect(await store.openDependencies(next.id, 10)).toEqual([holder]);
      expect(await store.openDependencies(other, 10)).toEqual([holder]);
      expect(await claimable(store)).toEqual([holder]);
    });

    test("of a waiting job show its dependencies", async () => {
      await using db = await open();
      const { store } = db;
      const [first] = await add(store, {});
      const known = await family(store, { after: [first] });
      await giveWay(store, known);

      expect(await store.openDependencies(known.child.id, 10)).toEqual([first]);
    });

    test("of a failed holder cancel a job that runs after them", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      await giveWay(store, known);
      const [next] = await add(store, { after: [known.child.id], priority: 1_000 });

      await runOne(store, failedWith());
      await store.resolveDependencies(100);

      expect(await stateOf(store, next)).toBe("cancelled");
    });

    test("of a holder that is gone name no job, and hold up no job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const idempotency = { key: "order-7", onConflict: "return-existing" } as const;
      await add(store, { idempotency });
      await runOne(store, completed());
      await clock.advance(1);
      await store.prune(KEEP_NO_JOBS, 100);
      const known = await family(store);
      const child = newJob({ parentId: known.parent, idempotency });

      await giveWay(store, { ...known, child });
      const [next] = await add(store, { after: [child.id], type: "next" });

      expect(await store.get(child.id)).toBeNull();
      expect(await store.cancel(child.id, null, null)).toEqual({ status: "unknown" });
      expect(await store.openDependencies(next, 10)).toEqual([]);
      await store.resolveDependencies(100);
      expect(await claimable(store, { types: ["next"] })).toEqual([next]);
    });

    test("are not made by a plain enqueue, whose answer names the holder", async () => {
      await using db = await open();
      const { store } = db;
      const { holder, child } = await family(store);

      const [answer] = await store.enqueue([child]);

      expect(answer).toMatchObject({ status: "existing", id: holder });
      expect(await store.get(child.id)).toBeNull();
    });

    test("give way to a job that an application enqueues with the same id", async () => {
      await using db = await open();
      const { store } = db;
      const known = await family(store);
      const { child } = known;
      await giveWay(store, known);
      await runOne(store, completed());

      await store.enqueue([child]);
      const [next] = await add(store, { after: [child.id], type: "next" });

      expect((await store.get(child.id))?.id).toBe(child.id);
      expect(await store.attempts(child.id)).toEqual([]);
      expect(await store.openDependencies(next, 10)).toEqual([child.id]);
      expect(await store.cancel(child.id, null, null)).toEqual({ status: "cancelled" });
      expect(await stateOf(store, child.id)).toBe("cancelled");
    });

    test("are rolled back with a child that is refused", async () => {
      await using db = await open();
      const { store } = db;
      const { batch, parent, child } = await family(store);
      const bad = newJob({ parentId: parent, after: [newJob().id] });
      const note = runNote(batch, batch.job, {
        completed: { name: "one", result: null },
        children: [child, bad],
      });

      const [answer] = await store.record([note]);

      expect(answer).toMatchObject({ code: "AFTER_UNKNOWN" });
      expect(await store.get(child.id)).toBeNull();
    });

    test("keep their holder until the parent is final, and go with the holder", async () => {
      await using db = await open();
      const { store, clock } = db;
      const known = await family(store);
      const { batch, holder, child } = known;
      await giveWay(store, known);
      const held = await takeOne(store);
      await settleAll(store, held, completed());
      await clock.advance(1);
      const keys = [held.job.key];
      const page = { fresh: false, limit: 10, from: null };

      const whileRunning = [
        (await store.prune(KEEP_NO_JOBS, 100)).jobs,
        (await store.expired(KEEP_NO_JOBS, page)).jobs.length,
        await store.remove(keys, KEEP_NO_JOBS),
      ];
      await settleAll(store, batch, retryIn(3_600_000));
      const betweenRuns = await store.remove(keys, KEEP_NO_JOBS);
      await store.intervene(known.parent, () => failedWith());
      const removed = await store.remove(keys, KEEP_NO_JOBS);

      expect([whileRunning, betweenRuns, removed]).toEqual([[0, 0, 0], 0, 1]);
      expect(await store.get(holder)).toBeNull();
      expect(await store.get(child.id)).toBeNull();
      const [answer] = await store.enqueue([newJob({ after: [child.id] })]);
      expect(answer).toMatchObject({ status: "refused", code: "AFTER_UNKNOWN" });
    });

    test("go with their parent", async () => {
      await using db = await open();
      const { store, clock } = db;
      const known = await family(store);
      const { batch, parent, holder, child } = known;
      await giveWay(store, known);
      await settleAll(store, batch, completed());
      await clock.advance(1);

      expect((await store.prune(KEEP_NO_JOBS, 100)).jobs).toBe(1);

      expect(await store.get(parent)).toBeNull();
      expect(await store.get(child.id)).toBeNull();
      expect(await stateOf(store, holder)).toBe("queued");
      await settleAll(store, await take(store), completed());
    });
  });
}
