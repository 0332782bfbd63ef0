/** How long finished jobs are kept: the option `retention` of `work`, over the preset. */
import { durationMs, formatDuration } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { isFinal, STATES, type FinalState } from "../../core/job.ts";
import type { RetentionPreset } from "../../core/presets.ts";
import type { RetentionOptions, RetentionPeriods } from "../../api/retention.ts";
import {
  aFunction,
  aName,
  anObject,
  isDuration,
  isObject,
  must,
  type Rule,
} from "../../api/rules.ts";
import type { Periods, Retention } from "../../store/types/records.ts";

/** Forever, as a number that both databases can add to a time. */
export const NEVER_MS: number = 100 * 365 * 24 * 3_600_000;
const FINAL_STATES: readonly FinalState[] = STATES.filter(isFinal);

export interface RetentionPlan extends Pick<RetentionOptions, "onStale" | "onDelete"> {
  /** When jobs are marked as stale: never, if they are removed at the same time without a hook. */
  readonly stale: Periods;
  /** When jobs and other data are removed. */
  readonly removed: Retention;
  /** True if some jobs are stale before they are removed. */
  readonly hasTwoStages: boolean;
  /** All periods after which jobs are removed; empty if no jobs are removed. */
  readonly keptMs: readonly number[];
}

const aPeriod = must((value) => isDuration(value, { minMs: 0 }), 'a duration such as "7d"');
const PERIODS: Readonly<Record<string, Rule>> = { staleAfter: aPeriod, deleteAfter: aPeriod };
const somePeriods = anObject(
  { required: {}, optional: PERIODS },
  'an object such as { staleAfter: "7d" }',
);
const byState = Object.fromEntries(FINAL_STATES.map((state) => [state, somePeriods]));

const someOptions = anObject(
  {
    required: {},
    optional: {
      ...PERIODS,
      states: anObject({ required: {}, optional: byState }, "an object with periods by state"),
      types: periodsByType,
      onStale: aFunction,
      onDelete: aFunction,
    },
  },
  'an object such as { staleAfter: "7d", deleteAfter: "30d" }, or false',
);

/** The rule of the option `retention`. */
export const RETENTION_RULE: Rule = (value, place) =>
  value === false ? null : someOptions(value, place);

function periodsByType(value: unknown, place: string): ReturnType<Rule> {
  if (!isObject(value)) return { place, problem: "must be an object with periods by type" };
  for (const [type, periods] of Object.entries(value)) {
    const mismatch = aName(type, `${place}: a type`) ?? somePeriods(periods, `${place}.${type}`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** Throws OPTION_INVALID if jobs would be removed before they are stale. */
export function retentionOf(
  options: RetentionOptions | false,
  preset: RetentionPreset,
): RetentionPlan {
  if (options === false) return keptForever(preset);
  const { states = {}, types = {}, onStale, onDelete } = options;
  const general = stagesByState((state) => {
    const fromPreset = { staleMs: preset.finishedMs[state], deleteMs: preset.finishedMs[state] };
    const forAll = narrowed({ ...fromPreset, isExplicit: false }, options, "retention");
    return narrowed(forAll, states[state] ?? {}, `retention.states.${state}`);
  });
  const ofTypes = Object.entries(types).map(([type, periods]) => {
    const place = `retention.types.${type}`;
    return [type, stagesByState((state) => narrowed(general[state], periods, place))] as const;
  });
  const all = [general, ...ofTypes.map(([, stages]) => stages)].flatMap(Object.values<Stages>);
  return {
    stale: periodsOf(general, ofTypes, ({ staleMs, deleteMs }) =>
      staleMs < deleteMs || onStale !== undefined ? staleMs : NEVER_MS,
    ),
    removed: { ...preset, ...periodsOf(general, ofTypes, ({ deleteMs }) => deleteMs) },
    hasTwoStages: all.some(({ staleMs, deleteMs }) => staleMs < deleteMs),
    keptMs: all.map(({ deleteMs }) => deleteMs),
    ...(onStale === undefined ? {} : { onStale }),
    ...(onDelete === undefined ? {} : { onDelete }),
  };
}

/** Only data that is no job is removed. */
function keptForever(preset: RetentionPreset): RetentionPlan {
  const never = { finishedMs: stagesByState(() => NEVER_MS) };
  return { stale: never, removed: { ...preset, ...never }, hasTwoStages: false, keptMs: [] };
}

/** Periods from the end of a job. */
interface Stages {
  readonly staleMs: number;
  readonly deleteMs: number;
  /** False: `staleMs` comes from the preset, and an earlier removal may shorten it. */
  readonly isExplicit: boolean;
}

type ByState<Value> = Readonly<Record<FinalState, Value>>;

function narrowed(wide: Stages, given: RetentionPeriods, place: string): Stages {
  const { staleAfter, deleteAfter } = given;
  if (staleAfter === undefined && deleteAfter === undefined) return wide;
  const isTold = staleAfter !== undefined || wide.isExplicit;
  const staleMs = staleAfter === undefined ? wide.staleMs : durationMs(staleAfter, "staleAfter");
  const deleteMs = deleteAfter === undefined ? staleMs : durationMs(deleteAfter, "deleteAfter");
  if (deleteMs >= staleMs) return { staleMs, deleteMs, isExplicit: isTold };
  if (!isTold) return { staleMs: deleteMs, deleteMs, isExplicit: isTold };
  const [early, late] = [deleteMs, staleMs].map(formatDuration);
  throw new MillraceError(
    "OPTION_INVALID",
    `work: ${place}: deleteAfter is ${early}, before staleAfter, which is ${late}`,
    { details: { option: `${place}.deleteAfter` } },
  );
}

function stagesByState<Value>(valueOf: (state: FinalState) => Value): ByState<Value> {
  return {
    completed: valueOf("completed"),
    completed_with_errors: valueOf("completed_with_errors"),
    failed: valueOf("failed"),
    cancelled: valueOf("cancelled"),
  };
}

function periodsOf(
  general: ByState<Stages>,
  types: readonly (readonly [string, ByState<Stages>])[],
  lengthOf: (stages: Stages) => number,
): Periods {
  const lengths = (stages: ByState<Stages>): ByState<number> =>
    stagesByState((state) => lengthOf(stages[state]));
  const finishedMs = lengths(general);
  if (types.length === 0) return { finishedMs };
  return {
    finishedMs,
    types: Object.fromEntries(types.map(([type, stages]) => [type, lengths(stages)])),
  };
}
