/** Checks filters of lists: a misspelled filter would list the wrong jobs. */
import { durationMs, instantMs, type Instant } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { STATES, type State } from "../core/job.ts";
import type { JobFilter } from "../api/client.ts";
import type { DeadLetterCountFilter, DeadLetterFilter } from "../api/control/letters.ts";
import type { CountFilter } from "../api/control/job-filter.ts";
import type { LogPage } from "../api/logs.ts";
import type { UnitFilter } from "../api/progress.ts";
import {
  anObject,
  aWholeNumber,
  isObject,
  listOf,
  oneOf,
  type Rule,
  type RuleMismatch,
} from "../api/rules.ts";
import type { DeadLetterQuery } from "../store/types/letters.ts";
import type { ListFilter } from "../store/types/lists.ts";
import { aDelay, aMoment, aTagSet } from "../jobs/enqueue-options.ts";
import { aText, insistOn } from "../jobs/check-text.ts";
import { idOf } from "../jobs/views.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
const TEXT_LENGTH_MAX = 500;
/** A shorter part of a payload matches almost every job. */
const PART_LENGTH_MIN = 3;
const PATHS_MAX = 5;
const PATH_LENGTH_MAX = 200;
/** Phase and key of a unit as JSON in base64. */
const CURSOR_LENGTH_MAX = 4_000;

const PENDING: readonly State[] = ["scheduled", "queued"];

const someText = aText(TEXT_LENGTH_MAX);
const aPath = aText(PATH_LENGTH_MAX);
const aState = oneOf(...STATES, "pending");
const aStatus = oneOf("pending_review", "acknowledged", "reprocessed", "discarded");
const aLimit = aWholeNumber({ min: 1 });

/** Texts by path of the payload. A text may be empty. */
const somePaths: Rule = (value, place) => {
  if (!isObject(value)) return mustBe(place, 'an object such as { "user.id": "42" }');
  const paths = Object.entries(value);
  if (paths.length > PATHS_MAX) return mustBe(place, `an object with up to ${PATHS_MAX} paths`);
  for (const [path, text] of paths) {
    const inPath = aPath(path, `a path of ${place}`);
    if (inPath !== null) return inPath;
    const inText = text === "" ? null : someText(text, `${place}[${JSON.stringify(path)}]`);
    if (inText !== null) return inText;
  }
  return null;
};

function mustBe(place: string, form: string): RuleMismatch {
  return { place, problem: `must be ${form}` };
}

const JOB_FILTERS: Readonly<Record<keyof CountFilter, Rule>> = {
  state: (value, place) => (Array.isArray(value) ? listOf(aState) : aState)(value, place),
  type: someText,
  tenant: someText,
  category: someText,
  lane: someText,
  correlationId: someText,
  parentId: someText,
  tags: aTagSet,
  createdAfter: aMoment,
  createdBefore: aMoment,
  runningLongerThan: aDelay,
  error: someText,
  payload: somePaths,
  text: (value, place) =>
    typeof value === "string" && value.length < PART_LENGTH_MIN
      ? { place, problem: `must have at least ${PART_LENGTH_MIN} characters` }
      : someText(value, place),
};

const LIST_FILTER: Rule = anObject(
  { required: {}, optional: { ...JOB_FILTERS, after: someText, limit: aLimit } },
  'an object such as { state: "failed" }',
);

const COUNT_FILTER: Rule = anObject(
  { required: {}, optional: JOB_FILTERS },
  'an object such as { state: "failed" }',
);

const LETTER_FILTERS: Readonly<Record<keyof DeadLetterCountFilter, Rule>> = {
  status: aStatus,
  type: someText,
  tenant: someText,
  category: someText,
  correlationId: someText,
  cause: someText,
  errorClass: oneOf("transient", "retryable", "non_retryable", "rate_limited"),
  assignedTo: someText,
  createdAfter: aMoment,
  createdBefore: aMoment,
};

const LETTER_FILTER: Rule = anObject(
  { required: {}, optional: { ...LETTER_FILTERS, after: someText, limit: aLimit } },
  'an object such as { status: "pending_review" }',
);

const LETTER_COUNT_FILTER: Rule = anObject(
  { required: {}, optional: LETTER_FILTERS },
  'an object such as { status: "pending_review" }',
);

