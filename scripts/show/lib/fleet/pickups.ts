/** How long it takes until a new order begins, measured again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Fleet } from "./fleet.ts";
import { waiting } from "./task.ts";
import { until } from "../until.ts";

const PICKUP_MS_MAX = 30_000;
/** Between two orders: never in step with a poll. */
const REST_MS_MIN = 100;
const REST_MS_MAX = 400;

export interface PickUp {
  /** When the order was acknowledged, on the clock of `performance`. */
  readonly at: number;
  readonly ms: number;
}

/** Places an order and waits until a worker has begun it. */
async function pickUp(fleet: Fleet): Promise<PickUp> {
  await sleep(REST_MS_MIN + Math.random() * (REST_MS_MAX - REST_MS_MIN));
  const [id] = await fleet.place([{ act: waiting(0) }]);
  const ackedAt = Date.now();
  if (id === undefined) throw new Error("the order was refused");
  const at = performance.now();
  const line = await until("the order begins", PICKUP_MS_MAX, () => {
    const found = fleet.ledger.lines().find(({ job, what }) => job === id && what === "start");
    return found ?? null;
  });
  return { at, ms: Math.max(0, line.at - ackedAt) };
}

/** Measures for so long. */
export async function pickUpsFor(fleet: Fleet, lengthMs: number): Promise<readonly PickUp[]> {
  const endsAt = performance.now() + lengthMs;
  const found: PickUp[] = [];
  while (performance.now() < endsAt) found.push(await pickUp(fleet));
  return found;
}

/** Measures until so many in a row were quick. The first of them is when all was normal again. */
export async function pickUpsUntilQuick(
  fleet: Fleet,
  { inRow, quickMs, limitMs }: { inRow: number; quickMs: number; limitMs: number },
): Promise<readonly PickUp[]> {
  const endsAt = performance.now() + limitMs;
  const found: PickUp[] = [];
  while (performance.now() < endsAt) {
    found.push(await pickUp(fleet));
    const last = found.slice(-inRow);
    if (last.length === inRow && last.every(({ ms }) => ms < quickMs)) break;
  }
  return found;
}
