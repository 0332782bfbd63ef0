/**
 * Finds out when jobs end, for all callers of `wait` and `result` together.
 *
 * One read asks for all jobs that are waited for: at once for a new one, at every wake-up that may
 * come from a final job, and, because wake-ups are best effort, every {@link POLL_MS}. The read
 * returns what the callers need. The feed is not read, so that no events have to be numbered.
 */
import type { Clock } from "../../core/clock.ts";
import { wait } from "../../core/clock.ts";
import type { JobId } from "../../core/job.ts";
import type { FinalJob, JobEnd } from "../../store/types/records.ts";
import type { JobStore } from "../../store/store.ts";

const POLL_MS = 1_000;
/** Jobs in one read. */
const READ_MAX = 500;
/** With more jobs than this, reads have pauses, in which 20 jobs count as a millisecond. */
const PAUSELESS_MAX = 100;
const JOBS_PER_MS = 20;

/** One caller. */
interface Waiter {
  readonly id: JobId;
  readonly resolve: (job: FinalJob | null) => void;
  readonly reject: (error: unknown) => void;
}

export class EndWatch {
  readonly #store: Pick<JobStore, "ends" | "watch">;
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #unwatch: (() => void) | null = null;
  #isReading = false;
  #again = false;
  /** Jobs that no read has asked for yet. */
  readonly #fresh = new Set<JobId>();
  #isReadingFresh = false;

  constructor(store: Pick<JobStore, "ends" | "watch">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** `end` resolves with the final job; null: there is no such job. `stop` ends the wait. */
  add(id: JobId): { readonly end: Promise<FinalJob | null>; readonly stop: () => void } {
    const { promise, resolve, reject } = Promise.withResolvers<FinalJob | null>();
    // The caller may have given up by then.
    promise.catch(() => {});
    const waiter: Waiter = { id, resolve, reject };
    this.#waiters.add(waiter);
    try {
      this.#unwatch ??= this.#watch();
    } catch (error) {
      reject(error);
    }
    this.#fresh.add(id);
    void this.#readFresh();
    return { end: promise, stop: () => this.#remove(waiter) };
  }

  #remove(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    this.#unwatch?.();
    this.#unwatch = null;
  }

  #watch(): () => void {
    const unwatch = this.#store.watch((wakeUp) => {
      if (wakeUp === "final" || wakeUp === "work") void this.#read();
    });
    let stopPoll = (): void => {};
    const poll = (): void => {
      stopPoll = this.#clock.after(POLL_MS, () => {
        poll();
        void this.#read();
      });
    };
    poll();
    return () => {
      unwatch();
      stopPoll();
    };
  }

  /** One read at a time; a wake-up during a read causes another read. Never throws. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#again && this.#waiters.size > 0) {
      this.#again = false;
      const ids = [...new Set([...this.#waiters].map(({ id }) => id))];
      for (let from = 0; from < ids.length; from += READ_MAX) {
        await this.#readChunk(ids.slice(from, from + READ_MAX));
      }
      if (ids.length > PAUSELESS_MAX) await wait(this.#clock, ids.length / JOBS_PER_MS);
    }
    this.#isReading = false;
  }

  /** A job that is final already does not wait for the reads of all others. Never throws. */
  async #readFresh(): Promise<void> {
    if (this.#isReadingFresh) return;
    this.#isReadingFresh = true;
    while (this.#fresh.size > 0) {
      const ids = [...this.#fresh].slice(0, READ_MAX);
      for (const id of ids) this.#fresh.delete(id);
      await this.#readChunk(ids);
    }
    this.#isReadingFresh = false;
  }

  async #readChunk(ids: readonly JobId[]): Promise<void> {
    const asked = new Map<JobId, Waiter[]>(ids.map((id) => [id, []]));
    for (const waiter of this.#waiters) asked.get(waiter.id)?.push(waiter);
    try {
      const ends = await this.#store.ends(ids);
      ids.forEach((id, index) => tell(asked.get(id) ?? [], ends[index]));
    } catch (error) {
      for (const waiter of [...asked.values()].flat()) waiter.reject(error);
    }
  }
}

function tell(waiters: readonly Waiter[], end: JobEnd | undefined): void {
  if (end === undefined || end.status === "open") return;
  for (const { resolve } of waiters) resolve(end.status === "final" ? end.job : null);
}
