import { describe, expect, test } from "vitest";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, failedWith, newJob } from "../../support/factories.ts";
import { becauseOf, freed, stays, swept } from "../../support/flows.ts";
import {
  add,
  ask,
  at,
  claimable,
  eventsOf,
  recordOf,
  runOne,
  settleAll,
  take,
} from "../../support/steps.ts";
import type { OpenCallers } from "./callers.ts";

const KEYED = { idempotency: { key: "order 7", onConflict: "return-existing" } } as const;

const DEDUP = { key: "weekly", onConflict: "skip" } as const;

/** Jobs with keys take another way. */
const WAYS: readonly (readonly [string, Partial<NewJob>])[] = [
  ["without keys", {}],
  ["with a key", KEYED],
];

export function insideSuite(open: OpenCallers): void {
  describe("enqueueInTransaction", () => {
    test("makes jobs that no other connection sees before the transaction commits", async () => {
      await using db = await open();
      const { store } = db;
      const jobs = [
        newJob({ priority: 3, payload: '{"n":1}' }),
        newJob({ ...KEYED, priority: 1 }),
        newJob({ due: { delayMs: 60_000 } }),
        newJob({ priority: 2, tags: { region: "nord" } }),
      ];
      const caller = await db.begin();

      const answers = await store.enqueueInTransaction(caller.tx, jobs);

      const states = ["queued", "queued", "scheduled", "queued"];
      expect(answers).toEqual(
        jobs.map(({ id }, index) => ({ status: "created", id, state: states[index] })),
      );
      expect((await store.count({}, 10)).count).toBe(0);
      await caller.commit();
      expect(await recordOf(store, at(jobs, 0).id)).toMatchObject({ payload: '{"n":1}' });
      expect(await recordOf(store, at(jobs, 3).id)).toMatchObject({ tags: { region: "nord" } });
      expect(await claimable(store)).toEqual([1, 3, 0].map((index) => at(jobs, index).id));
    });

    test("leaves nothing when the transaction rolls back, and its keys are free", async () => {
      await using db = await open();
      const { store } = db;
      const caller = await db.begin();

      await store.enqueueInTransaction(caller.tx, [newJob({ tags: { a: "1" } }), newJob(KEYED)]);
      await caller.rollback();

      expect((await store.count({}, 10)).count).toBe(0);
      expect(await store.feed(0, 10)).toEqual([]);
      expect(await ask(store, KEYED)).toMatchObject({ status: "created" });
    });

    test.each(WAYS)("a closed intake refuses its jobs alone, %s (004-52)", async (_, way) => {
      await using db = await open();
      const { store } = db;
      const closed = { kind: "lane", name: "bulk" } as const;
      await store.closeIntake(closed, { reason: "maintenance", by: "ada" });
      const caller = await db.begin();
      const jobs = [
        newJob({ lane: "bulk", ...way }),
        newJob(),
        newJob({ due: { delayMs: 9_000 } }),
      ];

      const answers = await store.enqueueInTransaction(caller.tx, jobs);
      const refused = await store.enqueueInTransaction(caller.tx, jobs.slice(0, 1));
      await caller.commit();

      const refusal = { status: "refused", code: "INTAKE_CLOSED", intake: closed };
      expect(answers).toMatchObject([
        refusal,
        { status: "created", state: "queued" },
        { status: "created", state: "scheduled" },
      ]);
      expect(refused).toMatchObject([refusal]);
      expect((await store.count({}, 10)).count).toBe(2);
      await store.openIntake(closed);
      expect(await store.enqueue(jobs.slice(0, 1))).toMatchObject([{ status: "created" }]);
    });

    test.each(WAYS)("the quota of waiting jobs counts those inside, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      const none = { waiting: null, rate: null, payloadBytes: null };
      const why = { reason: "the contract", by: "ada" };
      await store.setQuota("acme", { ...none, waiting: 3 }, why);
      const caller = await db.begin();
      const statuses: string[] = [];
      for (let n = 0; n < 9; n += 1) {
        const keyed = way.idempotency && { idempotency: { ...way.idempotency, key: `order ${n}` } };
        const call = [newJob({ tenant: "acme", ...keyed }), newJob({ tenant: "umbra" })];
        const answers = await store.enqueueInTransaction(caller.tx, call);
        statuses.push(...answers.map(({ status }) => status));
      }
      await caller.commit();

      const created = (index: number): number =>
        statuses.filter((status, n) => n % 2 === index && status === "created").length;
      expect([created(0), created(1)]).toEqual([3, 9]);
      expect(await store.quotaUse("acme")).toMatchObject({ waiting: 3 });
    });

    test("finds who holds a key, inside and outside", async () => {
      await using db = await open();
      const { store } = db;
      const first = await ask(store, KEYED);
      const caller = await db.begin();
      const dedup = { key: "nightly", onConflict: "skip" } as const;

      const answers = await store.enqueueInTransaction(caller.tx, [
        newJob(KEYED),
        newJob({ dedup }),
      ]);
      const again = await store.enqueueInTransaction(caller.tx, [newJob({ dedup })]);
      await caller.commit();

      const holder = at(answers, 1);
      expect(answers).toMatchObject([
        { status: "existing", by: "idempotency", id: first.status === "created" && first.id },
        { status: "created" },
      ]);
      expect(again).toMatchObject([
        { status: "existing", by: "dedup", id: holder.status === "created" && holder.id },
      ]);
    });

    test.each(WAYS)("tells the feed of a job %s once it is there", async (_, way) => {
      await using db = await open();
      const { store } = db;
      const job = newJob(way);
      const caller = await db.begin();

      await store.enqueueInTransaction(caller.tx, [job]);
      await caller.commit();

      expect(await eventsOf(store, job.id)).toEqual(["job:enqueued"]);
    });

    test.each(WAYS)("refuses a transaction of another database: a job %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      await ask(store, { lane: "known here" });
      const caller = await db.beginElsewhere();

      await expect(store.enqueueInTransaction(caller.tx, [newJob(way)])).rejects.toMatchObject({
        code: "TX_INVALID",
      });
    });

    test("takes a call back when one job is not taken, and the transaction goes on", async () => {
      await using db = await open();
      const { store } = db;
      const [holder] = await add(store, { dedup: { key: "nightly", onConflict: "skip" } });
      const dedup = { key: "nightly", onConflict: "replace" } as const;
      const broken = newJob({ ...KEYED, dedup, priority: 2 ** 60 });
      const [neighbours, next] = [[newJob(), newJob()], newJob()];
      const caller = await db.begin();

      await expect(
        store.enqueueInTransaction(caller.tx, [at(neighbours, 0), broken, at(neighbours, 1)]),
      ).rejects.toMatchObject({ code: "STORE_REFUSED" });
      await store.enqueueInTransaction(caller.tx, [next]);
      await caller.commit();

      expect(await claimable(store)).toEqual([holder, next.id]);
      expect(await ask(store, KEYED)).toMatchObject({ status: "created" });
    });

    test.each(WAYS)(
      "takes nothing of a call with a name that is not taken: a job %s",
      async (_, way) => {
        await using db = await open();
        const { store } = db;
        const [neighbour, next] = [newJob(way), newJob()];
        const caller = await db.begin();

        await expect(
          store.enqueueInTransaction(caller.tx, [neighbour, newJob({ lane: "x".repeat(5_000) })]),
        ).rejects.toMatchObject({ code: "STORE_REFUSED" });
        await store.enqueueInTransaction(caller.tx, [next]);
        await caller.commit();

        expect(await claimable(store)).toEqual([next.id]);
      },
    );

    test("makes jobs with and without keys in the order given", async () => {
      await using db = await open();
      const jobs = [newJob(KEYED), newJob(), newJob({ dedup: DEDUP }), newJob()];
      const caller = await db.begin();

      await db.store.enqueueInTransaction(caller.tx, jobs);
      await caller.commit();

      expect(await claimable(db.store)).toEqual(jobs.map(({ id }) => id));
    });

    afterTests(open);
  });
}

