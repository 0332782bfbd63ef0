import { describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import type { FinalState } from "../../../src/core/job.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  crashedOnce,
  failedWith,
  fault,
  newJob,
  newJobs,
  retention,
  retryIn,
} from "../../support/factories.ts";
import { detailsOf } from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const KEEP_NO_JOBS = retention({ finishedMs: FINAL });
const ENDINGS = [completed(), completedWithErrors(1), failedWith(), cancelled()] as const;

export function pruneSuite(open: OpenStore): void {
  describe("prune", () => {
    test.each(ENDINGS.map((ending) => ending.to))(
      "removes jobs that ended as %s by the age of that state (C-34)",
      async (state) => {
        await using db = await open();
        const { store, clock } = db;
        const ids = await addEnded(store);
        await clock.advance(10_001);
        const finishedMs = { ...retention().finishedMs, [state]: 10_000 };

        const pruned = await store.prune(retention({ finishedMs }), 100);

        expect(pruned).toMatchObject({ jobs: 1, more: false });
        const states = [...ids.keys()];
        const kept = await Promise.all([...ids.values()].map((id) => store.get(id)));
        expect(kept.map((job) => job?.state)).toEqual(
          states.map((ended) => (ended === state ? undefined : ended)),
        );
      },
    );

    test("counts the age of a job from its end", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await clock.advance(60_000);
      await runOne(store, completed());
      const rules = retention({ finishedMs: { ...FINAL, completed: 10_000 } });

      await clock.advance(9_999);
      const early = await store.prune(rules, 100);
      await clock.advance(2);
      const late = await store.prune(rules, 100);

      expect([early.jobs, late.jobs]).toEqual([0, 1]);
      expect(await store.get(id)).toBeNull();
    });

    test("removes the whole job: ledger, tags, place in lists (000-44)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id, kept] = await add(store, { tags: { a: "1" } }, { tags: { a: "1" } });
      await runOne(store, failedWith());
      await clock.advance(1);

      await store.prune(KEEP_NO_JOBS, 100);

      expect(await store.get(id)).toBeNull();
      expect(await store.attempts(id)).toEqual([]);
      for (const filter of [{}, { tags: { a: "1" } }, { type: "email" }]) {
        const { jobs } = await store.list(filter, { limit: 10 });
        expect(jobs.map((job) => job.id)).toEqual([kept]);
      }
      expect((await store.count({ states: ["failed"] }, 10)).count).toBe(0);
      expect(await store.cancel(id, null, null)).toEqual({ status: "unknown" });
      expect((await eventsOf(store, id)).at(-1)).toBe("job:deleted");
    });

    test("tells type, tenant and correlation of each removed job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [plain, other] = await add(
        store,
        { type: "email" },
        { type: "report", tenant: "acme", correlationId: 'order "7"' },
      );
      await settleAll(store, await take(store), completed());
      await clock.advance(1);

      await store.prune(KEEP_NO_JOBS, 100);

      expect(await detailsOf(store, plain)).toEqual([
        ["job:deleted", { type: "email", tenant: "default", correlationId: idUuid(plain) }],
      ]);
      expect(await detailsOf(store, other)).toEqual([
        ["job:deleted", { type: "report", tenant: "acme", correlationId: 'order "7"' }],
      ]);
    });

    test("keeps what has not ended, however old", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [running, , queued, , scheduled] = await add(
        store,
        { priority: 1 },
        { priority: 2 },
        { priority: 3 },
        { priority: 3, type: "held" },
        { due: { delayMs: 9_000_000_000 } },
      );
      const batch = await takeOne(store);
      await runOne(store, retryIn(8_000_000_000));
      await store.pause({ kind: "type", name: "held" }, { reason: "pause", by: null });
      await store.hold(10);
      await clock.advance(7_000_000_000);

      const pruned = await store.prune(KEEP_NO_JOBS, 100);

      expect(pruned).toMatchObject({ jobs: 0, idempotencyKeys: 0, deadLetters: 0 });
      expect((await store.count({}, 10)).count).toBe(5);
      expect(await stateOf(store, queued)).toBe("queued");
      expect(await stateOf(store, scheduled)).toBe("scheduled");
      expect(await stateOf(store, running)).toBe("running");
      await settleAll(store, batch, completed());
    });

    test("keeps the lease of neighbours that still run", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [, running] = await add(store, {}, {});
      const batch = await take(store);
      const [first, second] = [at(batch.jobs, 0), at(batch.jobs, 1)];
      await settleAll(store, { ...batch, jobs: [first] }, completed());
      await clock.advance(1);

      await store.prune(KEEP_NO_JOBS, 100);

      await settleAll(store, { ...batch, jobs: [second] }, completed());
      expect(await stateOf(store, running)).toBe("completed");
    });

    test("removes nothing that a lease still names, so that its worker may die", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [done, running] = await add(store, {}, {});
      const batch = await take(store);
      await settleAll(store, { ...batch, jobs: [at(batch.jobs, 0)] }, completed());
      await clock.advance(30_001);

      const kept = await store.prune(KEEP_NO_JOBS, 100);
      const rescue = await rescueSilent(store, batch.worker, { decide: crashedOnce });
      const pruned = await store.prune(KEEP_NO_JOBS, 100);

      expect(kept.jobs).toBe(0);
      expect(rescue.settled).toEqual([{ id: running, to: "queued" }]);
      expect(pruned.jobs).toBe(1);
      expect(await store.get(done)).toBeNull();
    });

    test("goes on behind jobs that a lease still names, however few it may remove", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first, second] = await add(store, {}, {}, {});
      const batch = await take(store);
      await settleAll(store, { ...batch, jobs: batch.jobs.slice(0, 2) }, completed());
      await clock.advance(10);
      const [done] = await add(store, {});
      await runOne(store, completed());
      await clock.advance(10);

      const pruned = await store.prune(KEEP_NO_JOBS, 1);

      expect(pruned.jobs).toBe(1);
      expect(await store.get(done)).toBeNull();
      expect(await stateOf(store, first)).toBe("completed");
      expect(await stateOf(store, second)).toBe("completed");
    });

    test("keeps children until their parent is final, and removes them then", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [parent] = await add(store, { type: "pipeline" });
      const family = { type: "child", parentId: parent };
      const [first, second] = await add(store, family, family);
      const batch = await take(store, { types: ["child"] });
      await settleAll(store, batch, completed());
      await clock.advance(1);
      const keys = batch.jobs.map(({ key }) => key);
      const prune = async (): Promise<number> => (await store.prune(KEEP_NO_JOBS, 100)).jobs;
      const kept = async (): Promise<unknown> => [
        await prune(),
        await store.remove(keys, KEEP_NO_JOBS),
        (await store.expired(KEEP_NO_JOBS, { fresh: false, limit: 10, from: null })).jobs.length,
      ];

      const whileQueued = await kept();
      await runOne(store, retryIn(1_000));
      const betweenRuns = await kept();
      await clock.advance(1_000);
      await store.promote(10);
      const running = await takeOne(store);
      const whileRunning = await kept();
      await settleAll(store, running, completed());
      await clock.advance(1);
      let removed = 0;
      for (let sweep = 0; sweep < 5; sweep += 1) removed += await prune();

      expect([whileQueued, betweenRuns, whileRunning]).toEqual([
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ]);
      expect(removed).toBe(3);
      expect(await Promise.all([first, second, parent].map((id) => store.get(id)))).toEqual([
        null,
        null,
        null,
      ]);
    });

    test("removes children whose parent is gone, and children of a final parent", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [parent] = await add(store, {});
      await runOne(store, completed());
      await add(store, { parentId: parent }, { parentId: newJob().id });
      await settleAll(store, await take(store), completed());
      await clock.advance(1);

      expect((await store.prune(KEEP_NO_JOBS, 100)).jobs).toBe(3);
    });

    test("removes the oldest first, no more than asked, and says if more remain", async () => {
      await using db = await open();
      const { store, clock } = db;
      const jobs = newJobs(5);
      await store.enqueue(jobs);
      for (let run = 0; run < 5; run += 1) {
        await runOne(store, completed());
        await clock.advance(10);
      }

      const first = await store.prune(KEEP_NO_JOBS, 2);
      const { jobs: left } = await store.list({}, { limit: 10 });
      const second = await store.prune(KEEP_NO_JOBS, 2);
      const third = await store.prune(KEEP_NO_JOBS, 2);

      expect(first).toMatchObject({ jobs: 2, more: true });
      expect(left.map((job) => job.id)).toEqual(
        jobs
          .slice(2)
          .map((job) => job.id)
          .toReversed(),
      );
      expect(second).toMatchObject({ jobs: 2, more: true });
      expect(third).toMatchObject({ jobs: 1, more: false });
    });

    test("finds the jobs that a prune without room has left", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await runOne(store, completed());
      await clock.advance(1_000);
      const rules = retention({ finishedMs: { ...FINAL, completed: 1_000 } });

      const none = await store.prune(KEEP_NO_JOBS, 0);
      const all = await store.prune(rules, 100);

      expect([none.jobs, all.jobs]).toEqual([0, 1]);
    });

    test("finds a job that a prune had to keep, at the end of a longer period", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store);
      await settleAll(store, { ...batch, jobs: [at(batch.jobs, 0)] }, completed());
      await clock.advance(1_000);
      const early = await store.prune(KEEP_NO_JOBS, 100);
      await settleAll(store, { ...batch, jobs: [at(batch.jobs, 1)] }, completed());
      const rules = retention({ finishedMs: { ...FINAL, completed: 1_000 } });

      const late = await store.prune(rules, 100);

      expect([early.jobs, late.jobs]).toEqual([0, 1]);
      expect(await store.get(id)).toBeNull();
    });

    test("keeps a dead letter beyond its job, and removes it by its own age (C-34)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, { payload: '{"marker":"m4rk3r"}' });
      await runOne(store, failedWith(fault({ message: "boom" })));
      const rules = retention({ finishedMs: FINAL, deadLetterMs: 10_000 });

      await clock.advance(9_000);
      const early = await store.prune(rules, 100);
      const letter = await store.deadLetter(id);
      await clock.advance(1_001);
      const late = await store.prune(rules, 100);

      expect(early).toMatchObject({ jobs: 1, deadLetters: 0 });
      expect(await store.get(id)).toBeNull();
      expect(letter).toMatchObject({ id, status: "pending_review", fault: { message: "boom" } });
      expect(letter?.spec).toContain("m4rk3r");
      expect(late).toMatchObject({ jobs: 0, deadLetters: 1 });
      expect(await store.deadLetter(id)).toBeNull();
    });

    test("limits dead letters, keys and events like jobs", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (let index = 0; index < 3; index += 1) {
        await add(store, { idempotency: { key: `k${index}`, onConflict: "error" } });
        await runOne(store, failedWith());
      }
      await clock.advance(10);
      const rules = retention({
        finishedMs: FINAL,
        deadLetterMs: 0,
        idempotencyMs: 0,
        eventMs: 0,
      });

      const first = await store.prune(rules, 2);
      const second = await store.prune(rules, 2);

      expect(first).toEqual({
        jobs: 2,
        deadLetters: 2,
        idempotencyKeys: 2,
        events: 2,
        tokens: 0,
        minutes: 0,
        audits: 0,
        more: true,
      });
      expect(second).toMatchObject({ jobs: 1, deadLetters: 1, idempotencyKeys: 1 });
    });

    test("frees the oldest idempotency keys first, no more than asked", async () => {
      await using db = await open();
      const { store, clock } = db;
      const keys = ["a", "b", "c"].map((key) => ({ key, onConflict: "return-existing" }) as const);
      for (const idempotency of keys) {
        await add(store, { idempotency });
        await runOne(store, completed());
        await clock.advance(10);
      }
      const rules = retention({ finishedMs: FINAL, idempotencyMs: 1_000 });
      await store.prune(rules, 100);
      await clock.advance(2_000);

      const pruned = await store.prune(rules, 2);

      expect(pruned).toMatchObject({ idempotencyKeys: 2, more: true });
      const answers = await store.enqueue(keys.map((idempotency) => newJob({ idempotency })));
      expect(answers.map(({ status }) => status)).toEqual(["created", "created", "existing"]);
    });

    test("removes events by their age and never gives a position twice", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await add(store, {});
      const before = await store.feed(0, 100);
      await clock.advance(10_001);
      const [young] = await add(store, {});

      const pruned = await store.prune(retention({ eventMs: 10_000 }), 100);
      const kept = await store.feed(0, 100);
      await clock.advance(10_001);
      await store.prune(retention({ eventMs: 10_000 }), 100);
      const [newest] = await add(store, {});

      expect(pruned.events).toBe(2);
      expect(kept).toMatchObject([{ jobs: [young] }]);
      const after = await store.feed(0, 100);
      expect(after).toMatchObject([{ jobs: [newest] }]);
      const positions = [...before, ...kept, ...after].map((entry) => entry.position);
      expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b));
    });

    test("leaves the word about its own removals to the next call, whatever the age", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      await runOne(store, completed());
      const rules = retention({ finishedMs: FINAL, eventMs: 0 });

      const first = await store.prune(rules, 100);
      const told = await store.feed(0, 100);
      await clock.advance(1);
      const second = await store.prune(rules, 100);

      expect(first.jobs).toBe(1);
      expect(told).toMatchObject([{ kind: "job:deleted", jobs: [id] }]);
      expect(second.events).toBe(1);
      expect(await store.feed(0, 100)).toEqual([]);
    });

    test("never gives the key of a removed job to another", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const { key } = await recordOf(store, id);
      await runOne(store, completed());
      await clock.advance(1);
      await store.prune(KEEP_NO_JOBS, 100);

      const [next] = await add(store, {});

      expect((await recordOf(store, next)).key).toBeGreaterThan(key);
    });

    test("has nothing to do in an empty store", async () => {
      await using db = await open();

      expect(await db.store.prune(KEEP_NO_JOBS, 100)).toEqual({
        jobs: 0,
        deadLetters: 0,
        idempotencyKeys: 0,
        events: 0,
        tokens: 0,
        minutes: 0,
        audits: 0,
        more: false,
      });
      expect(await claimable(db.store)).toEqual([]);
    });
  });
}

async function addEnded(store: Parameters<typeof runOne>[0]): Promise<Map<FinalState, string>> {
  const ids = new Map<FinalState, string>();
  for (const ending of ENDINGS) {
    await add(store, {});
    ids.set(ending.to, await runOne(store, ending));
  }
  return ids;
}
