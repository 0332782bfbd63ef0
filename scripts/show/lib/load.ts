/** Orders that keep coming, and the moment when every worker has ended a new one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { seededDice } from "../../../test/support/seeded-dice.ts";
import type { Fleet } from "./fleet.ts";
import type { Order } from "./order.ts";
import { until } from "./until.ts";

/** The rest of each producer between two calls, and the orders in one. */
const REST_MS = 40;
const CALL_ORDERS = 2;
const WORK_MS_MAX = 20;
const RESUME_MS_MAX = 60_000;
const ENDS = ["plain", "plain", "plain", "parent", "failure"] as const;

export type Dice = ReturnType<typeof seededDice>;

/** One of several that place orders; every second one with keys, in a transaction. */
export async function produce(
  fleet: Fleet,
  seat: number,
  dice: Dice,
  stop: AbortSignal,
): Promise<void> {
  const keyed = seat % 2 === 1;
  for (let call = 0; !stop.aborted; call += 1) {
    const orders = Array.from({ length: CALL_ORDERS }, (_, place): Order => {
      const end = ENDS[Math.floor(dice.random() * ENDS.length)] ?? "plain";
      return { name: `${seat}.${call}.${place}`, end, ms: dice.random() * WORK_MS_MAX };
    });
    await fleet.place(orders, { keyed });
    await sleep(REST_MS);
  }
}

/** Waits until every worker has ended an order that was acknowledged from now on. */
export async function resumed(fleet: Fleet): Promise<number> {
  const began = performance.now();
  const [firstAck, firstLine] = [fleet.acks.length, fleet.ledger.lines().length];
  await until("every worker works again", RESUME_MS_MAX, () => {
    const fresh = new Set(fleet.acks.slice(firstAck).map(({ id }) => id));
    const ends = fleet.ledger.lines().slice(firstLine);
    const working = ends.filter(({ job, what }) => what === "end" && fresh.has(job));
    return new Set(working.map(({ pid }) => pid)).size === fleet.workers.length;
  });
  return performance.now() - began;
}
