import { describe, expect, test } from "vitest";
import type { Quota } from "../../../src/core/control/quotas.ts";
import { planTicks } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { EnqueueAnswer, NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { ScheduleRecord, TickDecision } from "../../../src/store/types/schedules.ts";
import { completed, jobId, newJob, newSchedule } from "../../support/factories.ts";
import { at, settleItem, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const WHY = { reason: "the contract of acme", by: "ada" } as const;
const NONE: Quota = { waiting: null, rate: null, payloadBytes: null };
const HOUR = 3_600_000;

/** Jobs with keys take another way. */
const WAYS: readonly (readonly [string, () => Partial<NewJob>])[] = [
  ["without keys", () => ({})],
  ["with a key", () => ({ idempotency: { key: jobId(), onConflict: "return-existing" } })],
];

export function quotaSuite(open: OpenStore): void {
  settingSuite(open);
  waitingSuite(open);
  rateSuite(open);
  passingSuite(open);
}

function settingSuite(open: OpenStore): void {
  describe("setQuota", () => {
    test("replaces the quota before", async () => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, waiting: 5, payloadBytes: 9 }, WHY);
      await store.setQuota("acme", { ...NONE, waiting: 7 }, WHY);
      expect(await store.quotas()).toMatchObject([{ tenant: "acme", ...NONE, waiting: 7 }]);
    });
  });

  describe("quotas", () => {
    test("tell each quota, with who, when and why, that of all tenants first", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await store.quotas()).toEqual([]);
      const rate = { count: 10, perMs: 60_000, burst: 20 };
      const quota = { waiting: 7, rate, payloadBytes: 100 };
      await store.setQuota("acme", quota, WHY);
      await store.setQuota(null, { ...NONE, waiting: 3 }, { reason: "all", by: null });

      const setAt = clock.now();
      expect(await (await db.another()).quotas()).toEqual([
        { tenant: null, ...NONE, waiting: 3, reason: "all", by: null, setAt },
        { tenant: "acme", ...quota, ...WHY, setAt },
      ]);
    });
  });

  describe("removeQuota", () => {
    test("answers whether the quota was set, and removes no other", async () => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, waiting: 7 }, WHY);
      await store.setQuota("umbra", { ...NONE, waiting: 7 }, WHY);
      await store.setQuota(null, { ...NONE, waiting: 3 }, WHY);

      const answers = [];
      for (const tenant of ["acme", "acme", "unheard", null]) {
        answers.push(await store.removeQuota(tenant, WHY));
      }

      expect(answers).toEqual([true, false, false, true]);
      expect(await store.quotas()).toMatchObject([{ tenant: "umbra" }]);
    });
  });

  describe("quotaUse", () => {
    test("tells the quota that applies to a tenant, and what is used of it", async () => {
      await using db = await open();
      const { store } = db;
      expect(await store.quotaUse("acme")).toBeNull();
      const rate = { count: 60, perMs: 60_000, burst: 10 };
      await store.setQuota("acme", { ...NONE, waiting: 9, rate }, WHY);
      await store.setQuota(null, { ...NONE, waiting: 3 }, WHY);
      await store.enqueue([job(), job({ due: { delayMs: HOUR } }), job({ tenant: "umbra" })]);

      const own = await store.quotaUse("acme");
      expect(own).toMatchObject({
        record: { tenant: "acme" },
        waiting: 2,
        tokens: expect.any(Number),
      });
      const any = { record: { tenant: null }, waiting: 1, tokens: null };
      expect(await store.quotaUse("umbra")).toMatchObject(any);
      expect(await store.quotaUse("unheard")).toMatchObject({ ...any, waiting: 0 });
    });
  });
}

