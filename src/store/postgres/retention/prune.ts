/**
 * prune, markStale and remove: what has expired its retention goes, oldest first, in bounded
 * batches.
 */
import { bounded } from "../../shared/limits.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Pruned, Retention } from "../../types/records.ts";
import { numberEvents } from "../events/feed.ts";
import { age, findExpired } from "./expired.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";

/** Rows of each kind that one statement removes. */
const PRUNE_MAX = 5_000;
/** Units, too, but for those of the last job. */
const UNITS_MAX = 50_000;
/** A scan from the beginning that takes longer may use a twentieth of the time. */
export const RESCAN_MS_MAX = 250;

export async function prune(
  session: Session,
  retention: Retention,
  wanted: number,
): Promise<Pruned> {
  const limit = bounded(wanted, PRUNE_MAX);
  const { write, dice } = session;
  // Before the jobs: the word that one is gone stays at least until the next call.
  const events = await pruneEvents(session, retention, limit);
  const expired = await findExpired(session, retention, limit);
  const { count: jobs, waiting } = await removeJobs(session, expired.keys, retention);
  const idempotencyKeys = await pruneIdempotency(session, limit);
  const deadLetters = await repeating(dice, () =>
    write.run("prune_dead_letters", { age: age(retention.deadLetterMs), limit }),
  );
  const isFull = [jobs, idempotencyKeys, deadLetters, events].includes(limit);
  const more = expired.isCut || waiting > 0 || isFull;
  return { jobs, deadLetters, idempotencyKeys, events, more };
}

/** Those of these jobs that can go do. */
export async function remove(
  session: Session,
  keys: readonly JobKey[],
  retention: Retention,
): Promise<number> {
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
      transaction.outbox.tell({ kind: "job:stale", jobs: marked.map(({ key }) => key) });
      return marked.length;
    }),
  );
}

const NOTHING = { count: 0, waiting: 0 };

/** `waiting`: those that have to wait, because those before them have too many units. */
async function removeJobs(
  { write, dice, notifier }: Session,
  keys: readonly JobKey[],
  { idempotencyMs }: Retention,
): Promise<{ readonly count: number; readonly waiting: number }> {
  if (keys.length === 0) return NOTHING;
  const row = await repeating(dice, () =>
    write.get("prune_jobs", {
      keys: list(keys),
      idempotency_ms: age(idempotencyMs),
      units: UNITS_MAX,
    }),
  );
  if ((row?.count ?? 0) > 0) notifier.wake("events");
  return row ?? NOTHING;
}

/**
 * As long as some transaction keeps an old snapshot open, what was removed stays in the index as
 * dead entries, and each batch would step over all of them. So a batch begins where the one before
 * has ended. What came to lie before that, such as a late commit, is found by a look from the
 * beginning when a batch was not filled.
 */
async function pruneIdempotency(session: Session, limit: number): Promise<number> {
  const kept = session.state.idempotency;
  const count = await pruneExpired(session, kept.reached, limit);
  if (count === limit) return count;
  return count + ((await kept.rescan.take(() => pruneExpired(session, 0, limit - count))) ?? 0);
}

async function pruneExpired(session: Session, since: number, limit: number): Promise<number> {
  const { write, dice } = session;
  const gone = await repeating(dice, () => write.get("prune_idempotency", { since, limit }));
  if (gone === undefined) return 0;
  session.state.idempotency.reached = gone.last;
  return gone.count;
}

async function pruneEvents(session: Session, retention: Retention, limit: number): Promise<number> {
  const { write, dice } = session;
  // Where nobody reads the feed, its outbox would grow for ever.
  await numberEvents(session);
  return repeating(dice, () => write.run("prune_events", { age: age(retention.eventMs), limit }));
}
