/** The shapes in which a job kills its process beside healthy jobs, and what must come of them. */
import { isFinal, type JobId, type State } from "../../src/core/job.ts";
import { defaults } from "../../src/core/presets.ts";
import { seededDice } from "../support/seeded-dice.ts";
import type { TestStore } from "../support/stores.ts";
import { BlameFleet, healthy, poison, type FleetPlan, type Work } from "./fleet.ts";

/** No shape takes longer in virtual time. */
const LIMIT_MS = 60 * 60_000;

export interface Shape extends FleetPlan {
  readonly name: string;
  readonly healthy: readonly Work[];
  readonly poisons: readonly Work[];
  /** Kills from outside, with their virtual time. */
  readonly kills?: readonly { readonly atMs: number; readonly whom: "one" | "all" }[];
}

const LONG: Work = { ms: 20_000 };
const times = <T>(count: number, value: T): readonly T[] =>
  Array.from({ length: count }, () => value);
const dying = (diesAfterMs: number): Work => ({ ms: 0, diesAfterMs });
const ONE: FleetPlan = { processes: 1, workers: [8] };

export const SHAPES: readonly Shape[] = [
  { ...ONE, name: "dies at once", healthy: times(4, LONG), poisons: [dying(0)] },
  { ...ONE, name: "dies after 3 s", healthy: times(4, LONG), poisons: [dying(3_000)] },
  { ...ONE, name: "dies late", healthy: times(4, LONG), poisons: [dying(15_000)] },
  { ...ONE, name: "two poisons", healthy: times(4, LONG), poisons: [dying(0), dying(3_000)] },
  {
    ...ONE,
    name: "twelve fresh poisons",
    healthy: [{ ms: 60_000 }],
    poisons: times(12, dying(500)),
  },
  {
    name: "a crashing type",
    processes: 2,
    workers: [8],
    healthy: times(50, { ms: 2_000 }),
    poisons: times(1_000, dying(200)),
  },
  {
    name: "two work() in one process",
    processes: 1,
    workers: [4, 4],
    healthy: times(4, LONG),
    poisons: [dying(3_000)],
  },
  {
    name: "more runs than a chunk",
    processes: 1,
    workers: [24],
    rescueChunk: 5,
    healthy: times(20, LONG),
    poisons: [dying(3_000)],
  },
  {
    name: "one-slot workers",
    processes: 4,
    workers: [1],
    healthy: times(4, LONG),
    poisons: [dying(3_000)],
  },
  {
    name: "host loss",
    processes: 5,
    workers: [10],
    healthy: times(50, LONG),
    poisons: [],
    kills: [{ atMs: 10_000, whom: "all" }],
  },
  {
    name: "20 kills from outside",
    processes: 4,
    workers: [5],
    healthy: times(300, { ms: 3_000 }),
    poisons: [],
    kills: Array.from({ length: 20 }, (_, index) => ({ atMs: 3_000 * (index + 1), whom: "one" })),
  },
];

export interface Verdict {
  /** Healthy jobs that did not complete, without those of `killedAlone`. */
  readonly innocentsEnded: number;
  /** Healthy jobs that a kill from outside hit while they ran alone at the cap: a known limit. */
  readonly killedAlone: number;
  readonly healthyDone: number;
  /** Poisons that have not failed; those behind a closed gate are left alone. */
  readonly poisonsFailed: number;
  readonly poisonsWaiting: number;
  readonly deaths: number;
  /** Virtual time until all healthy jobs were done. */
  readonly healthyMs: number;
  /** Virtual time until no job was left that may run. */
  readonly endMs: number;
}

/** Runs a shape. `isBare`: without poisons and kills, to compare times. */
export async function runShape(
  db: TestStore,
  shape: Shape,
  seed: number,
  isBare = false,
): Promise<Verdict> {
  const dice = seededDice(seed);
  const fleet = new BlameFleet(db, shape, seed);
  const { client } = fleet;
  const orders = [
    ...shape.healthy.map((payload) => ({ type: healthy.type, request: healthy.of(payload) })),
    ...(isBare
      ? []
      : shape.poisons.map((payload) => ({ type: poison.type, request: poison.of(payload) }))),
  ]
    .map((order) => ({ order, turn: dice.random() }))
    .toSorted((left, right) => left.turn - right.turn)
    .map(({ order }) => order);
  const handles = await client.enqueueMany(orders.map(({ request }) => request));
  const ids = handles.map(({ id }) => id);
  const own = new Set(ids.filter((_, index) => orders[index]!.type === healthy.type));
  if (!isBare) {
    for (const { atMs, whom } of shape.kills ?? []) {
      const number = Math.floor(dice.random() * shape.processes);
      db.clock.after(atMs, () => (whom === "all" ? fleet.killAll() : fleet.kill(number)));
    }
  }
  await fleet.start();
  const began = fleet.nowMs;
  let healthyMs = Infinity;
  const states = new Map<JobId, State>();
  const others = ids.filter((id) => !own.has(id));
  const isOver = async (): Promise<boolean> => {
    if (!(await areFinal(db, [...own], states))) return false;
    healthyMs = Math.min(healthyMs, fleet.nowMs - began);
    return (await db.store.gates()).length > 0 || areFinal(db, others, states);
  };
  await fleet.runUntil(isOver, LIMIT_MS);
  for (const id of ids) await learnState(db, id, states);
  fleet.close();
  const stateOf = (id: JobId): State => states.get(id) ?? "queued";
  const isEnded = (id: JobId): boolean => isFinal(stateOf(id)) && stateOf(id) !== "completed";
  const ended = [...own].filter(isEnded);
  const killedAlone = (shape.kills ?? []).length === 0 ? [] : await beyondCap(db, ended);
  return {
    innocentsEnded: ended.length - killedAlone.length,
    killedAlone: killedAlone.length,
    healthyDone: [...own].filter((id) => stateOf(id) === "completed").length,
    poisonsFailed: others.filter((id) => stateOf(id) === "failed").length,
    poisonsWaiting: others.filter((id) => !isFinal(stateOf(id))).length,
    deaths: fleet.deaths.own + fleet.deaths.outside,
    healthyMs,
    endMs: fleet.nowMs - began,
  };
}

/** The jobs whose last run began at the crash cap. Such a run is always alone. */
async function beyondCap({ store }: TestStore, ids: readonly JobId[]): Promise<readonly JobId[]> {
  const records = await Promise.all(ids.map((id) => store.get(id)));
  return ids.filter((_, index) => (records[index]?.crashes ?? 0) > defaults.retry.crashCap);
}

/**
 * Whether all of these jobs are final. Asks for no final job twice, and for no job after the first
 * that is not final: a question for each of 600 jobs at each step took longer than all else.
 */
async function areFinal(
  db: TestStore,
  ids: readonly JobId[],
  states: Map<JobId, State>,
): Promise<boolean> {
  for (const id of ids) if (!isFinal(await learnState(db, id, states))) return false;
  return true;
}

async function learnState(
  { store }: TestStore,
  id: JobId,
  states: Map<JobId, State>,
): Promise<State> {
  const known = states.get(id);
  if (known !== undefined && isFinal(known)) return known;
  const job = await store.get(id);
  if (job === null) throw new Error(`job ${id} is missing`);
  states.set(id, job.state);
  return job.state;
}
