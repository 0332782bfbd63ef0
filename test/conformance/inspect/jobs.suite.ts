import { describe, expect, test } from "vitest";
import {
  completed,
  failedWith,
  fault,
  jobId,
  newJob,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import {
  add,
  at,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function inspectSuite(open: OpenStore): void {
  describe("get", () => {
    test("answers null for an id that never was", async () => {
      await using db = await open();
      await add(db.store, {});

      expect(await db.store.get(jobId())).toBeNull();
    });

    test("shows a job at each stage of its life (000-17, 000-18, 000-19)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const createdAt = clock.now();
      const firstDueAt = createdAt + 100;
      const [id] = await add(store, { due: { delayMs: 100 } });

      const scheduled = await recordOf(store, id);
      await clock.advance(100);
      await store.promote(1);
      const queued = await recordOf(store, id);
      await clock.advance(10);
      const firstStart = clock.now();
      const first = await takeOne(store);
      const running = await recordOf(store, id);
      await clock.advance(10);
      await settleAll(store, first, retryIn(50));
      const waiting = await recordOf(store, id);
      await clock.advance(60);
      await store.promote(1);
      const secondStart = clock.now();
      const second = await takeOne(store);
      const again = await recordOf(store, id);
      await clock.advance(10);
      await settleAll(store, second, { ...completed("2"), tries: 2 });
      const done = await recordOf(store, id);

      const always = { key: scheduled.key, id, createdAt, scheduledAt: firstDueAt };
      const unfinished = { ...always, finishedAt: null, result: null };
      expect(scheduled).toMatchObject({ ...unfinished, state: "scheduled", runAt: firstDueAt });
      expect(queued).toMatchObject({
        ...unfinished,
        state: "queued",
        runAt: firstDueAt,
        attempts: 0,
      });
      expect(running).toMatchObject({
        ...unfinished,
        state: "running",
        runAt: null,
        startedAt: firstStart,
        attempts: 0,
      });
      expect(waiting).toMatchObject({
        ...unfinished,
        state: "scheduled",
        runAt: firstStart + 60,
        attempts: 1,
        fault: fault(),
      });
      expect(again).toMatchObject({ state: "running", startedAt: secondStart, attempts: 1 });
      expect(done).toMatchObject({
        ...always,
        state: "completed",
        runAt: null,
        startedAt: secondStart,
        finishedAt: secondStart + 10,
        attempts: 2,
        result: "2",
      });
    });

    test("shows the start of the present run while the lease of a former one stands", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [again, other] = await add(store, { priority: 1 }, { priority: 2 });
      const former = await take(store);
      await store.settle([settleItem(former, at(former.jobs, 0), runAgain())]);
      await clock.advance(70);

      await takeOne(store);

      expect((await recordOf(store, again)).startedAt).toBe(clock.now());
      expect((await recordOf(store, other)).startedAt).toBe(clock.now() - 70);
    });

    test("is seen the same through every handle", async () => {
      await using db = await open();
      const other = await db.another();
      const [id] = await add(db.store, { payload: '{"a":1}', tags: { a: "b" } });
      await takeOne(db.store);

      expect(await other.get(id)).toEqual(await db.store.get(id));
    });

    test("tells since when each job of a batch runs", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {}, {});
      await take(store);

      const records = await Promise.all(ids.map((id) => recordOf(store, id)));

      expect(records.map(({ startedAt }) => startedAt)).toEqual(ids.map(() => clock.now()));
    });
  });

  describe("attempts", () => {
    test("answers nothing for a job that never was, waits or runs for the first time", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});

      const waiting = await store.attempts(id);
      await takeOne(store);

      expect(waiting).toEqual([]);
      expect(await store.attempts(id)).toEqual([]);
      expect(await store.attempts(jobId())).toEqual([]);
    });

    test("shows the attempts of one job only", async () => {
      await using db = await open();
      const { store } = db;
      const [mine, theirs] = await add(store, { priority: 1 }, { priority: 2 });
      await runOne(store, failedWith());
      await runOne(store, completed());

      expect(await store.attempts(mine)).toMatchObject([{ n: 1, outcome: "failed" }]);
      expect(await store.attempts(theirs)).toMatchObject([{ n: 1, outcome: "succeeded" }]);
    });
  });

  describe("deadLetter", () => {
    test("answers null for a job that never was and for one that has not failed", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { priority: 1 }, { priority: 2 });
      await runOne(store, retryIn(10));
      await runOne(store, failedWith());

      expect(await store.deadLetter(id)).toBeNull();
      expect(await store.deadLetter(jobId())).toBeNull();
    });

    test("keeps every part of what was asked for (003-23)", async () => {
      await using db = await open();
      const { store } = db;
      const job = newJob({
        type: "t1type",
        tenant: "t2tenant",
        lane: "t3lane",
        category: "t4category",
        payload: '{"deep":{"marker":"t5payload"}}',
        payloadVersion: "t6version",
        correlationId: "t7correlation",
        concurrencyKey: "t8concurrency",
        idempotency: { key: "t9idempotency", onConflict: "error" },
        dedup: { key: "t10dedup", onConflict: "skip" },
        webhookUrl: "https://t11.test/",
        tags: { t12tag: "t13value" },
        createdBy: "t14creator",
        maxAttempts: 271,
        timeoutMs: 828_182,
        priority: 459,
      });
      await store.enqueue([job]);
      await runOne(store, failedWith());

      const letter = await store.deadLetter(job.id);

      const marks = [...Array(14).keys()].map((index) => `t${index + 1}`);
      for (const mark of [...marks, "271", "828182", "459"]) {
        expect(letter?.spec).toContain(mark);
      }
    });
  });
}
