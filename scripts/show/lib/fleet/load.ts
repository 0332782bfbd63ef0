/** Orders that keep coming, and the moment when every worker has ended a new one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { seededDice } from "../../../../test/support/seeded-dice.ts";
import { Fleet } from "./fleet.ts";
import type { Ending, Order } from "./fleet.ts";
import { waiting } from "./task.ts";
import { until } from "../until.ts";

const WORKERS = 2;
/** Calls on their way at once. */
const PRODUCERS = 4;
/** The rest of each producer between two calls, and the orders in one. */
const REST_MS = 40;
const CALL_ORDERS = 2;
const WORK_MS_MAX = 20;
const RESUME_MS_MAX = 60_000;
const ENDS = ["well", "well", "well", "parent", "failure"] as const;

export type Dice = ReturnType<typeof seededDice>;

/** Plays with a fleet at work while orders keep coming, and says what became of all of them. */
export async function underLoad<Figures>(
  url: string,
  dice: Dice,
  play: (fleet: Fleet) => Promise<Figures>,
): Promise<Ending & Figures> {
  const work = { lanes: { general: 10 } };
  await using fleet = await Fleet.open({ name: "load", url, workers: WORKERS, work });
  const stop = new AbortController();
  const producing = Promise.all(
    Array.from({ length: PRODUCERS }, (_, seat) => produce(fleet, seat, dice, stop.signal)),
  );
  await resumed(fleet);
  const figures = await play(fleet);
  stop.abort();
  await producing;
  await fleet.drain();
  return { ...(await fleet.finish()), ...figures };
}

/** One of several that place orders; every second one with keys, in a transaction. */
async function produce(fleet: Fleet, seat: number, dice: Dice, stop: AbortSignal): Promise<void> {
  const keyed = seat % 2 === 1;
  for (let call = 0; !stop.aborted; call += 1) {
    const orders = Array.from({ length: CALL_ORDERS }, (_, place): Order => {
      const end = ENDS[Math.floor(dice.random() * ENDS.length)] ?? "well";
      return { name: `${seat}.${call}.${place}`, end, act: waiting(dice.random() * WORK_MS_MAX) };
    });
    await fleet.place(orders, { keyed });
    await sleep(REST_MS);
  }
}

/** Waits until every worker has ended an order that was acknowledged from now on. */
export async function resumed(fleet: Fleet): Promise<number> {
  const began = performance.now();
  const [firstAck, firstLine] = [fleet.acks.lines().length, fleet.ledger.lines().length];
  await until("every worker works again", RESUME_MS_MAX, () => {
    const fresh = new Set(
      fleet.acks
        .lines()
        .slice(firstAck)
        .map(({ id }) => id),
    );
    const ends = fleet.ledger.lines().slice(firstLine);
    const working = ends.filter(({ job, what }) => what === "end" && fresh.has(job));
    const pids = new Set(working.map(({ pid }) => pid));
    return fleet.workers.every(({ pid }) => pids.has(pid));
  });
  return performance.now() - began;
}
