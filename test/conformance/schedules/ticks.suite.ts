import { describe, expect, test } from "vitest";
import { firstSlot, planTicks, slotDelay } from "../../../src/core/cron/plan.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type {
  ScheduleRecord,
  ScheduleSpec,
  TickDecision,
} from "../../../src/store/types/schedules.ts";
import { completed, jobId, newJob, newSchedule } from "../../support/factories.ts";
import { settleAll, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR = 3_600_000;
const NEW = { revision: null, by: null };

/** As the worker decides. */
function decide(schedule: ScheduleRecord, now: number, ticked: readonly number[]): TickDecision {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now, ticked);
  const ticks = slots.map((slot) => ({ slot, job: jobOf(schedule, slot) }));
  return { ticks, missed, nextSlot };
}

function jobOf({ job, name, jitterMs }: ScheduleSpec, slot: number): NewJob {
  return { ...job, id: jobId(), due: { at: slot + slotDelay(name, slot, jitterMs) } };
}

/** A schedule whose first slot is the hour that has begun, and that hour. */
async function saved(
  db: { store: JobStore; clock: { now(): number } },
  overrides: Parameters<typeof newSchedule>[0] = {},
): Promise<number> {
  const slot = Math.floor(db.clock.now() / HOUR) * HOUR;
  await db.store.saveSchedule(newSchedule(overrides), NEW, () => slot);
  return slot;
}

