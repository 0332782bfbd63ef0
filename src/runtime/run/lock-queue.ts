/**
 * The runs of one worker that wait for a lock, per lock in order of arrival.
 *
 * When a run of this worker releases a lock, the first waiter is woken and asks the store at once.
 * Locks released by other workers are found by polling. A wake-up is best effort: the lock may be
 * taken again, and a waiter that cannot use the wake-up passes it on.
 */
import type { OpenRun } from "../../store/types/notes.ts";

/** Tenants do not share locks. */
export interface LockName {
  readonly tenant: string;
  readonly name: string;
}

export interface Waiter {
  /** The lock may be free. */
  lockFreed(name: string): void;
}

export type RunName = Pick<OpenRun, "key" | "n">;

export class LockQueue {
  readonly #queues = new Map<string, Set<Waiter>>();
  /** Locks of ended runs that the store has not settled yet. */
  readonly #endingRuns = new Map<string, readonly LockName[]>();

  /** Adds a waiter at the end of the queue; a waiter that is in the queue keeps its place. */
  wait(lock: LockName, waiter: Waiter): void {
    const queue = this.#queues.get(lockKey(lock));
    if (queue === undefined) this.#queues.set(lockKey(lock), new Set([waiter]));
    else queue.add(waiter);
  }

  remove(lock: LockName, waiter: Waiter): void {
    const queue = this.#queues.get(lockKey(lock));
    if (queue?.delete(waiter) === true && queue.size === 0) this.#queues.delete(lockKey(lock));
  }

  hasWaiters(lock: LockName): boolean {
    return this.#queues.has(lockKey(lock));
  }

  /** The lock was released: removes the first waiter from the queue and wakes it. */
  wakeFirst(lock: LockName): void {
    const [first] = this.#queues.get(lockKey(lock)) ?? [];
    if (first === undefined) return;
    this.remove(lock, first);
    first.lockFreed(lock.name);
  }

  /** A run has ended. Its locks are released when the store has settled the run. */
  runEnding(run: RunName, locks: readonly LockName[]): void {
    if (locks.length > 0) this.#endingRuns.set(runKey(run), locks);
  }

  /** The store has settled the run and released its locks. */
  runSettled(run: RunName): void {
    // The fast path: most runs hold no lock.
    if (this.#endingRuns.size === 0) return;
    const locks = this.#endingRuns.get(runKey(run)) ?? [];
    this.#endingRuns.delete(runKey(run));
    for (const lock of locks) this.wakeFirst(lock);
  }
}

/** No tenant and no lock name contains U+0000. */
function lockKey({ tenant, name }: LockName): string {
  return `${tenant}\0${name}`;
}

export function runKey({ key, n }: RunName): string {
  return `${key}.${n}`;
}
