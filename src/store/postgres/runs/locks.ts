/**
 * Exclusive names: the concurrency keys of jobs that run, and the names that runs take for their
 * units. One row per taken name; it goes with its run, or when the run gives it up.
 *
 * The end of a name is a matter of its row: whoever ends it locks it first and looks afterwards who
 * was moved away for its sake. `hold`, which moves them, holds the row meanwhile.
 */
import type { JobId } from "../../../core/job.ts";
import { lockNames } from "../../shared/decode-notes.ts";
import type { AcquiredLocks, OpenRun } from "../../types/notes.ts";
import { orNothing } from "../inspect/jobs.ts";
import { ownLease } from "./lease.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { texts } from "../database/values.ts";
import type { Barriers } from "../database/queries.gen.ts";

/** A look at all names that takes longer may take a twentieth of the time. */
export const LOCK_SWEEP_MS_MAX = 20;

/** The lease is taken as a whole: no end of the run comes between the look and the names. */
export async function acquireLocks(
  session: Session,
  { lease, key, n }: OpenRun,
  names: readonly string[],
): Promise<AcquiredLocks> {
  const wanted = texts(lockNames(names));
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const runs = (await ownLease(transaction, lease)) ?? [];
      const isOpen = runs.some((run) => {
        return run.key === key && run.n === n && run.started_at !== null && !run.ended;
      });
      if (!isOpen) return { status: "stale" };
      await transaction.run("acquire_locks", { key, n, names: wanted });
      const rows = await transaction.all("locks_of_run", { key, n, names: wanted });
      const had = new Set(rows.map(({ name }) => name));
      return { status: "done", names: [...new Set(names)].filter((name) => had.has(name)) };
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
 * Frees names that nobody has any more, and brings back the most urgent jobs of keys that are free.
 * Answers how many. There are as many names as runs at most, or as their units.
 */
export async function releaseKeys(
  session: Session,
  { names, wanted }: Barriers,
  limit: number,
): Promise<number> {
  const { write, dice, notifier, state } = session;
  const looking = names
    ? state.lockSweep.take(() => repeating(dice, () => write.get("free_dead_locks", { limit })))
    : null;
  const freed = (await looking)?.count ?? 0;
  const moved = wanted ? await repeating(dice, () => write.run("release_keys", { limit })) : 0;
  if (freed + moved > 0) notifier.wake("work");
  return moved;
}
