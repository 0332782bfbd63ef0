/**
 * The locks of one run: which locks its units hold, and when to ask the store again for locks that
 * are taken.
 *
 * Requests of the same turn of the event loop go to the store in one call. After a refusal, no
 * refused lock is requested again until a common timer has fired: after 50 ms at first, then up to
 * a second. A release by another run of the same worker ends that wait for the released lock.
 */
import { runOutsideJobs } from "../../jobs/async-context.ts";
import type { Clock } from "../../core/clock.ts";
import { soon } from "../../lib/system.ts";
import { MOVES_MAX } from "../../store/types/notes.ts";
import type { LockName, LockQueue, Waiter } from "./lock-queue.ts";

const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;
const NONE: readonly string[] = [];

export interface RunLocksParts {
  readonly clock: Clock;
  /** Ends every wait for a lock. */
  readonly signal: AbortSignal;
  readonly tenant: string;
  /** The concurrency key of the job. The run holds that lock from its claim on. */
  readonly ownKey: string | null;
  /** Shared by all runs of the worker. */
  readonly queue: LockQueue;
  /** Answers which of these locks the run holds now. */
  readonly acquireLocks: (names: readonly string[]) => Promise<readonly string[]>;
}

interface LockRequest {
  readonly names: readonly string[];
  readonly answer: (acquired: readonly string[]) => void;
  readonly fail: (error: unknown) => void;
}

export class RunLocks implements Waiter {
  readonly #parts: RunLocksParts;
  /** Locks that a unit of this run holds or requests. */
  readonly #busy = new Set<string>();
  /** Busy locks for which other units of this run wait. */
  readonly #wanted = new Set<string>();
  /** Locks that were taken at the last request. */
  readonly #refused = new Set<string>();
  /** Locks for which this run is in the queue of the worker. */
  readonly #queued = new Set<string>();
  /** Locks with a wake-up since the last request. */
  readonly #freed = new Set<string>();
  /** Locks that the run holds, as far as the store has answered. */
  readonly #held = new Set<string>();
  /** Requests that are not sent, and requests that the store has not answered. */
  #requests: LockRequest[] = [];
  #sent: readonly LockRequest[] = [];
  #isSending = false;
  #isClosed: boolean;
  #retryMs = RETRY_MS_MIN;
  #stopTimer: (() => void) | null = null;
  #change = Promise.withResolvers<void>();

  constructor(parts: RunLocksParts) {
    this.#parts = parts;
    this.#isClosed = parts.signal.aborted;
    parts.signal.addEventListener("abort", this.#close, { once: true });
  }

  /** Acquires a lock for one unit. */
  async acquire(name: string): Promise<boolean> {
    return (await this.acquireSome([name])).length > 0;
  }

  /** Acquires the free ones among these locks, each for one unit. */
  acquireSome(names: readonly string[]): Promise<readonly string[]> {
    const free = this.#isClosed ? NONE : names.filter((name) => this.#isFree(name));
    if (free.length === 0) return Promise.resolve(NONE);
    for (const name of free) this.#busy.add(name);
    if (free.every((name) => this.isOwn(name))) return Promise.resolve(free);
    return new Promise((answer, fail) => {
      this.#requests.push({ names: free, answer, fail });
      if (this.#isSending) return;
      this.#isSending = true;
      // Outside of the job, like all work that a worker does for several jobs.
      runOutsideJobs(() => soon(() => void this.#send()));
    });
  }

  /** The unit that held the lock has ended. */
  release(name: string): void {
    this.#busy.delete(name);
    if (this.#wanted.delete(name)) this.wake();
  }

  /** The store has released the lock. */
  onReleased(name: string): void {
    const { queue } = this.#parts;
    this.#held.delete(name);
    if (!queue.hasWaiters(this.#inTenant(name))) return;
    // Later, because other units of this run are the first to ask.
    soon(() => {
      if (!this.#busy.has(name)) queue.wakeFirst(this.#inTenant(name));
    });
  }

  /** The locks that the store releases with the end of the run, besides the key of the job. */
  get held(): readonly string[] {
    return [...this.#held];
  }

  /** Another run of the worker has released the lock. */
  lockFreed(name: string): void {
    this.#queued.delete(name);
    this.#freed.add(name);
    if (this.#refused.delete(name)) this.wake();
  }

  /** True for the concurrency key of the job, which needs no request to the store. */
  isOwn(name: string): boolean {
    return name === this.#parts.ownKey;
  }

  /** Resolves when a refused lock may be free. */
  changed(): Promise<void> {
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  /** The run is over: open requests are answered with no lock. */
  close(): void {
    this.#isClosed = true;
    this.#parts.signal.removeEventListener("abort", this.#close);
    this.#stopTimer?.();
    this.#leaveQueue();
    for (const { answer } of [...this.#sent, ...this.#requests.splice(0)]) answer(NONE);
    this.wake();
  }

  readonly #close = (): void => this.close();

  #isFree(name: string): boolean {
    if (this.#busy.has(name)) this.#wanted.add(name);
    return !this.#busy.has(name) && !this.#refused.has(name);
  }

  async #send(): Promise<void> {
    while (this.#requests.length > 0) {
      const requests = this.#requests.splice(0);
      this.#sent = requests;
      try {
        const acquired = await this.#acquireLocks(requests.flatMap(({ names }) => names));
        for (const { names, answer } of requests) {
          answer(names.filter((name) => acquired.has(name)));
        }
      } catch (error) {
        for (const { fail } of requests) fail(error);
      }
    }
    this.#sent = [];
    this.#isSending = false;
  }

  async #acquireLocks(names: readonly string[]): Promise<ReadonlySet<string>> {
    const acquired = new Set(names.filter((name) => this.isOwn(name)));
    const others = names.filter((name) => !this.isOwn(name));
    for (let from = 0; from < others.length; from += MOVES_MAX) {
      const chunk = others.slice(from, from + MOVES_MAX);
      // Before the request, so that no release is missed before the store answers.
      for (const name of chunk) this.#enterQueue(name);
      for (const name of await this.#parts.acquireLocks(chunk)) {
        this.#hold(name);
        acquired.add(name);
      }
    }
    if (acquired.size > 0) this.#retryMs = RETRY_MS_MIN;
    for (const name of names) if (!acquired.has(name)) this.#refuse(name);
    return acquired;
  }

  #enterQueue(name: string): void {
    this.#freed.delete(name);
    if (this.#isClosed) return;
    this.#queued.add(name);
    this.#parts.queue.wait(this.#inTenant(name), this);
  }

  #hold(name: string): void {
    this.#held.add(name);
    this.#freed.delete(name);
    this.#queued.delete(name);
    this.#parts.queue.remove(this.#inTenant(name), this);
  }

  /** Wake-ups that this run can no longer use go to the next waiter. */
  #leaveQueue(): void {
    const { queue } = this.#parts;
    for (const name of this.#queued) queue.remove(this.#inTenant(name), this);
    for (const name of this.#freed) queue.wakeFirst(this.#inTenant(name));
    this.#queued.clear();
    this.#freed.clear();
  }

  #inTenant(name: string): LockName {
    return { tenant: this.#parts.tenant, name };
  }

  #refuse(name: string): void {
    this.#busy.delete(name);
    if (this.#freed.has(name)) {
      this.wake();
      return;
    }
    this.#refused.add(name);
    if (this.#isClosed) return;
    this.#stopTimer ??= this.#parts.clock.after(this.#retryMs, () => {
      this.#stopTimer = null;
      this.#retryMs = Math.min(2 * this.#retryMs, RETRY_MS_MAX);
      this.#refused.clear();
      this.wake();
    });
  }
}