function waitingSuite(open: OpenStore): void {
  describe("the quota of waiting jobs", () => {
    test.each(WAYS)("refuses a job beyond it, and names the use, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, waiting: 2 }, WHY);

      const answers = await each(store, [job(way()), job(way()), job(way())]);

      expect(answers.map(({ status }) => status)).toEqual(["created", "created", "refused"]);
      expect(answers[2]).toMatchObject({
        code: "QUOTA_EXCEEDED",
        quota: { tenant: "acme", quota: "waiting", limit: 2, used: 2, retryAfterMs: null },
      });
      expect(await each(store, [job({ ...way(), tenant: "umbra" })])).toMatchObject([
        { status: "created" },
      ]);
    });

    test.each(WAYS)("answers each job of a call, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, waiting: 2 }, WHY);
      const jobs = [1, 2, 3, 4].map(() => job(way()));

      const answers = await store.enqueue([...jobs, job({ ...way(), tenant: "umbra" })]);

      const statuses = ["created", "created", "refused", "refused", "created"];
      expect(answers.map(({ status }) => status)).toEqual(statuses);
      expect(await store.get(at(jobs, 2).id)).toBeNull();
    });

    test("has room again when a job has started", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.setQuota("acme", { ...NONE, waiting: 1 }, WHY);
      await each(store, [job(), job()]);
      const batch = await takeOne(store);
      await clock.advance(1_000);
      expect(await each(store, [job()])).toMatchObject([{ status: "created" }]);
      await store.settle([settleItem(batch, batch.job, completed())]);
    });

    test("counts scheduled jobs and jobs that wait for others", async () => {
      await using db = await open();
      const { store } = db;
      const first = job({ due: { delayMs: HOUR } });
      await store.enqueue([first, job({ after: [first.id] })]);
      await store.setQuota("acme", { ...NONE, waiting: 2 }, WHY);
      expect(await each(store, [job()])).toMatchObject([{ code: "QUOTA_EXCEEDED" }]);
    });

    test("of all tenants holds for each tenant without its own", async () => {
      await using db = await open();
      const { store } = db;
      await store.setQuota(null, { ...NONE, waiting: 1 }, WHY);
      await store.setQuota("acme", { ...NONE, waiting: 2 }, WHY);
      const tenants = ["acme", "acme", "acme", "umbra", "umbra", "default", "default"];

      const answers = await each(
        store,
        tenants.map((tenant) => job({ tenant })),
      );

      const isMade = answers.map(({ status }) => status === "created");
      expect(isMade).toEqual([true, true, false, true, false, true, false]);
    });

    test.each(WAYS)("holds in other processes, and ends when removed, %s", async (_, way) => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      await each(other, [job(way())]);
      await store.setQuota("acme", { ...NONE, waiting: 1 }, WHY);
      expect(await each(other, [job(way())])).toMatchObject([{ code: "QUOTA_EXCEEDED" }]);
      await store.removeQuota("acme", WHY);
      await clock.advance(1_000);
      expect(await each(other, [job(way())])).toMatchObject([{ status: "created" }]);
    });
  });
}

