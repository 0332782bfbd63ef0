/**
 * Exclusive locks: the concurrency keys of running jobs, and the locks that runs acquire for their
 * units. One row per lock; the row is deleted when the run ends or releases the lock.
 *
 * Releasing a lock first locks its row, and then reads the jobs that `hold` has blocked because of
 * it. `hold` keeps the row locked while it blocks jobs, so that no blocked job is missed.
 */
import type { JobId } from "../../../core/job.ts";
import { lockNames } from "../../shared/decode-notes.ts";
import type { AcquiredLocks, OpenRun } from "../../types/notes.ts";
import { orNothing } from "../database/errors.ts";
import { lockLease } from "./lease.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { texts } from "../database/values.ts";
import type { Barriers } from "../database/queries.gen.ts";

/** Locks the lease, so that the run cannot end between the check and the insert. */
export async function acquireLocks(
  session: Session,
  { lease, key, n }: OpenRun,
  names: readonly string[],
): Promise<AcquiredLocks> {
  const wanted = texts(lockNames(names));
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const runs = (await lockLease(transaction, lease)) ?? [];
      const isOpen = runs.some((run) => {
        return run.key === key && run.n === n && run.started_at !== null && !run.ended;
      });
      if (!isOpen) return { status: "stale" };
      await transaction.run("acquire_locks", { key, n, names: wanted });
      const rows = await transaction.all("locks_of_run", { key, n, names: wanted });
      const acquired = new Set(rows.map(({ name }) => name));
      return { status: "done", names: [...new Set(names)].filter((name) => acquired.has(name)) };
    }),
  );
}

export async function lockHolder(
  { names, read }: Session,
  tenant: string,
  name: string,
): Promise<JobId | null> {
  const id = await names.id("tenant", tenant);
  if (id === undefined) return null;
  const row = await orNothing(read.get("lock_holder", { tenant: id, name }), undefined);
  return row?.id ?? null;
}

/**
 * Deletes the locks of ended runs and of keys that have a token again, and returns the most urgent
 * jobs of free concurrency keys to the queue. Answers how many jobs. There are at most as many
 * locks as running jobs and units.
 */
export async function releaseKeys(
  session: Session,
  { names, wanted, spent }: Barriers,
  limit: number,
): Promise<number> {
  const { write, dice, state } = session;
  const refilled = spent
    ? await repeating(dice, () => write.get("free_refilled_keys", { limit }))
    : undefined;
  const sweeping = names
    ? state.lockSweep.take(() => repeating(dice, () => write.get("free_dead_locks", { limit })))
    : null;
  const freed = ((await sweeping)?.count ?? 0) + (refilled?.count ?? 0);
  const moved = wanted ? await repeating(dice, () => write.run("release_keys", { limit })) : 0;
  if (freed + moved > 0) session.wakeForReturned("work");
  return moved;
}
