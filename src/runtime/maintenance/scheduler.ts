/**
 * Makes the jobs of schedules when their slots are due, and sleeps until the next slot. A worker
 * ticks the schedules that it declares and those of operators. All workers do so: the store makes
 * each slot once. A slot that came sooner by the change of an operator, and whose wake-up was lost,
 * is found by the promoter's poll.
 */
import { firstSlot, planTicks } from "../../core/cron/plan.ts";
import type { JobId } from "../../core/job.ts";
import type { PayloadGate } from "../../jobs/payloads/payload-gate.ts";
import { acceptedSlotJob, jobOfSlot } from "../../jobs/schedule-spec.ts";
import type { ScheduleRecord, ScheduleSpec, TickDecision } from "../../store/types/schedules.ts";
import type { Ticker } from "../ticker.ts";
import { makeDuty, REST_MS, type DutyParts } from "./duty.ts";

/** The schedules that are ticked before the scheduler looks again. */
const SCHEDULES_PER_TICK = 100;
/** The schedules that are ticked at the same time. */
const TICKS_AT_ONCE = 4;
/** How often the worker says that it still declares its schedules. */
const CONFIRM_MS = 60_000;

export interface SchedulerParts extends Pick<DutyParts, "store" | "clock" | "logger" | "pollMs"> {
  /** What this worker declares; a schema may check a payload asynchronously. */
  readonly schedules: readonly (ScheduleSpec | Promise<ScheduleSpec>)[];
  readonly newId: () => JobId;
  /** The rules for the payloads of jobs, also of schedules that are older than the rules. */
  readonly payloads: PayloadGate | null;
}

export class Scheduler {
  readonly #parts: SchedulerParts;
  readonly #ticker: Ticker;
  #declared: readonly ScheduleSpec[] | null = null;
  #confirmedAt = 0;
  #lookedAt = -Infinity;
  #hinted = false;
  #stopHint = (): void => {};

  constructor(parts: SchedulerParts) {
    this.#parts = parts;
    this.#ticker = makeDuty(parts, parts.pollMs, () => this.#tick());
  }

  wake(): void {
    this.#ticker.wake();
  }

  /** Something has changed, perhaps a schedule. Looks at most once per poll. */
  hint(): void {
    const { clock, pollMs } = this.#parts;
    const sinceMs = clock.monotonic() - this.#lookedAt;
    if (sinceMs >= pollMs) this.#ticker.wake();
    if (sinceMs >= pollMs || this.#hinted) return;
    this.#hinted = true;
    this.#stopHint = clock.after(pollMs - sinceMs, () => this.#ticker.wake());
  }

  async stop(): Promise<void> {
    this.#stopHint();
    await this.#ticker.stop();
  }

  async #tick(): Promise<number> {
    const { store, clock, pollMs } = this.#parts;
    const declared = await this.#declare();
    this.#hinted = false;
    this.#lookedAt = clock.monotonic();
    const { names, nextMs } = await store.dueSchedules(declared, SCHEDULES_PER_TICK);
    if (!(await this.#tickAll(names))) return pollMs;
    if (names.length > 0) return 0;
    return Math.min(nextMs ?? REST_MS, REST_MS);
  }

  /**
   * Once, and then only a sign of life: another release may have declared a change since. A
   * schedule that was removed while this worker was not heard is declared again.
   */
  async #declare(): Promise<readonly string[]> {
    const { store, clock, schedules } = this.#parts;
    if (this.#declared === null) {
      const specs: ScheduleSpec[] = [];
      for (const spec of schedules) specs.push(await spec);
      await this.#store(specs);
      this.#declared = specs;
      this.#confirmedAt = clock.monotonic();
    }
    const names = this.#declared.map(({ name }) => name);
    const isConfirmed = clock.monotonic() - this.#confirmedAt < CONFIRM_MS;
    if (names.length > 0 && !isConfirmed) {
      const missing = new Set(await store.confirmSchedules(names));
      await this.#store(this.#declared.filter(({ name }) => missing.has(name)));
      this.#confirmedAt = clock.monotonic();
    }
    return names;
  }

  async #store(specs: readonly ScheduleSpec[]): Promise<void> {
    const { store, logger } = this.#parts;
    if (specs.length === 0) return;
    for (const schedule of await store.declareSchedules(specs, firstSlot)) {
      const message = "a schedule of code has replaced one that another tenant had made";
      logger.warn(message, { schedule });
    }
  }

  /** In the order of their slots: the oldest slot of all tenants and of code comes first. */
  async #tickAll(names: readonly string[]): Promise<boolean> {
    const rest = names.values();
    let isDone = true;
    const tickRest = async (): Promise<void> => {
      for (const name of rest) isDone = (await this.#tickOne(name)) && isDone;
    };
    await Promise.all(Array.from({ length: TICKS_AT_ONCE }, tickRest));
    return isDone;
  }

  /** A schedule that fails, for example by its time zone on this host, stops no other. */
  async #tickOne(name: string): Promise<boolean> {
    const { store, logger, newId, payloads } = this.#parts;
    const refuse = (error: unknown): void => {
      logger.error("a payload rule refuses the job of a schedule", { schedule: name, error });
    };
    try {
      await payloads?.refresh();
      const ticks = await store.tickSchedule(name, (schedule, now, ticked) =>
        decide(schedule, { now, ticked, newId, payloads, refuse }),
      );
      for (const { slot, since, outcome } of ticks) {
        const fields = { schedule: name, slot: new Date(slot).toISOString() };
        if (outcome === "refused") logger.error("the store refused the job of a schedule", fields);
        if (outcome === "intake_closed") {
          logger.warn("the intake of a schedule's job is closed; the slot makes no job", fields);
        }
        if (outcome === "over_quota") {
          logger.warn("the tenant of a schedule is over its quota; the slot makes no job", fields);
        }
        if (outcome === "missed" && since !== null) {
          const first = new Date(since).toISOString();
          logger.warn("slots of a schedule were missed", { ...fields, first });
        }
      }
      return true;
    } catch (error) {
      logger.error("cannot make the job of a schedule; trying again", { schedule: name, error });
      return false;
    }
  }
}

interface Present {
  readonly now: number;
  readonly ticked: readonly number[];
  readonly newId: () => JobId;
  readonly payloads: PayloadGate | null;
  readonly refuse: (error: unknown) => void;
}

function decide(
  schedule: ScheduleRecord,
  { now, ticked, newId, payloads, refuse }: Present,
): TickDecision {
  const { slots, missed, nextSlot } = planTicks(schedule, schedule.nextSlot, now, ticked);
  const ticks = slots.map((slot) => ({ slot, job: jobOfSlot(schedule, slot, newId) }));
  try {
    const accepted = ticks.map(({ slot, job }) => ({ slot, job: acceptedSlotJob(job, payloads) }));
    return { ticks: accepted, missed, nextSlot };
  } catch (error) {
    refuse(error);
    return { ticks, missed, nextSlot, isRefused: true };
  }
}
