/** What is done with runs whose units wait, for a lock or for each other. */
import { contracts } from "../fleet/jobs.ts";
import { LOCK_NAMES, SLOW_UNITS_MS } from "../fleet/pipelines.ts";
import type { Member } from "../fleet/fleet.ts";
import type { ActionContext, Operation } from "./action-context.ts";
import type { Draw } from "./draw.ts";
import type { Operation as Kind } from "./plan.ts";

/** Such a token makes one unit, which needs the first of the names. */
const ONE_UNIT = 6;
const TOKENS = 100;
/** Longer than all waits of the action. */
const HOLDER_MS = 6_000;

/** Such a token makes four units, one after the other, and a handler that ignores its signal. */
const FOUR_UNITS = 3;

export const LOCK_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  endLockWaiter: (context, member, draw) => endLockWaiter(context, member, draw),
  cancelUnits: (context, member, draw) => cancelUnits(context, member, draw),
};

/** A run is cancelled while some of its units have not begun: it has not succeeded. */
async function cancelUnits(
  _: ActionContext,
  { client, process }: Member,
  draw: Draw,
): Promise<void> {
  const [, , patient] = contracts;
  const token = FOUR_UNITS + ONE_UNIT * draw.upTo(TOKENS);
  const payload = { token, runs: ["units"] as const, ms: SLOW_UNITS_MS };
  const { id } = await client.enqueue(patient, payload, { priority: 1 });
  await process.sleep(200 + draw.upTo(600), "lets the first unit begin");
  await client.jobs.cancel(id, "planned");
}

/**
 * A run waits for the lock of another job. Both are ended from outside, first the run that waits:
 * until its worker is told, the run asks for a lock that is free, and must not get it.
 */
async function endLockWaiter(
  _: ActionContext,
  { client, process }: Member,
  draw: Draw,
): Promise<void> {
  const [, fast, patient] = contracts;
  const token = ONE_UNIT * draw.upTo(TOKENS);
  const [concurrencyKey] = LOCK_NAMES;
  const holder = await client.enqueue(
    patient,
    { token, runs: ["slow"], ms: HOLDER_MS },
    { concurrencyKey, priority: 1 },
  );
  await process.sleep(100 + draw.upTo(400), "lets the holder begin");
  const waiter = await client.enqueue(
    fast,
    { token, runs: ["units", "ok"], ms: 0 },
    { priority: 1 },
  );
  await process.sleep(200 + draw.upTo(600), "lets units wait for the lock");
  const { jobs } = client;
  const isReleased = draw.upTo(2) === 0;
  const ended = isReleased ? jobs.release(waiter.id) : jobs.fail(waiter.id, "planned");
  await ended.catch(() => {});
  await jobs.fail(holder.id, "planned").catch(() => {});
}
