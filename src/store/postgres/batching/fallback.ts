/**
 * Shared by enqueue, settle and record: splitting a large call into batches, bisecting a batch to
 * find the items that the database refuses, and retrying while another transaction holds a lock.
 */
import { wait } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import { failureOf } from "../database/errors.ts";
import type { Session, StoreTransaction } from "../database/session.ts";

/** Lock time-out of a batch. */
export const LOCK_MS = 250;
/** How long a single item is retried, in total. */
const SINGLE_MS_MAX = 15_000;
const SINGLE_PAUSE_MS = 50;

/** Splits a call into batches of at most `bytesMax`. Almost every call is one batch. */
export function batchesOf<Item>(
  items: readonly Item[],
  weigh: (item: Item) => number,
  bytesMax: number,
): (readonly Item[])[] {
  const batches: Item[][] = [];
  let weight = Infinity;
  for (const item of items) {
    weight += weigh(item);
    const batch = weight > bytesMax ? undefined : batches.at(-1);
    if (batch !== undefined) {
      batch.push(item);
      continue;
    }
    batches.push([item]);
    weight = weigh(item);
  }
  return batches;
}

/** Bisects a refused batch until each refused item is alone. */
export async function bisect<Item, Answer>(
  transaction: StoreTransaction,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Answer[]>,
  refused: (item: Item, error: unknown) => Answer,
): Promise<readonly Answer[]> {
  if (items.length === 0) return [];
  const answers = await transaction.savepoint<readonly Answer[] | null>(
    () => work(items),
    (error) => (items.length === 1 ? items.map((item) => refused(item, error)) : null),
  );
  if (answers !== null) return answers;
  const middle = Math.ceil(items.length / 2);
  return [
    ...(await bisect(transaction, items.slice(0, middle), work, refused)),
    ...(await bisect(transaction, items.slice(middle), work, refused)),
  ];
}

/** Retries until the lock is free. No attempt holds a connection for long. */
export async function retryWhileLocked<Answer>(
  { dice }: Session,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const endsAt = systemClock.monotonic() + SINGLE_MS_MAX;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (failureOf(error) !== "locked" || systemClock.monotonic() > endsAt) throw error;
    }
    await wait(systemClock, SINGLE_PAUSE_MS * (1 + dice.random()));
  }
}
