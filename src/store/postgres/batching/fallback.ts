/**
 * What enqueue, settle and record have in common: calls in pieces that one transaction can carry,
 * the search for what the database does not take, and the patience of those who need a lock that
 * somebody else holds.
 */
import { wait } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import { failureOf } from "../database/errors.ts";
import type { Session, SessionTransaction } from "../database/session.ts";

/** How long a transaction waits for each lock. */
export const LOCK_MS = 250;
/** How long an item by itself waits in all. */
const ALONE_MS_MAX = 15_000;
const ALONE_PAUSE_MS = 50;

/** A call in pieces of at most so many bytes; almost always one. */
export function batchesOf<Item>(
  items: readonly Item[],
  weigh: (item: Item) => number,
  bytesMax: number,
): (readonly Item[])[] {
  const loads: Item[][] = [];
  let weight = Infinity;
  for (const item of items) {
    weight += weigh(item);
    const load = weight > bytesMax ? undefined : loads.at(-1);
    if (load !== undefined) {
      load.push(item);
      continue;
    }
    loads.push([item]);
    weight = weigh(item);
  }
  return loads;
}

/** Halves what is refused until the bad ones stand alone. */
export async function bisect<Item, Answer>(
  transaction: SessionTransaction,
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Answer[]>,
  refused: (item: Item, error: unknown) => Answer,
): Promise<readonly Answer[]> {
  if (items.length === 0) return [];
  const answers = await transaction.part<readonly Answer[] | null>(
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

/** Tries again and again, never holding a connection for long, until the lock is free. */
export async function untilFree<Answer>(
  { dice }: Session,
  send: () => Promise<Answer>,
): Promise<Answer> {
  const endsAt = systemClock.monotonic() + ALONE_MS_MAX;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (failureOf(error) !== "locked" || systemClock.monotonic() > endsAt) throw error;
    }
    await wait(systemClock, ALONE_PAUSE_MS * (1 + dice.random()));
  }
}