function rateSuite(open: OpenStore): void {
  describe("the quota of a rate", () => {
    const rate = { count: 2, perMs: 1_000, burst: 3 };

    test.each(WAYS)("refuses a job without a token, and says when to try, %s", async (_, way) => {
      await using db = await open();
      const { store, clock } = db;
      await store.setQuota("acme", { ...NONE, rate }, WHY);

      const answers = await each(
        store,
        [1, 2, 3, 4].map(() => job(way())),
      );

      expect(answers.map(({ status }) => status)).toEqual([
        "created",
        "created",
        "created",
        "refused",
      ]);
      expect(answers[3]).toMatchObject({
        code: "QUOTA_EXCEEDED",
        quota: { tenant: "acme", quota: "rate", limit: 2, used: 3, retryAfterMs: 500 },
      });
      await clock.advance(500);
      const [later, again] = await each(store, [job(way()), job(way())]);
      expect([later?.status, again?.status]).toEqual(["created", "refused"]);
      expect((await store.quotaUse("acme"))?.tokens).toBe(0);
    });

    test("is shared by all processes", async () => {
      await using db = await open();
      const { store } = db;
      const other = await db.another();
      await store.setQuota("acme", { ...NONE, rate }, WHY);
      const answers = [
        ...(await each(store, [job(), job()])),
        ...(await each(other, [job(), job()])),
      ];
      expect(answers.filter(({ status }) => status === "created")).toHaveLength(3);
    });

    test("is not used by a repeated job or the holder of a key", async () => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, rate }, WHY);
      const idempotency = { key: "k", onConflict: "return-existing" } as const;
      const [plain, keyed] = [job(), job({ idempotency })];
      await each(store, [plain, keyed]);
      expect(await each(store, [plain, job({ idempotency })])).toMatchObject([
        { status: "existing", id: plain.id },
        { status: "existing", id: keyed.id },
      ]);
      expect(await each(store, [job(), job()])).toMatchObject([
        { status: "created" },
        { status: "refused" },
      ]);
      expect(await each(store, [plain, job({ idempotency })])).toMatchObject([
        { status: "existing", id: plain.id },
        { status: "existing", id: keyed.id },
      ]);
    });
  });

  describe("the quota of payloads", () => {
    test.each(WAYS)("refuses a longer payload, in bytes, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      await store.setQuota("acme", { ...NONE, payloadBytes: 6 }, WHY);
      const payloads = ['"abcd"', '"äbc"', '"äbcd"', null];

      const answers = await each(
        store,
        payloads.map((payload) => job({ ...way(), payload })),
      );

      const statuses = ["created", "created", "refused", "created"];
      expect(answers.map(({ status }) => status)).toEqual(statuses);
      expect(answers[2]).toMatchObject({
        code: "PAYLOAD_OVER_QUOTA",
        quota: { tenant: "acme", quota: "payloadBytes", limit: 6, used: 7, retryAfterMs: null },
      });
    });
  });
}

function passingSuite(open: OpenStore): void {
  describe("a quota", () => {
    test("lets children and successors pass", async () => {
      await using db = await open();
      const { store } = db;
      const parent = job();
      await each(store, [parent]);
      await store.setQuota("acme", { waiting: 1, rate: null, payloadBytes: 1 }, WHY);
      const answers = await each(store, [
        job({ parentId: parent.id }),
        job({ retryOf: parent.id }),
        job(),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(["created", "created", "refused"]);
    });

    test("refuses the tick of a schedule, and the job that an operator asks for", async () => {
      await using db = await open();
      const { store, clock } = db;
      await clock.advance(HOUR - (clock.now() % HOUR));
      const slot = clock.now();
      const schedule = newSchedule({ job: { tenant: "acme" } });
      await store.saveSchedule(schedule, { revision: null, by: null }, () => slot);
      await store.setQuota("acme", { ...NONE, waiting: 0 }, WHY);

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { outcome: "over_quota", job: null },
      ]);
      const byHand = await store.runSchedule("hourly", ({ job: template }) => jobOf(template, 0));
      expect(byHand).toMatchObject({ code: "QUOTA_EXCEEDED" });

      await store.setQuota("acme", { ...NONE, waiting: 1 }, WHY);
      await clock.advance(HOUR);
      expect(await store.tickSchedule("hourly", decide)).toMatchObject([{ outcome: "made" }]);
      await clock.advance(HOUR);
      expect(await store.tickSchedule("hourly", decide)).toMatchObject([{ outcome: "over_quota" }]);
    });
  });
}

function job(given: Partial<NewJob> = {}): NewJob {
  return newJob({ tenant: "acme", ...given });
}

/** One call after the other. */
async function each(store: JobStore, jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
  const answers: EnqueueAnswer[] = [];
  for (const one of jobs) answers.push(...(await store.enqueue([one])));
  return answers;
}

function decide(schedule: ScheduleRecord, now: number): TickDecision {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now);
  return {
    ticks: slots.map((slot) => ({ slot, job: jobOf(schedule.job, slot) })),
    missed,
    nextSlot,
  };
}

function jobOf(template: ScheduleRecord["job"], slot: number): NewJob {
  return { ...template, id: jobId(), due: { at: slot } };
}
