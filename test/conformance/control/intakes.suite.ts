import { describe, expect, test } from "vitest";
import { planTicks } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { IntakeName } from "../../../src/store/types/records.ts";
import type { ScheduleRecord, TickDecision } from "../../../src/store/types/schedules.ts";
import { completed, failedWith, jobId, newJob, newSchedule } from "../../support/factories.ts";
import {
  add,
  ask,
  at,
  claimable,
  recordOf,
  settleAll,
  settleItem,
  stateOf,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const TYPE = { kind: "type", name: "email" } as const;
const LANE = { kind: "lane", name: "bulk" } as const;
const TENANT = { kind: "tenant", name: "acme" } as const;
const ALL = { kind: "installation", name: "all" } as const;
const WHY = { reason: "maintenance", by: "ada" } as const;
const HOUR = 3_600_000;

/** Jobs with keys take another way. */
const WAYS: readonly (readonly [string, () => Partial<NewJob>])[] = [
  ["without keys", () => ({})],
  ["with a key", () => ({ idempotency: { key: jobId(), onConflict: "return-existing" } })],
];

export function intakeSuite(open: OpenStore): void {
  closeSuite(open);
  refusalSuite(open);
  passingSuite(open);
  tickSuite(open);
}

function closeSuite(open: OpenStore): void {
  describe("intakes", () => {
    test("are the closed ones, with who, when and why (004-52)", async () => {
      await using db = await open();
      const { store, clock } = db;
      expect(await store.intakes()).toEqual([]);
      const closedAt = clock.now();

      await store.closeIntake(TYPE, { reason: "first", by: null });
      await clock.advance(10);
      await store.closeIntake(TYPE, WHY);
      await store.closeIntake(ALL, WHY);

      expect(await store.intakes()).toEqual([
        { ...ALL, ...WHY, closedAt: closedAt + 10 },
        { ...TYPE, ...WHY, closedAt },
      ]);
      expect(await (await db.another()).intakes()).toHaveLength(2);
      expect(await store.gates()).toEqual([]);
    });
  });

  describe("openIntake", () => {
    test("answers whether the intake was closed, and opens no other", async () => {
      await using db = await open();
      const { store } = db;
      await store.closeIntake(TYPE, WHY);
      await store.closeIntake(LANE, WHY);

      const answers = [];
      for (const target of [TYPE, TYPE, ALL, { kind: "lane", name: "unknown" } as const]) {
        answers.push(await store.openIntake(target));
      }

      expect(answers).toEqual([true, false, false, false]);
      expect(await store.intakes()).toMatchObject([LANE]);
      expect(await ask(store)).toMatchObject({ status: "created" });
    });
  });
}

function refusalSuite(open: OpenStore): void {
  describe("closeIntake", () => {
    const targets: readonly (readonly [IntakeName, Partial<NewJob>])[] = [
      [TYPE, { type: "email" }],
      [LANE, { lane: "bulk" }],
      [TENANT, { tenant: "acme" }],
    ];

    test.each(WAYS)("refuses new jobs of its target alone, %s (004-52)", async (_, way) => {
      await using db = await open();
      const { store } = db;
      for (const [target, job] of targets) {
        await store.closeIntake(target, WHY);
        const jobs = [
          newJob({ type: "other", ...way() }),
          newJob({ type: "other", ...job, ...way() }),
          newJob({ type: "other", due: { delayMs: 1_000 }, ...way() }),
        ];

        const answers = await store.enqueue(jobs);

        expect(answers).toEqual([
          { status: "created", id: at(jobs, 0).id, state: "queued" },
          refused(at(jobs, 1), target),
          { status: "created", id: at(jobs, 2).id, state: "scheduled" },
        ]);
        expect(await store.enqueue(jobs.slice(1, 2))).toEqual([refused(at(jobs, 1), target)]);
        expect(await store.get(at(jobs, 1).id)).toBeNull();
        await store.openIntake(target);
      }
      expect((await store.count({}, 10)).count).toBe(6);
      const told = (await store.feed(0, 100)).flatMap((entry) =>
        "jobs" in entry ? entry.jobs : [],
      );
      expect(told).toHaveLength(6);
    });

    test.each(WAYS)("of the installation refuses all new jobs, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      await store.closeIntake(ALL, WHY);
      const jobs = [newJob({ type: "new type", tenant: "new tenant", ...way() }), newJob(way())];

      expect(await store.enqueue(jobs)).toEqual(jobs.map((job) => refused(job, ALL)));
      expect(await store.enqueue(jobs.slice(0, 1))).toEqual([refused(at(jobs, 0), ALL)]);
      expect((await store.count({}, 10)).count).toBe(0);
      expect(await store.feed(0, 10)).toEqual([]);

      await store.openIntake(ALL);
      expect(await store.enqueue(jobs)).toMatchObject(jobs.map(() => ({ status: "created" })));
    });

    test("refuses in another process too, which has enqueued before", async () => {
      await using db = await open();
      const other = await db.another();
      await ask(other);

      await db.store.closeIntake(TYPE, WHY);

      expect(await ask(other)).toMatchObject({ status: "refused", code: "INTAKE_CLOSED" });
      await db.store.openIntake(TYPE);
      expect(await ask(other)).toMatchObject({ status: "created" });
    });

    test("of several closed intakes, the widest is named", async () => {
      await using db = await open();
      const { store } = db;
      const job = { lane: "bulk", tenant: "acme" };
      for (const target of [TYPE, LANE, TENANT, ALL]) {
        await store.closeIntake(target, WHY);
        expect(await ask(store, job)).toMatchObject({ intake: target });
      }
    });

    test("a refused job takes no key and replaces no job", async () => {
      await using db = await open();
      const { store } = db;
      const once = { key: "order 7", onConflict: "return-existing" } as const;
      const weekly = { key: "weekly", onConflict: "replace" } as const;
      const [waiting] = await add(store, { dedup: weekly });
      await store.closeIntake(TYPE, WHY);

      expect(await ask(store, { idempotency: once })).toMatchObject({ code: "INTAKE_CLOSED" });
      expect(await ask(store, { dedup: weekly })).toMatchObject({ code: "INTAKE_CLOSED" });
      expect(await ask(store, { dedup: { key: "free", onConflict: "skip" } })).toMatchObject({
        code: "INTAKE_CLOSED",
      });

      expect(await stateOf(store, waiting)).toBe("queued");
      await store.openIntake(TYPE);
      expect(
        await ask(store, {
          payload: "7",
          idempotency: once,
          dedup: { key: "free", onConflict: "skip" },
        }),
      ).toMatchObject({ status: "created" });
    });

    test("a job that depends on a refused one is refused as well", async () => {
      await using db = await open();
      const { store } = db;
      await store.closeIntake(LANE, WHY);
      const first = newJob({ lane: "bulk" });
      const second = newJob({ after: [first.id] });

      expect(await store.enqueue([first, second])).toEqual([
        refused(first, LANE),
        { status: "refused", code: "AFTER_UNKNOWN", holder: first.id },
      ]);
    });

    test("a bad value beside a refused job refuses its own job alone", async () => {
      await using db = await open();
      const { store } = db;
      await store.closeIntake(LANE, WHY);
      const jobs = [newJob({ priority: -1 }), newJob({ lane: "bulk" }), newJob()];

      expect(await store.enqueue(jobs)).toEqual([
        { status: "refused", code: "STORE_REFUSED", holder: at(jobs, 0).id },
        refused(at(jobs, 1), LANE),
        { status: "created", id: at(jobs, 2).id, state: "queued" },
      ]);
    });
  });
}

