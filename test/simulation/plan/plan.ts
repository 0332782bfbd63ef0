/**
 * What happens in one simulation, drawn from its seed beforehand: which operations and faults, when
 * and with which numbers. A plan is a plain value, so that a failing one can be made smaller.
 *
 * Swarm: each seed allows only some of the actions and gives each of them a weight of its own, so
 * that rare mixtures come up that an even mixture would never show.
 */
import { seededDice } from "../../support/seeded-dice.ts";
import { limitsOf, servicesOf, type LIMIT_KINDS, type SERVICE_KINDS } from "./control-draws.ts";
import { RETENTIONS, type RetentionKind } from "../fleet/retention.ts";

const OPERATIONS = [
  "enqueue",
  "enqueueDelayed",
  "enqueueUrgent",
  "enqueueIdempotent",
  "enqueueDedup",
  "enqueueMany",
  "enqueueInTransaction",
  "enqueueTwice",
  "enqueuePipeline",
  "enqueueKeyed",
  "enqueueMixed",
  "enqueueFlow",
  "enqueueAfter",
  "cancel",
  "cancelNext",
  "retry",
  "fail",
  "release",
  "pause",
  "resume",
  "prune",
  "reprocess",
  "discard",
  "wait",
  "quiet",
  "stopWorker",
  "stats",
  "look",
  "explain",
  "follow",
] as const;

const FAULTS = [
  "crash",
  "freeze",
  "jump",
  "skew",
  "commitFails",
  "commitLost",
  "diskDown",
  "busy",
  "slow",
  "lateRescue",
  "powerLoss",
] as const;

/** How a run of a handler goes. */
export const BEHAVIOURS = [
  "ok",
  "slow",
  "long",
  "throw",
  "transient",
  "fatal",
  "hang",
  "deaf",
  "snooze",
  "kill",
  "child",
  "talk",
  "step",
  "units",
  "family",
] as const;

const SCHEDULE_OPERATIONS = [
  "pauseSchedule",
  "resumeSchedule",
  "runSchedule",
  "saveSchedule",
  "removeSchedule",
] as const;

/** Drawn apart: jobs that wait for a slot are ended, or runs that wait for a lock or have units. */
export type Operation =
  | (typeof OPERATIONS)[number]
  | (typeof SCHEDULE_OPERATIONS)[number]
  | (typeof SERVICE_KINDS)[number]
  | (typeof LIMIT_KINDS)[number]
  | "endWaiting"
  | "endLockWaiter"
  | "cancelUnits";
/**
 * `outage` is drawn apart: no process can write, and perhaps none can read. So is `leap`: slots of
 * schedules are missed. With `serviceDown`, calls of a service fail.
 */
export type Fault = (typeof FAULTS)[number] | "outage" | "leap" | "serviceDown";
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface Action {
  readonly atMs: number;
  readonly kind: Operation | Fault;
  /** Chance, drawn beforehand, each in [0, 1), and short, so that a plan can be written down. */
  readonly dice: readonly number[];
}

export interface Plan {
  readonly seed: number;
  readonly leaseMs: number;
  readonly workers: number;
  /** Calls of `work` in one process. */
  readonly workersPerProcess: number;
  readonly slots: number;
  /** Most jobs in a prefetch. */
  readonly batch: number;
  readonly graceMs: number;
  /** Most jobs that are enqueued together. */
  readonly crowd: number;
  /** Most that a handler takes its time, unless it is stuck. */
  readonly runMs: number;
  /** How often a process polls for changes of others; null when every such wake-up is lost. */
  readonly pollMs: number | null;
  readonly behaviours: readonly Behaviour[];
  readonly retention: RetentionKind;
  /** Workers declare schedules. */
  readonly hasSchedules?: boolean;
  /** Jobs call services that have breakers. */
  readonly hasServices?: boolean;
  /** Operators set limits. */
  readonly hasLimits?: boolean;
  readonly lengthMs: number;
  readonly actions: readonly Action[];
}

const ACTIONS_DEFAULT = 40;
const DICE_PER_ACTION = 12;
const BURST_MS = 400;
const OUTAGE_SHARE = 0.3;
const MARKS_SHARE = 0.3;
const SCHEDULES_SHARE = 0.3;
const SCHEDULE_ACTIONS = 10;
const LEAP_SHARE = 0.5;
const LOCKS_SHARE = 0.3;
const UNITS_SHARE = 0.1;

export function planOf(seed: number, steps: number = ACTIONS_DEFAULT): Plan {
  const source = seededDice(seed * 31 + 17);
  const random = (): number => source.random();
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)]!;
  const lengthMs = pick([2_000, 4_000, 8_000, 20_000]);
  const weights = [
    ...weighted(OPERATIONS, 0.5, random),
    ...weighted(FAULTS, 0.5, random).map(
      ([kind, weight]) => [kind, weight * pick([0.5, 1])] as const,
    ),
    // Without jobs there is nothing to see, and without operations that end them little.
    ["enqueue", 0.5] as const,
    ["enqueueMany", 0.5] as const,
    ["enqueuePipeline", 0.3] as const,
    ["enqueueFlow", 0.1] as const,
    ["enqueueMixed", 0.1] as const,
    ["cancel", 0.2] as const,
    ["stopWorker", 0.1] as const,
  ];
  const burst = pick([0, 0.3, 0.6]);
  const actions: Action[] = [];
  while (actions.length < steps) {
    const kind = choose(weights, random());
    const dice = Array.from(
      { length: DICE_PER_ACTION },
      () => Math.floor(random() * 1_000) / 1_000,
    );
    const last = actions.at(-1);
    // Troubles come together: soon after the last action, and at the same process.
    if (last !== undefined && random() < burst) {
      const atMs = Math.min(lengthMs - 1, last.atMs + Math.floor(random() * BURST_MS));
      actions.push({ atMs, kind, dice: [last.dice[0] ?? 0, ...dice.slice(1)] });
    } else actions.push({ atMs: Math.floor(random() * lengthMs), kind, dice });
  }
  return {
    seed,
    leaseMs: pick([1_500, 3_000, 6_000]),
    workers: pick([1, 2, 2, 3]),
    slots: pick([1, 2, 3, 6, 12]),
    batch: pick([2, 5, 100]),
    graceMs: pick([0, 300, 2_000]),
    crowd: pick([3, 10, 30]),
    runMs: pick([20, 300, 9_000]),
    pollMs: pick([100, 500, null]),
    behaviours: behavioursOf(random, pick([0, 0.2, 0.5])),
    retention: pick(RETENTIONS),
    workersPerProcess: pick([1, 1, 2]),
    lengthMs,
    ...controlOf(
      seed,
      lengthMs,
      schedulesOf(seed, lengthMs, [
        ...actions,
        ...outagesOf(seed, lengthMs),
        ...marksOf(seed, lengthMs),
        ...locksOf(seed, lengthMs),
        ...unitsOf(seed, lengthMs),
      ]),
    ),
  };
}