const UNIT_FILTER: Rule = anObject(
  {
    required: {},
    optional: {
      phase: someText,
      state: oneOf("planned", "running", "completed", "failed"),
      after: aText(CURSOR_LENGTH_MAX),
      limit: aLimit,
    },
  },
  'an object such as { state: "failed" }',
);

const LOG_PAGE: Rule = anObject(
  { required: {}, optional: { after: aWholeNumber({ min: 0 }), limit: aLimit } },
  "an object such as { limit: 100 }",
);

/** A filter and the page to read. */
interface PageRequest<Filter> {
  readonly filter: Filter;
  readonly after: string | undefined;
  readonly limit: number;
}

export function listFilter(given: JobFilter): PageRequest<ListFilter> {
  insistOn("jobs.list", LIST_FILTER, given, "");
  const { after, limit, ...filter } = present(given);
  return { filter: storeFilter(filter), after, limit: pageOf(limit) };
}

export function countFilter(given: CountFilter): ListFilter {
  insistOn("jobs.count", COUNT_FILTER, given, "");
  return storeFilter(present(given));
}

function storeFilter(given: CountFilter): ListFilter {
  const { state, parentId, createdAfter, createdBefore, runningLongerThan, ...rest } = given;
  return {
    ...(runningLongerThan === undefined
      ? {}
      : { runningMs: runningMsOf(runningLongerThan, state) }),
    ...rest,
    ...(state === undefined ? {} : { states: statesOf(state) }),
    ...(parentId === undefined ? {} : { parentId: idOf(parentId) }),
    ...createdRange({ createdAfter, createdBefore }),
  };
}

/** Only running jobs have a present run: with another state, no job could match. */
function runningMsOf(
  runningLongerThan: NonNullable<CountFilter["runningLongerThan"]>,
  state: CountFilter["state"],
): number {
  const states = state === undefined ? [] : statesOf(state);
  if (states.every((each) => each === "running")) {
    return durationMs(runningLongerThan, "runningLongerThan");
  }
  const message = "runningLongerThan lists running jobs: leave state out, or give running alone";
  throw new MillraceError("OPTION_INVALID", message, { details: { option: "state" } });
}

export function deadLetterFilter(given: DeadLetterFilter): PageRequest<DeadLetterQuery> {
  insistOn("deadLetters.list", LETTER_FILTER, given, "");
  const { after, limit, ...filter } = present(given);
  return { filter: letterQuery(filter), after, limit: pageOf(limit) };
}

export function deadLetterCountFilter(given: DeadLetterCountFilter): DeadLetterQuery {
  insistOn("deadLetters.count", LETTER_COUNT_FILTER, given, "");
  return letterQuery(present(given));
}

function letterQuery({
  createdAfter,
  createdBefore,
  ...rest
}: DeadLetterCountFilter): DeadLetterQuery {
  return { ...rest, ...createdRange({ createdAfter, createdBefore }) };
}

function createdRange({
  createdAfter,
  createdBefore,
}: {
  readonly createdAfter: Instant | undefined;
  readonly createdBefore: Instant | undefined;
}): Pick<ListFilter, "createdFrom" | "createdBefore"> {
  return {
    ...(createdAfter === undefined ? {} : { createdFrom: instantMs(createdAfter, "createdAfter") }),
    ...(createdBefore === undefined
      ? {}
      : { createdBefore: instantMs(createdBefore, "createdBefore") }),
  };
}

export function unitFilter(given: UnitFilter): PageRequest<Pick<UnitFilter, "phase" | "state">> {
  insistOn("jobs.units", UNIT_FILTER, given, "");
  const { after, limit, ...filter } = present(given);
  return { filter, after, limit: pageOf(limit) };
}

export function logPage(given: LogPage): { readonly after?: number; readonly limit: number } {
  insistOn("jobs.logs", LOG_PAGE, given, "");
  const { after, limit } = given;
  return { limit: pageOf(limit), ...(after === undefined ? {} : { after }) };
}

/** Drops properties that are `undefined`: callers use them to leave a filter out. */
function present<Filter extends object>(given: Filter): Filter {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A subset of the same pairs.
  return Object.fromEntries(known) as Filter;
}

function statesOf(state: NonNullable<JobFilter["state"]>): readonly State[] {
  const states: readonly (State | "pending")[] = typeof state === "string" ? [state] : state;
  return states.flatMap((each) => (each === "pending" ? PENDING : [each]));
}

function pageOf(limit = PAGE_DEFAULT): number {
  return Math.min(limit, PAGE_MAX);
}
