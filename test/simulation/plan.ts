/**
 * What happens in one simulation, drawn from its seed beforehand: which operations and faults, when
 * and with which numbers. A plan is a plain value, so that a failing one can be made smaller.
 *
 * Swarm: each seed allows only some of the actions and gives each of them a weight of its own, so
 * that rare mixtures come up that an even mixture would never show.
 */
import { seededDice } from "../support/seeded-dice.ts";

const OPERATIONS = [
  "enqueue",
  "enqueueDelayed",
  "enqueueUrgent",
  "enqueueIdempotent",
  "enqueueDedup",
  "enqueueMany",
  "enqueueInside",
  "enqueueTwice",
  "cancel",
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
] as const;

const FAULTS = [
  "crash",
  "freeze",
  "jump",
  "skew",
  "commitFails",
  "commitLost",
  "busy",
  "slow",
  "powerLoss",
] as const;

/** How a run of a handler goes. */
export const BEHAVIOURS = [
  "ok",
  "slow",
  "throw",
  "transient",
  "fatal",
  "hang",
  "deaf",
  "snooze",
  "kill",
  "child",
] as const;

export type Operation = (typeof OPERATIONS)[number];
export type Fault = (typeof FAULTS)[number];
export type Behaviour = (typeof BEHAVIOURS)[number];

export interface Action {
  readonly atMs: number;
  readonly kind: Operation | Fault;
  /** Chance, drawn beforehand, each in [0, 1). */
  readonly dice: readonly number[];
}

export interface Plan {
  readonly seed: number;
  readonly leaseMs: number;
  readonly workers: number;
  readonly slots: number;
  /** How often a process looks for changes of others; null when every such wake-up is lost. */
  readonly lookMs: number | null;
  readonly behaviours: readonly Behaviour[];
  readonly lengthMs: number;
  readonly actions: readonly Action[];
}

const ACTIONS_DEFAULT = 40;
const DICE_PER_ACTION = 12;

export function planOf(seed: number, steps: number = ACTIONS_DEFAULT): Plan {
  const dice = seededDice(seed * 31 + 17);
  const random = (): number => dice.random();
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)]!;
  const lengthMs = pick([3_000, 10_000, 30_000]);
  const weights = [
    ...weighted(OPERATIONS, 0.6, random),
    ...weighted(FAULTS, 0.5, random).map(([kind, weight]) => [kind, weight * 0.5] as const),
    // Without jobs there is nothing to see.
    ["enqueue", 1] as const,
    ["enqueueMany", 0.5] as const,
  ];
  const actions = Array.from({ length: steps }, () => ({
    atMs: Math.floor(random() * lengthMs),
    kind: choose(weights, random()),
    dice: Array.from({ length: DICE_PER_ACTION }, random),
  }));
  return {
    seed,
    leaseMs: pick([3_000, 6_000, 12_000]),
    workers: pick([1, 2, 2, 3]),
    slots: pick([1, 2, 5]),
    lookMs: pick([25, 500, null]),
    behaviours: BEHAVIOURS.filter((kind) => kind === "ok" || random() < 0.5),
    lengthMs,
    actions: actions.toSorted((left, right) => left.atMs - right.atMs),
  };
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
