/** prune, markStale and remove: deletes expired rows, oldest first, in bounded batches. */
import { pruneAudits } from "../audit/seal.ts";
import { longestPeriods } from "../../shared/declared-periods.ts";
import { bounded, ENDED_TOKEN_MS } from "../../shared/limits.ts";
import { OPERATION_KEPT_MS } from "../../types/operations.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Pruned, Retention } from "../../types/records.ts";
import { clockOf } from "../schedules/schedules.ts";
import { numberEvents } from "../events/feed.ts";
import { age, findExpired } from "./expired.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { list } from "../database/values.ts";

/** Rows of each kind that one statement deletes. */
const PRUNE_MAX = 5_000;
/** Units that one statement deletes, apart from those of the last job. */
const UNITS_MAX = 50_000;

export async function prune(session: Session, asked: Retention, wanted: number): Promise<Pruned> {
  const retention = await longest(session, asked);
  const limit = bounded(wanted, PRUNE_MAX);
  const { write, dice } = session;
  // Before the jobs: the event of a removed job stays at least until the next call.
  const { isMore, count: events } = await pruneEvents(session, retention, limit);
  const expired = await findExpired(session, retention, limit);
  const { count: jobs, waiting } = await removeJobs(session, expired.keys, retention);
  const idempotencyKeys = await pruneIdempotency(session, limit);
  const deadLetters = await repeating(dice, () =>
    write.run("prune_dead_letters", { age: age(retention.deadLetterMs), limit }),
  );
  const tokens = await repeating(dice, () =>
    write.run("prune_tokens", { age: ENDED_TOKEN_MS, limit }),
  );
  const minutes = await repeating(dice, () =>
    write.run("prune_minutes", { age: age(retention.minutesMs), limit }),
  );
  const deploys = await repeating(dice, () =>
    write.run("delete_deploys", { age: age(retention.minutesMs), limit }),
  );
  const changes = await repeating(dice, () =>
    write.run("delete_breaker_changes", { age: age(retention.eventMs), limit }),
  );
  const audits = await pruneAudits(session, retention.auditMs, limit);
  const ended = { age: OPERATION_KEPT_MS, limit };
  const items = await repeating(dice, () => write.run("delete_operation_items", ended));
  await repeating(dice, () => write.run("delete_operations", ended));
  const decisions = await repeating(dice, () =>
    write.run("delete_failure_groups", { age: age(retention.deadLetterMs), limit }),
  );
  // Pruners of several workers share a batch: each of them removes a part of it.
  const found = expired.keys.length;
  const records = [idempotencyKeys, deadLetters, events, tokens, minutes, deploys];
  const counts = [found, ...records, changes, audits, items, decisions];
  const isFull = counts.includes(limit);
  const more = expired.isCut || waiting > 0 || isFull || isMore;
  return { jobs, deadLetters, idempotencyKeys, events, tokens, minutes, audits, more };
}

/** The periods that hold for every caller: see {@link longestPeriods}. */
async function longest(session: Session, asked: Retention): Promise<Retention> {
  const now = await clockOf(session.read);
  const stored = await session.read.get("declared_periods", {});
  const { retention, changed } = longestPeriods(asked, stored?.value, now);
  if (changed === null) return retention;
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const locked = await transaction.get("lock_declared_periods", {});
      const again = longestPeriods(asked, locked?.value, now);
      if (again.changed !== null) {
        await transaction.run("put_declared_periods", { value: again.changed });
      }
      return again.retention;
    }),
  );
}

/** Removes these jobs, except those that must be kept. */
export async function remove(
  session: Session,
  keys: readonly JobKey[],
  asked: Retention,
): Promise<number> {
  const retention = await longest(session, asked);
  let removed = 0;
  for (let from = 0; from < keys.length; from += PRUNE_MAX) {
    const batch = keys.slice(from, from + PRUNE_MAX);
    for (let isDone = false; !isDone;) {
      const { count, waiting } = await removeJobs(session, batch, retention);
      removed += count;
      isDone = waiting === 0;
    }
  }
  return removed;
}

export async function markStale(session: Session, keys: readonly JobKey[]): Promise<number> {
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const marked = await transaction.all("insert_stale", { keys: list(keys) });
      transaction.outbox.add({ kind: "job:stale", jobs: marked.map(({ key }) => key) });
      return marked.length;
    }),
  );
}

/**
 * The same for an operator, within another transaction. Jobs that must be kept stay. The units of
 * the jobs bound the number of statements.
 */
export async function removeWithin(
  transaction: StoreTransaction,
  keys: readonly JobKey[],
  idempotencyMs: number,
): Promise<void> {
  for (let waiting = keys.length; waiting > 0;) {
    ({ waiting } = await removeSome(transaction, keys, { idempotencyMs }));
  }
}

interface Removed {
  readonly count: number;
  /** Jobs left for the next statement, because the units of earlier ones filled it. */
  readonly waiting: number;
}

const NOTHING: Removed = { count: 0, waiting: 0 };

async function removeJobs(
  session: Session,
  keys: readonly JobKey[],
  retention: Pick<Retention, "idempotencyMs">,
): Promise<Removed> {
  if (keys.length === 0) return NOTHING;
  const removed = await repeating(session.dice, () => removeSome(session.write, keys, retention));
  forgetRemoved(session, removed.count > 0 ? keys : []);
  return removed;
}

/** One statement of it. */
export async function removeSome(
  sql: Pick<Sql, "get">,
  keys: readonly JobKey[],
  { idempotencyMs }: Pick<Retention, "idempotencyMs">,
): Promise<Removed> {
  const idempotency_ms = age(idempotencyMs);
  const asked = { keys: list(keys), idempotency_ms, units: UNITS_MAX };
  return (await sql.get("prune_jobs", asked)) ?? NOTHING;
}

/** What follows the commit of a statement that has removed some of these jobs. */
export function forgetRemoved({ notifier, state }: Session, keys: readonly JobKey[]): void {
  for (const key of keys) state.ownEvents.forget(key);
  if (keys.length > 0) notifier.wake("events");
}

/**
 * While a transaction keeps an old snapshot open, deleted keys stay in the index as dead entries,
 * and each batch would scan past all of them. So a batch begins where the previous one ended. Keys
 * before that place, such as those of a late commit, are found by a rescan from the beginning when
 * a batch was not filled.
 */
async function pruneIdempotency(session: Session, limit: number): Promise<number> {
  const cursor = session.state.idempotency;
  const count = await pruneExpired(session, cursor.reached, limit);
  if (count === limit) return count;
  return count + ((await cursor.rescan.take(() => pruneExpired(session, 0, limit - count))) ?? 0);
}

async function pruneExpired(session: Session, since: number, limit: number): Promise<number> {
  const { write, dice } = session;
  const pruned = await repeating(dice, () => write.get("prune_idempotency", { since, limit }));
  if (pruned === undefined) return 0;
  session.state.idempotency.reached = pruned.last;
  return pruned.count;
}

/** `isMore`: the next call numbers more events. */
async function pruneEvents(
  session: Session,
  retention: Retention,
  limit: number,
): Promise<{ readonly count: number; readonly isMore: boolean }> {
  const { write, dice } = session;
  // Without readers of the feed, its outbox would grow without limit.
  const isMore = await numberEvents(session);
  const count = await repeating(dice, () =>
    write.run("prune_events", { age: age(retention.eventMs), limit }),
  );
  return { count, isMore };
}
