/** Jobs that are enqueued by a cron expression. */
import type { ActedBy } from "./control/audit.ts";
import { cronFault } from "../core/cron/cron.ts";
import { JITTER_MS_MAX, MISSED_MAX, shortestInterval } from "../core/cron/plan.ts";
import { isTimeZone } from "../core/cron/time-zone.ts";
import { durationMs, instantMs, type Duration, type Instant } from "../core/duration.ts";
import { shown } from "../core/text.ts";
import type { JobContract } from "./contract.ts";
import { isContract } from "./definition.ts";
import type { AnyContract } from "./definition.ts";
import type { Enqueued, EnqueueOptions, PayloadArgs } from "./enqueue.ts";
import { aName, anObject, aWholeNumber, insist, isObject, must, oneOf } from "./rules.ts";
import type { Rule } from "./rules.ts";
import { SETTING_RULES } from "./settings.ts";

/** A job that is enqueued at every tick of its cron expression, for `mill.work({ schedules })`. */
export interface Schedule {
  readonly name: string;
  readonly when: Timing;
  readonly contract: AnyContract;
  readonly payload: unknown;
  readonly options: EnqueueOptions;
}

export interface Timing {
  /**
   * Minute, hour, day of the month, month and day of the week, or a name such as `@daily`. With six
   * fields, the first one is the second. If both days are restricted, either of them is enough. An
   * expression that cannot be read, or whose day never comes, is refused.
   */
  readonly cron: string;
  /**
   * An IANA name such as `Europe/Berlin`. Default: `UTC`. With fixed hours, every local time makes
   * one job on the days on which the clocks change: a skipped local time at the first instant after
   * the gap, and a repeated one the first time. With `*` in the hour, elapsed time counts: a
   * skipped local time is left out, and a repeated one makes a job both times.
   */
  readonly timeZone?: string;
  /**
   * The missed ticks that are made up for after a time without workers: none, the last, or the
   * newest ones, at most `all`. A tick is missed when it is more than a minute late. Default:
   * `once`.
   */
  readonly missed?: "skip" | "once" | { readonly all: number };
  /**
   * What a tick does while the job of the previous tick is not final. `queue`, the default, makes
   * its job all the same. `skip` makes none. `replace` cancels the previous job, also if it runs.
   */
  readonly overlap?: "skip" | "queue" | "replace";
  /**
   * The job of a tick is due up to this much later than the tick. How much follows from the name
   * and the tick, so that schedules of the same time do not start together. Default: 0, at most a
   * day, and with `overlap: "replace"` less than the time between two ticks.
   */
  readonly jitter?: Duration;
  /** There is no tick before this instant. A text needs an offset, or `Z`. */
  readonly start?: Instant;
  /** There is no tick after this instant. A text needs an offset, or `Z`. */
  readonly end?: Instant;
}

/** What `mill.schedules.update` changes. A start or an end of null is removed. */
export interface TimingChange extends Partial<Omit<Timing, "start" | "end">> {
  readonly start?: Instant | null;
  readonly end?: Instant | null;
}

export interface Schedules {
  /** Lists schedules by name. */
  list(filter?: ScheduleFilter): Promise<readonly ScheduleView[]>;
  /** Returns one schedule. Throws SCHEDULE_NOT_FOUND. */
  get(name: string): Promise<ScheduleView>;
  /**
   * Stores a schedule that no code declares. Throws SCHEDULE_EXISTS if the name is taken, and
   * SCHEDULES_TOO_MANY beyond 1,000 such schedules, or 100 by the mill of a tenant. Workers of any
   * release make its jobs; a worker that knows the type runs them.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, schedule } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const report = defineJob({ type: "report" });
   *
   * await using test = await createTestMill();
   * const { schedules } = test.mill;
   * const when = { cron: "30 6 * * mon-fri", timeZone: "Europe/Berlin" };
   * await schedules.create(schedule("report", when, report), { actor: "ada" });
   *
   * const { description, nextRuns } = await schedules.get("report");
   * assert.equal(description, "every Monday to Friday at 06:30 Europe/Berlin");
   * assert.equal(nextRuns.length, 5);
   *
   * await schedules.pause("report", "the bank is closed", { actor: "ada" });
   * assert.deepEqual((await schedules.get("report")).nextRuns, []);
   * ```
   */
  create(schedule: Schedule, by?: ActedBy): Promise<ScheduleView>;
  /**
   * Changes the time of a schedule; what is not named stays, and a start or an end of null is
   * removed. A schedule that code declares is refused with SCHEDULE_OWNED_BY_CODE.
   */
  update(name: string, when: TimingChange, by?: ActedBy): Promise<ScheduleView>;
  /** Pauses a schedule, also one of code. A pause survives deploys. */
  pause(name: string, reason: string, by?: { actor: string }): Promise<void>;
  /**
   * Ends a pause. The ticks of the pause are left out, for every `missed`. Answers whether
   * there was a pause.
   */
  resume(name: string, by?: ActedBy): Promise<{ readonly wasPaused: boolean }>;
  /**
   * Enqueues the job of a schedule now, beside its ticks, also during a pause. A call with an
   * idempotency key that was used before answers the same job, with `created: false`.
   */
  runNow(name: string, options?: { idempotencyKey?: string } & ActedBy): Promise<Enqueued<unknown>>;
  /**
   * Removes a schedule. A schedule that a living worker declares is refused with
   * SCHEDULE_OWNED_BY_CODE.
   */
  remove(name: string, by?: ActedBy): Promise<void>;
  /** What came of the newest ticks, newest first. The last 100 of each schedule are kept. */
  history(name: string, page?: TickPage): Promise<readonly TickView[]>;
}

