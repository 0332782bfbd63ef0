/** Jobs that are enqueued by a cron expression. */
import { cronFault } from "../core/cron.ts";
import { shown } from "../core/text.ts";
import type { JobContract } from "./contract.ts";
import { isContract } from "./definition.ts";
import type { AnyContract } from "./definition.ts";
import type { EnqueueOptions, PayloadArgs } from "./enqueue.ts";
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
   * Minute, hour, day of the month, month and day of the week, or a name such as `@daily`. An
   * expression that cannot be read is refused.
   */
  readonly cron: string;
  /** An IANA name such as `Europe/Berlin`. */
  readonly timeZone?: string;
  /**
   * The ticks that are made up for after a time without workers: none, the last, or at most `all`.
   */
  readonly missed?: "skip" | "once" | { readonly all: number };
  /** What a tick does while the job of the previous tick is not final. */
  readonly overlap?: "skip" | "queue" | "replace";
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

const aMissedPolicy: Rule = (value, place) =>
  isObject(value) ? aMissedLimit(value, place) : aMissedWord(value, place);
const aMissedLimit = anObject(
  { required: { all: aWholeNumber({ min: 1 }) }, optional: {} },
  "an object such as { all: 10 }",
);
const aMissedWord = must(
  (value) => value === "skip" || value === "once",
  '"skip", "once" or an object such as { all: 10 }',
);

const TIMING_RULE = anObject(
  {
    required: {
      cron: aCronExpression,
    },
    optional: {
      timeZone: must(isTimeZone, 'an IANA time zone such as "Europe/Berlin"'),
      missed: aMissedPolicy,
      overlap: oneOf("skip", "queue", "replace"),
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

function isTimeZone(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
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