function afterTests(open: OpenCallers): void {
  test("makes jobs that wait for others, inside and outside, once it commits", async () => {
    await using db = await open();
    const { store } = db;
    const [outside] = await add(store, { priority: 1 });
    const inside = newJob();
    const both = newJob({ after: [outside, inside.id] });
    const last = newJob({ after: [both.id], ...KEYED });
    const caller = await db.begin();

    const answers = await store.enqueueInTransaction(caller.tx, [inside, both, last]);
    await caller.commit();

    expect(answers).toEqual(
      [inside, both, last].map(({ id }) => ({ status: "created", id, state: "queued" })),
    );
    await stays(store, both.id, last.id);
    await settleAll(store, await take(store), completed());
    await freed(store, both.id);
    await stays(store, last.id);
    expect(await runOne(store, completed())).toBe(both.id);
    await freed(store, last.id);
    expect(await claimable(store)).toEqual([last.id]);
  });

  test("leaves no job waiting when the transaction rolls back", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    const jobs = [newJob({ after: [parent] }), newJob({ after: [parent], ...KEYED })];
    const caller = await db.begin();

    await store.enqueueInTransaction(caller.tx, jobs);
    await caller.rollback();
    await runOne(store, failedWith());
    await store.resolveDependencies(100);

    for (const { id } of jobs) {
      expect(await store.get(id)).toBeNull();
      expect(await store.openDependencies(id, 10)).toEqual([]);
      expect(await eventsOf(store, id)).toEqual([]);
    }
    expect(await claimable(store)).toEqual([]);
  });

  test("lets jobs go on whose parents had ended before", async () => {
    await using db = await open();
    const { store } = db;
    const [good] = await add(store, {});
    await runOne(store, completed());
    const [bad] = await add(store, {});
    await runOne(store, failedWith());
    const [free, lost] = [newJob({ after: [good] }), newJob({ after: [good, bad] })];
    const caller = await db.begin();

    await store.enqueueInTransaction(caller.tx, [free, lost]);
    await caller.commit();

    await swept(store, free.id, lost.id);
    expect((await recordOf(store, lost.id)).cancelReason).toBe(becauseOf(bad, "failed"));
    expect(await claimable(store)).toEqual([free.id]);
  });

  test.each(WAYS)("answers that there is no such job to wait for: a job %s", async (_, way) => {
    await using db = await open();
    const { store } = db;
    const missing = newJob().id;
    const [lost, neighbour, next] = [newJob({ ...way, after: [missing] }), newJob(), newJob(way)];
    const caller = await db.begin();

    const answers = await store.enqueueInTransaction(caller.tx, [lost, neighbour]);
    const more = await store.enqueueInTransaction(caller.tx, [next]);
    await caller.commit();

    expect([...answers, ...more]).toEqual([
      { status: "refused", code: "AFTER_UNKNOWN", holder: missing },
      { status: "created", id: neighbour.id, state: "queued" },
      { status: "created", id: next.id, state: "queued" },
    ]);
    expect(await store.get(lost.id)).toBeNull();
    expect(await claimable(store)).toEqual([neighbour.id, next.id]);
  });

  test("makes jobs wait for whom others of the call gave way to", async () => {
    await using db = await open();
    const { store } = db;
    const [holder] = await add(store, { dedup: DEDUP });
    const gives = newJob({ dedup: DEDUP });
    const job = newJob({ after: [gives.id] });
    const caller = await db.begin();

    const answers = await store.enqueueInTransaction(caller.tx, [gives, job]);
    await caller.commit();

    expect(answers).toMatchObject([
      { status: "existing", id: holder },
      { status: "created", id: job.id, state: "queued" },
    ]);
    expect(await store.openDependencies(job.id, 10)).toEqual([holder]);
  });

  test("makes jobs with a concurrency key, of which one runs at a time", async () => {
    await using db = await open();
    const { store } = db;
    const jobs = [newJob({ concurrencyKey: "k" }), newJob({ concurrencyKey: "k", ...KEYED })];
    const caller = await db.begin();
    await store.enqueueInTransaction(caller.tx, jobs);
    await caller.commit();

    const batch = await take(store);
    await settleAll(store, batch, completed());

    expect(batch.jobs.map(({ id }) => id)).toEqual([at(jobs, 0).id]);
    expect(await claimable(store)).toEqual([at(jobs, 1).id]);
  });
}