export interface ScheduleFilter {
  tenant?: string;
  /** The name of the last schedule of the previous page. */
  after?: string;
  /** Default 50, at most 1,000. */
  limit?: number;
}

export interface TickPage {
  /** Only ticks before this one: the `slot` of the last tick of the previous page. */
  before?: Date;
  /** Default 50, at most 100. */
  limit?: number;
}

export interface ScheduleView {
  readonly name: string;
  /** Code declares the schedule, or an operator has made it. */
  readonly owner: "code" | "operator";
  /** When it is due, in English. */
  readonly description: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly missed: "skip" | "once" | { readonly all: number };
  readonly overlap: "skip" | "queue" | "replace";
  readonly jitterMs: number;
  readonly start: Date | null;
  readonly end: Date | null;
  /** The type, tenant and lane of its jobs. */
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  /** The next five ticks; none in a pause, or while no worker declares a schedule of code. */
  readonly nextRuns: readonly Date[];
  /** The last tick, with any outcome, and the last job. */
  readonly lastTick: Date | null;
  readonly lastJobId: string | null;
  readonly pausedAt: Date | null;
  readonly pausedBy: string | null;
  readonly pauseReason: string | null;
  /** False: no worker has declared this schedule of code for five minutes, so it makes no jobs. */
  readonly isDeclared: boolean;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What came of one tick. */
export interface TickView {
  readonly slot: Date;
  /** For `missed`: the first of the missed ticks, of which `slot` is the last. */
  readonly since: Date | null;
  /**
   * `made`: a job was enqueued. `skipped`: the job of the previous tick was not final. `replaced`:
   * a later tick came at the same time. `missed`: the tick was late and was not made up for.
   * `duplicate`: another job holds the dedup key. `refused`: the database refused the job.
   * `intake_closed`: the intake of the job was closed; the tick is not made up for. `over_quota`:
   * the same for the quota of the tenant. `run_now`: a person asked for it.
   */
  readonly outcome:
    | "made"
    | "skipped"
    | "replaced"
    | "missed"
    | "duplicate"
    | "refused"
    | "intake_closed"
    | "over_quota"
    | "run_now";
  readonly jobId: string | null;
  readonly at: Date;
}

/**
 * Declares when a job is enqueued. Each tick makes exactly one job, with any number of processes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { defineJob, schedule } from "millrace";
 *
 * const cleanup = defineJob({ type: "cleanup" }).run(() => {});
 * const nightly = schedule("nightly cleanup", { cron: "0 3 * * *", missed: "once" }, cleanup);
 *
 * assert.equal(nightly.name, "nightly cleanup");
 * assert.equal(nightly.contract.type, "cleanup");
 * ```
 */
export function schedule<Input>(
  name: string,
  when: Timing,
  job: JobContract<string, Input, any>,
  ...args: PayloadArgs<NoInfer<Input>>
): Schedule {
  insist("schedule", aName, name, "name");
  const subject = `schedule ${shown(name)}`;
  insist(subject, TIMING_RULE, when, "when");
  insist(subject, must(isContract, "made with defineJob"), job, "the job");
  const [payload, options = {}] = args;
  for (const option of FOR_ONE_JOB) {
    insist(subject, forOneJob, options[option], `options.${option}`);
  }
  insist(subject, noTx, options.tx, "options.tx");
  const { priority = "normal", maxAttempts = 1 } = options;
  insist(subject, SETTING_RULES.priority, priority, "options.priority");
  insist(subject, SETTING_RULES.maxAttempts, maxAttempts, "options.maxAttempts");
  return Object.freeze({ name, when: frozenTiming(when), contract: job, payload, options });
}

/** True for a value of {@link schedule}, also of another installed copy of the package. */
export function isSchedule(value: unknown): value is Schedule {
  return isObject(value) && isContract(value["contract"]) && isObject(value["when"]);
}

const noTx = must(
  (value) => value === undefined,
  "omitted: no transaction is open when a tick enqueues its job",
);

/** Options that concern one job, and would be the same for the job of every tick. */
const FOR_ONE_JOB = ["runAt", "delay", "after", "onFailed", "idempotencyKey"] as const;
const forOneJob = must(
  (value) => value === undefined,
  "omitted: it would be the same for the job of every tick",
);

const aMissedPolicy: Rule = (value, place) =>
  isObject(value) ? aMissedLimit(value, place) : aMissedWord(value, place);
const aMissedLimit = anObject(
  { required: { all: aWholeNumber({ min: 1, max: MISSED_MAX }) }, optional: {} },
  "an object such as { all: 10 }",
);
const aMissedWord = must(
  (value) => value === "skip" || value === "once",
  '"skip", "once" or an object such as { all: 10 }',
);

const A_MOMENT = "a Date, milliseconds since 1970, or ISO text with an offset";

/** The options of a time, for `schedule` and `mill.schedules.update`. */
export const TIMING_RULE: Rule = (value, place) =>
  TIMING(value, place) ?? anOrder(value, place) ?? aShortJitter(value, place);

const TIMING = anObject(
  {
    required: {
      cron: aCronExpression,
    },
    optional: {
      timeZone: must(isTimeZone, 'an IANA time zone such as "Europe/Berlin"'),
      missed: aMissedPolicy,
      overlap: oneOf("skip", "queue", "replace"),
      jitter: must(isJitter, 'a duration such as "5m", at most a day'),
      start: must(isMoment, A_MOMENT),
      end: must(isMoment, A_MOMENT),
    },
  },
  'an object such as { cron: "0 3 * * *" }',
);

function aCronExpression(value: unknown, place: string): ReturnType<Rule> {
  const expected = 'a cron expression such as "0 3 * * *"';
  if (typeof value !== "string" || value.trim() === "") {
    return must(() => false, expected)(value, place);
  }
  const fault = cronFault(value);
  if (fault === null) return null;
  return { place, problem: `must be ${expected}, not ${shown(value)}: ${fault}` };
}

/** The start comes before the end. */
function anOrder(value: unknown, place: string): ReturnType<Rule> {
  const { start, end }: Partial<Timing> = isObject(value) ? value : {};
  if (start === undefined || end === undefined) return null;
  if (instantMs(start, "start") <= instantMs(end, "end")) return null;
  return { place: place === "" ? "end" : `${place}.end`, problem: "must not be before the start" };
}

/** With `replace`, the next tick would cancel the job before it is due. */
function aShortJitter(value: unknown, place: string): ReturnType<Rule> {
  const {
    cron = "",
    timeZone = "UTC",
    overlap,
    jitter = 0,
  }: Partial<Timing> = isObject(value) ? value : {};
  const jitterMs = durationMs(jitter, "jitter");
  if (overlap !== "replace" || jitterMs === 0) return null;
  const intervalMs = shortestInterval({ cron: cron.trim(), timeZone });
  if (jitterMs < intervalMs) return null;
  const cause = 'with overlap "replace", the next tick would cancel the job before it is due';
  const most = `the time between two ticks, ${intervalMs / 1_000} s`;
  const problem = `must be shorter than ${most}: ${cause}`;
  return { place: place === "" ? "jitter" : `${place}.jitter`, problem };
}

function isJitter(value: unknown): boolean {
  const bounded = (given: any): number => JITTER_MS_MAX - durationMs(given, "");
  return reads(bounded)(value);
}

/** A date alone would be midnight UTC, and not in the time zone of the schedule. */
function isMoment(value: unknown): boolean {
  const hasOffset = typeof value !== "string" || /(?:Z|[+-]\d{2}:\d{2})$/.test(value);
  return hasOffset && reads(instantMs)(value);
}

function reads(parse: (value: any, name: string) => number): (value: unknown) => boolean {
  return (value) => {
    try {
      return parse(value, "") >= 0;
    } catch {
      return false;
    }
  };
}

/** A frozen copy, so that later changes of the caller's object have no effect. */
function frozenTiming(when: Timing): Timing {
  const { missed, ...plain } = when;
  if (missed === undefined) return Object.freeze(plain);
  return Object.freeze({
    ...plain,
    missed: isObject(missed) ? Object.freeze({ ...missed }) : missed,
  });
}
