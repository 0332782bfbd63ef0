/**
 * The exclusive names of one run: which of them its units have, and when to ask again for those
 * that others have.
 *
 * What is asked for in the same turn goes to the store in one call. A name that was refused is not
 * asked for until some time has passed, and that for all refused names together: 50 ms at first,
 * then longer, up to a second. If another run of the worker gives it up, that is the time.
 */
import { runOutside } from "../../jobs/async-context.ts";
import type { Clock } from "../../core/clock.ts";
import { soon } from "../../lib/system.ts";
import { MOVES_MAX } from "../../store/types/notes.ts";
import type { LockName, Waiter, LockQueue } from "./lock-queue.ts";

const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;
const NONE: readonly string[] = [];

export interface RunLocksParts {
  readonly clock: Clock;
  /** Ends all waiting. */
  readonly signal: AbortSignal;
  readonly tenant: string;
  /** The concurrency key of the job: its run has that name anyway. */
  readonly own: string | null;
  /** Where it waits with other runs. */
  readonly line: LockQueue;
  /** Answers those of the names that the run has now. */
  readonly acquireLocks: (names: readonly string[]) => Promise<readonly string[]>;
}

interface Ask {
  readonly names: readonly string[];
  readonly answer: (had: readonly string[]) => void;
  readonly fail: (error: unknown) => void;
}

export class RunLocks implements Waiter {
  readonly #parts: RunLocksParts;
  /** A unit of this run has it, or it is being asked for. */
  readonly #busy = new Set<string>();
  /** Units of this run wait for it, because another one has it. */
  readonly #wanted = new Set<string>();
  /** Others had it when it was asked for last. */
  readonly #refused = new Set<string>();
  /** It stands in line for it. */
  readonly #awaited = new Set<string>();
  /** It was called, and has not asked since. */
  readonly #called = new Set<string>();
  /** The run has it, as far as the store has told. */
  readonly #held = new Set<string>();
  /** What waits to be asked, and what the store has not answered yet. */
  #asks: Ask[] = [];
  #open: readonly Ask[] = [];
  #isAsking = false;
  #isClosed: boolean;
  #retryMs = RETRY_MS_MIN;
  #stopTimer: (() => void) | null = null;
  #change = Promise.withResolvers<void>();

  constructor(parts: RunLocksParts) {
    this.#parts = parts;
    this.#isClosed = parts.signal.aborted;
    parts.signal.addEventListener("abort", this.#close, { once: true });
  }

  /** Takes a name for one unit. */
  async take(name: string): Promise<boolean> {
    return (await this.takeSome([name])).length > 0;
  }

  /** Takes those of the names that nobody has, each for one unit. */
  takeSome(names: readonly string[]): Promise<readonly string[]> {
    const free = this.#isClosed ? NONE : names.filter((name) => this.#isFree(name));
    if (free.length === 0) return Promise.resolve(NONE);
    for (const name of free) this.#busy.add(name);
    if (free.every((name) => this.isOwn(name))) return Promise.resolve(free);
    return new Promise((answer, fail) => {
      this.#asks.push({ names: free, answer, fail });
      if (this.#isAsking) return;
      this.#isAsking = true;
      // As part of no job, like all that a worker does for several.
      runOutside(() => soon(() => void this.#ask()));
    });
  }

  /** The unit that had it has ended. */
  leave(name: string): void {
    this.#busy.delete(name);
    if (this.#wanted.delete(name)) this.wake();
  }

  /** The store has heard that the run gives it up. */
  released(name: string): void {
    const { line } = this.#parts;
    this.#held.delete(name);
    if (!line.isAwaited(this.#inTenant(name))) return;
    // Later, because units of this run are the first to ask.
    soon(() => {
      if (!this.#busy.has(name)) line.call(this.#inTenant(name));
    });
  }

  /** What the store gives to others when the run has ended, besides the key of its job. */
  get held(): readonly string[] {
    return [...this.#held];
  }

  /** Another run of the worker has given it up. */
  call(name: string): void {
    this.#awaited.delete(name);
    this.#called.add(name);
    if (this.#refused.delete(name)) this.wake();
  }

  /** Whether the store need not hear of it. */
  isOwn(name: string): boolean {
    return name === this.#parts.own;
  }

  /** Resolves when it is worth to try again what could not be taken. */
  changed(): Promise<void> {
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  /** The run is over: whoever waits gets nothing. */
  close(): void {
    this.#isClosed = true;
    this.#parts.signal.removeEventListener("abort", this.#close);
    this.#stopTimer?.();
    this.#leaveLine();
    for (const { answer } of [...this.#open, ...this.#asks.splice(0)]) answer(NONE);
    this.wake();
  }

  readonly #close = (): void => this.close();

  #isFree(name: string): boolean {
    if (this.#busy.has(name)) this.#wanted.add(name);
    return !this.#busy.has(name) && !this.#refused.has(name);
  }

  async #ask(): Promise<void> {
    while (this.#asks.length > 0) {
      const asks = this.#asks.splice(0);
      this.#open = asks;
      try {
        const had = await this.#acquireLocks(asks.flatMap(({ names }) => names));
        for (const { names, answer } of asks) answer(names.filter((name) => had.has(name)));
      } catch (error) {
        for (const { fail } of asks) fail(error);
      }
    }
    this.#open = [];
    this.#isAsking = false;
  }

  async #acquireLocks(names: readonly string[]): Promise<ReadonlySet<string>> {
    const had = new Set(names.filter((name) => this.isOwn(name)));
    const foreign = names.filter((name) => !this.isOwn(name));
    for (let from = 0; from < foreign.length; from += MOVES_MAX) {
      const chunk = foreign.slice(from, from + MOVES_MAX);
      // Before the store answers: what is given up meanwhile must not be missed.
      for (const name of chunk) this.#join(name);
      for (const name of await this.#parts.acquireLocks(chunk)) {
        this.#hold(name);
        had.add(name);
      }
    }
    if (had.size > 0) this.#retryMs = RETRY_MS_MIN;
    for (const name of names) if (!had.has(name)) this.#refuse(name);
    return had;
  }

  #join(name: string): void {
    this.#called.delete(name);
    if (this.#isClosed) return;
    this.#awaited.add(name);
    this.#parts.line.join(this.#inTenant(name), this);
  }

  #hold(name: string): void {
    this.#held.add(name);
    this.#called.delete(name);
    this.#awaited.delete(name);
    this.#parts.line.leave(this.#inTenant(name), this);
  }

  /** Calls that it can no longer follow go to the next in line. */
  #leaveLine(): void {
    const { line } = this.#parts;
    for (const name of this.#awaited) line.leave(this.#inTenant(name), this);
    for (const name of this.#called) line.call(this.#inTenant(name));
    this.#awaited.clear();
    this.#called.clear();
  }

  #inTenant(name: string): LockName {
    return { tenant: this.#parts.tenant, name };
  }

  #refuse(name: string): void {
    this.#busy.delete(name);
    if (this.#called.has(name)) {
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