export function ticksSuite(open: OpenStore): void {
  describe("tickSchedule", () => {
    test("makes the job of a due slot, with its event and its wake-up (000-54)", async () => {
      await using db = await open();
      const { store } = db;
      const job = { type: "report", tenant: "acme", payload: "[1]", priority: 7, tags: { a: "b" } };
      const slot = await saved(db, { job });
      const woken: string[] = [];
      store.watch((wakeUp) => woken.push(wakeUp));

      const [tick, ...more] = await store.tickSchedule("hourly", decide);

      expect(more).toEqual([]);
      expect(tick).toMatchObject({ slot, outcome: "made", since: null, at: db.clock.now() });
      expect(await store.get(tick!.job!)).toMatchObject({ ...job, state: "queued", runAt: slot });
      expect(await store.feed(0, 9)).toMatchObject([{ kind: "job:enqueued", jobs: [tick!.job] }]);
      expect(woken).toContain("work");
      expect(await store.schedule("hourly")).toMatchObject({
        nextSlot: slot + HOUR,
        lastSlot: slot,
        lastJob: tick!.job,
        revision: 1,
      });
      expect(await store.scheduleTicks("hourly", { limit: 9 })).toEqual([tick]);
    });

    test("makes nothing before the slot, in a pause, or for an unknown schedule", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db);
      await store.pauseSchedule("hourly", { reason: "a bug", by: null });
      await store.saveSchedule(newSchedule({ name: "later" }), NEW, () => clock.now() + 1);
      await store.saveSchedule(newSchedule({ name: "never" }), NEW, () => null);

      for (const name of ["hourly", "later", "never", "unknown"]) {
        expect(await store.tickSchedule(name, decide)).toEqual([]);
      }
      expect((await store.count({}, 9)).count).toBe(0);
      await clock.advance(1);
      expect(await store.tickSchedule("later", decide)).toHaveLength(0);
      expect(await store.schedule("later")).not.toMatchObject({ nextSlot: clock.now() });
    });

    test("makes each slot once, with any number of processes (000-54)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db);
      const stores = [store, await db.another(), await db.another()];

      for (let hour = 0; hour < 5; hour += 1) {
        const ticks = [...stores, ...stores].map((each) => each.tickSchedule("hourly", decide));
        expect((await Promise.all(ticks)).flat()).toHaveLength(1);
        await clock.advance(HOUR);
      }

      expect((await store.count({}, 99)).count).toBe(5);
      const slots = (await store.scheduleTicks("hourly", { limit: 99 })).map(({ slot }) => slot);
      expect(slots).toEqual([...new Set(slots)].toSorted((one, other) => other - one));
    });

    test("makes no slot again that has a tick", async () => {
      await using db = await open();
      const { store } = db;
      const slot = await saved(db);
      const again = (): TickDecision => ({
        ticks: [
          { slot: slot - HOUR, job: newJob() },
          { slot, job: newJob() },
        ],
        missed: null,
        nextSlot: slot + HOUR,
      });
      await store.tickSchedule("hourly", decide);
      await store.saveSchedule(
        newSchedule({ cron: "0 0 * * *" }),
        { revision: 1, by: null },
        () => slot + 1,
      );
      await db.clock.advance(HOUR);

      const ticks = await store.tickSchedule("hourly", again);

      expect(ticks.map((tick) => tick.slot)).toEqual([slot - HOUR]);
      expect((await store.count({}, 9)).count).toBe(2);
    });

    test("an edit while a tick is under way is not overwritten", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db);
      const other = await db.another();
      const changed = newSchedule({ cron: "30 * * * *", job: { type: "new", lane: "fast" } });

      const [ticks, saving] = await Promise.all([
        store.tickSchedule("hourly", decide),
        other.saveSchedule(changed, { revision: 1, by: null }, firstSlot),
      ]);

      expect(saving).toBe("saved");
      expect(ticks.length).toBeLessThanOrEqual(1);
      expect(await store.schedule("hourly")).toMatchObject({
        cron: "30 * * * *",
        nextSlot: firstSlot(changed, clock.now()),
      });
    });

    test("stores the missed slots as one tick, and makes up for the newest", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = await saved(db, { missedMax: 2 });
      await clock.advance(5 * HOUR);

      const ticks = await store.tickSchedule("hourly", decide);

      expect(await store.scheduleTicks("hourly", { limit: 9 })).toEqual(ticks.toReversed());
      const [lost, ...made] = ticks;
      expect(lost).toEqual({
        slot: first + 2 * HOUR,
        since: first,
        outcome: "missed",
        job: null,
        at: clock.now(),
      });
      expect(made.map(({ slot, outcome }) => [slot, outcome])).toEqual(
        [3, 4, 5].map((n) => [first + n * HOUR, "made"]),
      );
      // They run in the order of their slots.
      const claimed = [];
      for (const _ of made) claimed.push((await takeOne(store)).job.id);
      expect(claimed).toEqual(made.map(({ job }) => job));
    });

    test("all slots missed: the next slot moves on without a job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = await saved(db, { missedMax: 0 });
      await clock.advance(HOUR + 10 * 60_000);

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { outcome: "missed", since: first, slot: first + HOUR },
      ]);
      expect(await store.schedule("hourly")).toMatchObject({
        lastSlot: first + HOUR,
        lastJob: null,
        nextSlot: first + 2 * HOUR,
      });
      expect((await store.count({}, 9)).count).toBe(0);
    });

    test("a slot whose time is over for ever ends the schedule", async () => {
      await using db = await open();
      const slot = await saved(db, { endsAt: db.clock.now() });

      await db.store.tickSchedule("hourly", decide);

      expect(await db.store.schedule("hourly")).toMatchObject({ nextSlot: null, lastSlot: slot });
      expect(await db.store.tickSchedule("hourly", decide)).toEqual([]);
    });

    test("the job is due after its jitter", async () => {
      await using db = await open();
      const slot = await saved(db, { jitterMs: 2 * HOUR, name: "spread" });

      const [tick] = await db.store.tickSchedule("spread", decide);

      const runAt = slot + slotDelay("spread", slot, 2 * HOUR);
      expect(await db.store.get(tick!.job!)).toMatchObject({ runAt, state: "scheduled" });
    });

    test("queue: a slot makes its job while the one before is open", async () => {
      await using db = await open();
      await saved(db, { overlap: "queue" });

      for (let n = 0; n < 3; n += 1) {
        expect(await db.store.tickSchedule("hourly", decide)).toMatchObject([{ outcome: "made" }]);
        await db.clock.advance(HOUR);
      }
      expect((await db.store.count({}, 9)).count).toBe(3);
    });

    test("skip: a slot makes no job while the one before is open", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db, { overlap: "skip" });
      const tick = async () => {
        const ticks = await store.tickSchedule("hourly", decide);
        await clock.advance(HOUR);
        return ticks;
      };

      expect(await tick()).toMatchObject([{ outcome: "made" }]);
      expect(await tick()).toMatchObject([{ outcome: "skipped", job: null }]);
      const run = await takeOne(store);
      expect(await tick()).toMatchObject([{ outcome: "skipped" }]);
      await settleAll(store, run, completed());
      expect(await tick()).toMatchObject([{ outcome: "made" }]);
    });

    test("skip: of several slots that are due at once, the first makes its job", async () => {
      await using db = await open();
      await saved(db, { overlap: "skip", missedMax: 9 });
      await db.clock.advance(2 * HOUR);

      const ticks = await db.store.tickSchedule("hourly", decide);

      expect(ticks.map(({ outcome }) => outcome)).toEqual(["made", "skipped", "skipped"]);
    });

    test("replace: a waiting job is cancelled, and a running one is asked to stop", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db, { overlap: "replace" });
      const [first] = await store.tickSchedule("hourly", decide);
      await clock.advance(HOUR);

      const [second] = await store.tickSchedule("hourly", decide);

      expect(await store.get(first!.job!)).toMatchObject({ state: "cancelled" });
      const [run] = await store.attempts(first!.job!);
      expect(run?.reason).toBe(`replaced by ${second!.job} of the schedule hourly`);
      const running = await takeOne(store);
      expect(running.job.id).toBe(second!.job);
      await clock.advance(HOUR);
      await store.tickSchedule("hourly", decide);
      const renewal = await store.renew(running.worker, 30_000);
      expect(renewal).toMatchObject({ cancel: [{ key: running.job.key }] });
    });

    test("replace: of several slots that are due at once, the last makes its job", async () => {
      await using db = await open();
      const slot = await saved(db, { overlap: "replace", missedMax: 9 });
      await db.clock.advance(2 * HOUR);

      const ticks = await db.store.tickSchedule("hourly", decide);

      expect(ticks.map((tick) => [tick.slot, tick.outcome])).toEqual([
        [slot, "replaced"],
        [slot + HOUR, "replaced"],
        [slot + 2 * HOUR, "made"],
      ]);
      expect((await db.store.count({}, 9)).count).toBe(1);
    });

    test("a dedup key that another job holds makes a duplicate", async () => {
      await using db = await open();
      const { store, clock } = db;
      const dedup = { key: "one", onConflict: "skip" } as const;
      await saved(db, { job: { dedup } });
      const [first] = await store.tickSchedule("hourly", decide);
      await clock.advance(HOUR);

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { outcome: "duplicate", job: first!.job },
      ]);
      expect((await store.count({}, 9)).count).toBe(1);
    });

    test("a job that the database refuses stops no schedule", async () => {
      await using db = await open();
      const { store } = db;
      const slot = await saved(db, { job: { concurrencyKey: "x".repeat(9_000) } });

      expect(await store.tickSchedule("hourly", decide)).toMatchObject([
        { outcome: "refused", job: null },
      ]);
      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: slot + HOUR });
    });

    test("an error of the decision changes nothing", async () => {
      await using db = await open();
      const slot = await saved(db);

      const failing = db.store.tickSchedule("hourly", () => {
        throw new Error("no zone");
      });

      await expect(failing).rejects.toThrow("no zone");
      expect(await db.store.schedule("hourly")).toMatchObject({ nextSlot: slot });
    });
  });

  describe("scheduleTicks", () => {
    test("are the newest 100, newest first, page by page", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = await saved(db, { missedMax: 1_000 });
      await store.saveSchedule(newSchedule({ name: "other" }), NEW, firstSlot);
      await store.runSchedule("other", () => newJob());
      await clock.advance(150 * HOUR);
      await store.tickSchedule("hourly", decide);

      const newest = await store.scheduleTicks("hourly", { limit: 1_000 });
      expect(newest).toHaveLength(100);
      expect(newest[0]).toMatchObject({ slot: first + 150 * HOUR });
      const slots = (ticks: readonly { slot: number }[]) => ticks.map(({ slot }) => slot);
      const page = await store.scheduleTicks("hourly", { limit: 2, before: first + 149 * HOUR });
      expect(slots(page)).toEqual([first + 148 * HOUR, first + 147 * HOUR]);
      expect(await store.scheduleTicks("other", { limit: 9 })).toHaveLength(1);
    });
  });

  describe("runSchedule", () => {
    test("makes a job outside the slots, and leaves the next slot", async () => {
      await using db = await open();
      const { store, clock } = db;
      const slot = await saved(db, { overlap: "skip", job: { type: "report" } });
      const make = (schedule: ScheduleRecord): NewJob => ({ ...jobOf(schedule, 0) });

      const answers = [
        await store.runSchedule("hourly", make),
        await store.runSchedule("hourly", make),
      ];

      expect(answers).toMatchObject([{ status: "created" }, { status: "created" }]);
      const ticks = await store.scheduleTicks("hourly", { limit: 9 });
      expect(ticks).toMatchObject([{ outcome: "run_now" }, { outcome: "run_now" }]);
      for (const tick of ticks) expect(tick.slot % 1_000).not.toBe(0);
      expect(ticks.map(({ job }) => job)).toEqual(
        answers.map((answer) => "id" in answer && answer.id).toReversed(),
      );
      expect(await store.list({ type: "report" }, { limit: 9 })).toMatchObject({
        jobs: [{ state: "queued" }, { state: "queued" }],
      });
      expect(await store.schedule("hourly")).toMatchObject({ nextSlot: slot, lastJob: null });
      // The jobs of people do not count as the job of the slot before.
      expect(await store.tickSchedule("hourly", decide)).toMatchObject([{ outcome: "made" }]);
      expect(clock.now()).toBeGreaterThan(slot - 1);
    });

    test("lists all jobs that were made at the same time", async () => {
      await using db = await open();
      const { store, clock } = db;
      await saved(db);
      await clock.advance(1_000 - (clock.now() % 1_000) - 5);

      const runs = Array.from({ length: 30 }, () => store.runSchedule("hourly", () => newJob()));
      const made = (await Promise.all(runs)).map((answer) => "id" in answer && answer.id);

      const ticks = await store.scheduleTicks("hourly", { limit: 99 });
      expect(ticks).toHaveLength(30);
      expect(new Set(ticks.map(({ job }) => job))).toEqual(new Set(made));
      for (const { slot } of ticks) expect(slot % 1_000).not.toBe(0);
    });

    test("the same id again makes no second job", async () => {
      await using db = await open();
      await saved(db);
      const id = jobId();
      const make = (schedule: ScheduleRecord): NewJob => ({ ...jobOf(schedule, 0), id });

      await db.store.runSchedule("hourly", make);

      expect(await db.store.runSchedule("hourly", make)).toMatchObject({ status: "existing", id });
      expect(await db.store.scheduleTicks("hourly", { limit: 9 })).toHaveLength(1);
    });

    test("runs a paused schedule, and says when it is unknown", async () => {
      await using db = await open();
      await saved(db);
      await db.store.pauseSchedule("hourly", { reason: "a bug", by: null });

      expect(await db.store.runSchedule("hourly", () => newJob())).toMatchObject({
        status: "created",
      });
      expect(await db.store.runSchedule("unknown", () => newJob())).toEqual({ status: "unknown" });
    });
  });
}