/** The actions of a plan with those of services and of limits. */
function controlOf(
  seed: number,
  lengthMs: number,
  plan: Pick<Plan, "actions" | "hasSchedules">,
): Pick<Plan, "actions" | "hasSchedules" | "hasServices" | "hasLimits"> {
  const services = servicesOf(seed, lengthMs);
  const limits = limitsOf(seed, lengthMs);
  const own = [...(services ?? []), ...(limits ?? [])];
  if (own.length === 0) return plan;
  return {
    ...plan,
    ...(services === null ? {} : { hasServices: true }),
    ...(limits === null ? {} : { hasLimits: true }),
    actions: [...plan.actions, ...own].toSorted((left, right) => left.atMs - right.atMs),
  };
}

/** The actions of a plan with those of schedules, drawn with other dice as well. */
function schedulesOf(
  seed: number,
  lengthMs: number,
  others: readonly Action[],
): Pick<Plan, "actions" | "hasSchedules"> {
  const source = seededDice(seed * 43 + 11);
  const random = (): number => source.random();
  const hasSchedules = random() < SCHEDULES_SHARE;
  const action = (kind: Action["kind"]): Action => {
    const dice = Array.from(
      { length: DICE_PER_ACTION },
      () => Math.floor(random() * 1_000) / 1_000,
    );
    return { atMs: Math.floor(random() * lengthMs), kind, dice };
  };
  const operations = Array.from({ length: SCHEDULE_ACTIONS }, () =>
    action(SCHEDULE_OPERATIONS[Math.floor(random() * SCHEDULE_OPERATIONS.length)]!),
  );
  const leaps = random() < LEAP_SHARE ? [action("leap")] : [];
  const own = hasSchedules ? [...operations, ...leaps] : [];
  const actions = [...others, ...own].toSorted((left, right) => left.atMs - right.atMs);
  return hasSchedules ? { hasSchedules, actions } : { actions };
}

/** At most one, drawn with other dice, so that plans without an outage stay as they were. */
function outagesOf(seed: number, lengthMs: number): readonly Action[] {
  const source = seededDice(seed * 37 + 5);
  if (source.random() > OUTAGE_SHARE) return [];
  const dice = Array.from({ length: 4 }, () => Math.floor(source.random() * 1_000) / 1_000);
  return [{ atMs: Math.floor((source.random() * lengthMs) / 2), kind: "outage", dice }];
}

/** The same for jobs that wait for a slot. */
function marksOf(seed: number, lengthMs: number): readonly Action[] {
  return drawnApart("endWaiting", seededDice(seed * 41 + 3), { lengthMs, share: MARKS_SHARE });
}

/** The same for runs that wait for a lock. */
function locksOf(seed: number, lengthMs: number): readonly Action[] {
  return drawnApart("endLockWaiter", seededDice(seed * 43 + 7), { lengthMs, share: LOCKS_SHARE });
}

/** The same for runs that have units which have not begun. */
function unitsOf(seed: number, lengthMs: number): readonly Action[] {
  return drawnApart("cancelUnits", seededDice(seed * 47 + 11), { lengthMs, share: UNITS_SHARE });
}

function drawnApart(
  kind: Action["kind"],
  source: ReturnType<typeof seededDice>,
  { lengthMs, share }: { readonly lengthMs: number; readonly share: number },
): readonly Action[] {
  if (source.random() > share) return [];
  const dice = Array.from(
    { length: DICE_PER_ACTION },
    () => Math.floor(source.random() * 1_000) / 1_000,
  );
  return [{ atMs: Math.floor((source.random() * lengthMs) / 2), kind, dice }];
}

/** Those that go well weigh as much as the troubles together, so that there is a flow at all. */
function behavioursOf(random: () => number, share: number): readonly Behaviour[] {
  const troubles = BEHAVIOURS.filter((kind) => kind !== "ok" && random() < share);
  return [...troubles, ...Array.from({ length: troubles.length + 1 }, () => "ok" as const)];
}

function weighted<Kind>(
  kinds: readonly Kind[],
  share: number,
  random: () => number,
): (readonly [Kind, number])[] {
  return kinds.filter(() => random() < share).map((kind) => [kind, random() ** 2] as const);
}

function choose<Kind>(weights: readonly (readonly [Kind, number])[], chance: number): Kind {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [kind, weight] of weights) {
    left -= weight;
    if (left < 0) return kind;
  }
  return weights.at(-1)![0];
}
