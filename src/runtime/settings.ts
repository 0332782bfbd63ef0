/** The options of `mill.work`, checked and with all defaults. */
import { insistOn } from "../jobs/check-text.ts";
import { aPreset } from "../jobs/preset-rule.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { defaults, type Preset } from "../core/presets.ts";
import { definitionOf, isContract, type Definition } from "../api/definition.ts";
import { aFunction, aName, anObject, isObject, listOf, must, type Rule } from "../api/rules.ts";
import type { NamedFunctions } from "../api/channels/functions.ts";
import { isSchedule, type Schedule } from "../api/schedule.ts";
import type { AnyJob, WorkOptions } from "../api/worker.ts";
import { DECLARED_MAX } from "../store/roles/schedules.ts";
import { BATCH_MAX } from "../store/store.ts";
import { laneOptionsOf, slotsByLane, type LaneSettings } from "./lane-settings.ts";
import {
  RETENTION_RULE,
  retentionOf,
  type RetentionPlan,
} from "./maintenance/retention-settings.ts";
import type { SignalMode } from "./signals.ts";

/** No interval is shorter than this. */
const INTERVAL_MS_MIN = 50;
const GRACE_MS_DEFAULT = 25_000;
/** Heartbeats also deliver cancel requests, so their interval has a maximum. */
export const BEAT_MS_MAX = 1_000;

export interface WorkerSettings {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly lanes: Readonly<Record<string, number>>;
  readonly laneOptions: Readonly<Record<string, LaneSettings>>;
  readonly tenant: string | undefined;
  readonly deps: unknown;
  readonly appVersion: string | null;
  readonly preset: Preset;
  readonly schedules: readonly Schedule[];
  readonly functions: NamedFunctions;
  readonly retention: RetentionPlan;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly pollMs: number;
  readonly batch: number;
  readonly graceMs: number;
  readonly signals: SignalMode;
}

/** One rule per option. The mapped type makes the compiler demand a rule for a new option. */
const OPTION_RULES: { readonly [K in keyof Required<WorkOptions<readonly AnyJob[]>>]: Rule } = {
  jobs: must(Array.isArray, "a list of jobs"),
  lanes: anything,
  types: anything,
  tenant: anything,
  schedules: someSchedules,
  functions: namedFunctions,
  retention: RETENTION_RULE,
  appVersion: aName,
  preset: aPreset,
  lease: anything,
  poll: anything,
  batch: anything,
  grace: anything,
  signals: must((value) => value === undefined || typeof value === "boolean", "true or false"),
  deps: anything,
};
const OPTIONS = anObject(
  { required: { jobs: OPTION_RULES.jobs }, optional: OPTION_RULES },
  "an object such as { jobs: [email] }",
);

export function settingsOf(options: WorkOptions<readonly AnyJob[]>): WorkerSettings {
  insistOn("work", OPTIONS, options, "");
  const preset = options.preset ?? defaults;
  const leaseMs = interval(options.lease, preset.leaseMs, "lease");
  return {
    definitions: definitionsOf(options),
    lanes: slotsByLane(options.lanes ?? preset.lanes),
    laneOptions: laneOptionsOf(options.lanes ?? preset.lanes),
    tenant: options.tenant,
    deps: options.deps ?? {},
    appVersion: options.appVersion ?? null,
    preset,
    schedules: options.schedules ?? [],
    functions: Object.freeze({ ...options.functions }),
    retention: retentionOf(options.retention ?? {}, preset.retention),
    leaseMs,
    beatMs: Math.min(BEAT_MS_MAX, leaseMs / 3),
    pollMs: interval(options.poll, preset.pollMs, "poll"),
    batch: batchOf(options.batch ?? preset.batchMax),
    graceMs: options.grace === undefined ? GRACE_MS_DEFAULT : durationMs(options.grace, "grace"),
    signals: options.signals ?? "auto",
  };
}

function someSchedules(value: unknown, place: string): ReturnType<Rule> {
  const mismatch = listOf(must(isSchedule, "made with schedule"))(value, place);
  if (mismatch !== null) return mismatch;
  const names = (Array.isArray(value) ? value : []).map(({ name }: Schedule) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) return { place, problem: `has "${twice}" twice` };
  const isTooMany = names.length > DECLARED_MAX;
  return isTooMany ? { place, problem: `must have at most ${DECLARED_MAX} schedules` } : null;
}

/** Functions by name. */
function namedFunctions(value: unknown, place: string): ReturnType<Rule> {
  if (!isObject(value)) {
    return { place, problem: 'must be an object such as { "comms.send": (payload) => … }' };
  }
  for (const [name, named] of Object.entries(value)) {
    const mismatch = aName(name, `a name in ${place}`) ?? aFunction(named, `${place}.${name}`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** For options that are checked where they are read. */
function anything(): null {
  return null;
}

function definitionsOf({ jobs, types }: WorkOptions<readonly AnyJob[]>): Map<string, Definition> {
  const found = new Map<string, Definition>();
  for (const job of jobs) {
    if (!isContract(job)) throw invalid("jobs: every entry must be made with defineJob");
    const definition = definitionOf(job);
    if (definition.body.kind === "none") {
      throw invalid(`jobs: "${definition.type}" has no handler; add .run or .phase`);
    }
    if (found.has(definition.type)) throw invalid(`jobs: "${definition.type}" is listed twice`);
    found.set(definition.type, definition);
  }
  const unknown = types?.find((type) => !found.has(type));
  if (unknown !== undefined) throw invalid(`types: "${unknown}" is not one of the jobs`);
  if (types === undefined) return found;
  return new Map([...found].filter(([type]) => types.includes(type)));
}

function interval(value: Duration | undefined, otherwise: number, name: string): number {
  if (value === undefined) return otherwise;
  const ms = durationMs(value, name);
  if (ms >= INTERVAL_MS_MIN) return ms;
  throw invalid(
    `${name} is ${ms} ms and must be at least ${INTERVAL_MS_MIN} ms; ` +
      `a number without a unit is milliseconds: write "${ms}s" for ${ms} seconds`,
  );
}

function batchOf(batch: number): number {
  if (Number.isSafeInteger(batch) && batch >= 1 && batch <= BATCH_MAX) return batch;
  throw invalid(`batch must be a whole number from 1 to ${BATCH_MAX}`);
}

function invalid(message: string): MillraceError {
  return new MillraceError("OPTION_INVALID", `work: ${message}`);
}
