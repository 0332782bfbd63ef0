/** Checks the options of one enqueue before the store is called. */
import { durationMs, instantMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { parseId } from "../core/ids.ts";
import type { JobId } from "../core/job.ts";
import type { EnqueueOptions } from "../api/enqueue.ts";
import { aName, anObject, isObject, listOf, must, notYet, oneOf, type Rule } from "../api/rules.ts";
import { aVersion, SETTING_RULES } from "../api/settings.ts";
import { AFTER_MAX } from "../store/types/jobs-and-runs.ts";
import { aText, insistOn, isText } from "./check-text.ts";
import { idOf } from "./views.ts";

const KEY_LENGTH_MAX = 500;
const TAGS_MAX = 50;
const NONE: readonly JobId[] = [];

export const aKey: Rule = aText(KEY_LENGTH_MAX);

/** A job of the option `after`; only its id is used. */
const aJob: Rule = must(
  (value) => isObject(value) && typeof value["id"] === "string" && parseId(value["id"]) !== null,
  "a job, such as the result of enqueue",
);
const someJobs: Rule = (value, place) => listOf(aJob)(value, place) ?? notTooMany(value, place);

/** A key alone, or a key with the policy for a conflict. */
function keyOr(...policies: readonly string[]): Rule {
  const whole = anObject(
    { required: { key: aKey, onConflict: oneOf(...policies) }, optional: {} },
    "a text, or { key, onConflict }",
  );
  return (value, place) => (typeof value === "string" ? aKey : whole)(value, place);
}

export const aTagSet: Rule = must(isTags, `up to ${TAGS_MAX} texts by name`);
export const aMoment: Rule = must(reads(instantMs), "a Date, milliseconds since 1970, or ISO text");
export const aDelay: Rule = must(reads(durationMs), 'a duration such as "5m"');

const RULE = anObject(
  {
    required: {},
    optional: {
      tenant: aName,
      runAt: aMoment,
      delay: aDelay,
      priority: SETTING_RULES.priority,
      maxAttempts: SETTING_RULES.maxAttempts,
      correlationId: aName,
      idempotencyKey: keyOr("return-existing", "error"),
      dedupKey: keyOr("skip", "replace", "extend"),
      tags: aTagSet,
      payloadVersion: aVersion,
      webhookUrl: notYet,
      createdBy: aName,
      concurrencyKey: aKey,
      after: someJobs,
      onFailed: oneOf("cancel", "run"),
    },
  },
  "an object",
);

/** Throws OPTION_INVALID with the type, the option and what it must be. */
export function checkOptions(type: string, options: EnqueueOptions): void {
  if (isObject(options) && options["tx"] !== undefined) throw misplacedTx(type);
  insistOn(`enqueue of "${type}"`, RULE, options, "");
  if (options.runAt !== undefined && options.delay !== undefined) {
    throw new MillraceError(
      "OPTION_INVALID",
      `enqueue of "${type}": give runAt or delay, not both`,
    );
  }
  if (options.onFailed !== undefined && options.after === undefined) {
    throw new MillraceError(
      "OPTION_INVALID",
      `enqueue of "${type}": onFailed is about failed jobs of after: give both, or none`,
      { details: { option: "onFailed" } },
    );
  }
}

/** The ids of the dependencies, without duplicates. */
export function afterOf({ after = [] }: EnqueueOptions): readonly JobId[] {
  return after.length === 0 ? NONE : [...new Set(after.map(({ id }) => idOf(id)))];
}

function notTooMany(value: unknown, place: string): ReturnType<Rule> {
  const jobs: readonly { id: string }[] = Array.isArray(value) ? value : [];
  if (jobs.length <= AFTER_MAX) return null;
  const count = new Set(jobs.map(({ id }) => parseId(id))).size;
  if (count <= AFTER_MAX) return null;
  return { place, problem: `must name at most ${AFTER_MAX} jobs, not ${count}` };
}

/** The client removes `tx` from the options before, so here the caller cannot use it. */
function misplacedTx(type: string): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    `enqueue of "${type}": tx is an option of mill.enqueue and mill.enqueueMany; a child of ` +
      "ctx.enqueue is enqueued with the end of its run, not in a transaction of the caller",
    { details: { option: "tx" } },
  );
}

function isTags(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= TAGS_MAX &&
    entries.every(([name, text]) => isText(name, 200) && isText(text, KEY_LENGTH_MAX))
  );
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