function passingSuite(open: OpenStore): void {
  describe("a closed intake", () => {
    test.each(WAYS)("answers the repeat of a job that it has accepted, %s", async (_, way) => {
      await using db = await open();
      const { store } = db;
      const job = newJob(way());
      await store.enqueue([job]);
      await store.closeIntake(ALL, WHY);

      expect(await store.enqueue([job])).toMatchObject([{ status: "existing", id: job.id }]);
    });

    test("answers the holder of a key", async () => {
      await using db = await open();
      const { store } = db;
      const keys = {
        idempotency: { key: "order 7", onConflict: "return-existing" },
        dedup: { key: "weekly", onConflict: "skip" },
      } as const;
      const [id] = await add(store, keys);
      await store.closeIntake(ALL, WHY);

      const { idempotency, dedup } = keys;
      expect(await ask(store, { idempotency })).toMatchObject({ status: "existing", id });
      expect(await ask(store, { dedup })).toMatchObject({ status: "existing", id });
    });

    test("leaves claims, retries and the children of a run as they are", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      await store.closeIntake(ALL, WHY);

      const batch = await takeOne(store);
      // `mill.enqueue` within a handler, with and without a key.
      for (const [, way] of WAYS) {
        const jobs = [newJob({ parentId: id, ...way() }), newJob(way())];
        expect(await store.enqueue(jobs)).toMatchObject([
          { status: "created" },
          { code: "INTAKE_CLOSED" },
        ]);
      }
      // `ctx.enqueue`.
      const child = newJob({ parentId: id });
      const item = { ...settleItem(batch, batch.job, completed()), children: [child] };
      expect(await store.settle([item])).toEqual(["settled"]);
      expect(await store.get(child.id)).not.toBeNull();
      expect(await claimable(store)).toHaveLength(3);
    });

    test("lets an operator retry a job and reprocess its dead letter", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = await add(store, {}, {});
      for (const id of [one, two]) {
        const batch = await takeOne(store);
        expect(batch.job.id).toBe(id);
        await settleAll(store, batch, failedWith());
      }
      await store.closeIntake(ALL, WHY);

      expect(await ask(store, { retryOf: one })).toMatchObject({ status: "created" });
      const successor = newJob({ retryOf: two });
      expect(await store.reprocess(two, successor, "ada", null)).toMatchObject({
        status: "reprocessed",
      });
    });
  });
}

function tickSuite(open: OpenStore): void {
  describe("the tick of a schedule behind a closed intake", () => {
    test("makes no job, is recorded, and is not made up for (004-52)", async () => {
      await using db = await open();
      const { store } = db;
      const slot = await saved(db, "queue");
      await store.closeIntake(TYPE, WHY);

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { slot, outcome: "intake_closed", job: null },
      ]);
      await store.openIntake(TYPE);
      expect(await store.tickSchedule("hourly", decide)).toEqual([]);

      const ticks = await store.scheduleTicks("hourly", { limit: 9 });
      expect(ticks).toMatchObject([{ slot, outcome: "intake_closed" }]);
      expect(await store.schedule("hourly")).toMatchObject({
        nextSlot: slot + HOUR,
        lastJob: null,
      });
      expect((await store.count({}, 10)).count).toBe(0);
    });

    test("replaces no job of the slot before", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db, "replace");
      const [first] = await store.tickSchedule("hourly", decide);
      await store.closeIntake(ALL, WHY);
      await clock.advance(HOUR);

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { outcome: "intake_closed" },
      ]);
      expect(await recordOf(store, first!.job!)).toMatchObject({ state: "queued" });
    });

    test("a run by hand is refused, too", async () => {
      await using db = await open();
      const { store } = db;
      await saved(db, "queue");
      await store.closeIntake(TYPE, WHY);

      const answer = await store.runSchedule("hourly", ({ job }) => jobOf(job, 0));

      expect(answer).toMatchObject({ status: "refused", code: "INTAKE_CLOSED", intake: TYPE });
      expect(await store.scheduleTicks("hourly", { limit: 9 })).toEqual([]);
    });
  });
}

function refused({ id }: NewJob, target: IntakeName): object {
  const intake = { ...target, ...WHY, closedAt: expect.any(Number) };
  return { status: "refused", code: "INTAKE_CLOSED", holder: id, intake };
}

/** A schedule whose first slot is the hour that has begun, and that hour. */
async function saved(
  { store, clock }: { store: JobStore; clock: { now(): number } },
  overlap: "queue" | "replace",
): Promise<number> {
  const slot = Math.floor(clock.now() / HOUR) * HOUR;
  const schedule = newSchedule({ overlap, job: { type: "email" } });
  await store.saveSchedule(schedule, { revision: null, by: null }, () => slot);
  return slot;
}

function decide(schedule: ScheduleRecord, now: number): TickDecision {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now);
  return {
    ticks: slots.map((slot) => ({ slot, job: jobOf(schedule.job, slot) })),
    missed,
    nextSlot,
  };
}

function jobOf(job: ScheduleRecord["job"], slot: number): NewJob {
  return { ...job, id: jobId(), due: { at: slot } };
}
