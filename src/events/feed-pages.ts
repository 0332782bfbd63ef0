/**
 * The newest entries of the feed, read once for all streams.
 *
 * A stream has only a position. At the end of the feed, all streams read the entries that are kept
 * here; a stream that is further behind reads the store. So a slow reader costs no memory, and a
 * thousand readers cost one read per wake-up.
 */
import { within, type Clock } from "../core/clock.ts";
import { EVENT_KINDS, type FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
const ENTRIES_PER_READ = 200;
/** The entries that are kept. */
const ENTRIES_MAX = 1_000;

type FeedStore = Pick<JobStore, "feed" | "feedEnd" | "feedStart" | "watch">;

const ALL_KINDS: ReadonlySet<FeedEntry["kind"]> = new Set(EVENT_KINDS);

export class FeedPages {
  readonly #store: FeedStore;
  readonly #clock: Pick<Clock, "after">;
  readonly #failed: (error: unknown) => void;
  #readers = 0;
  #stop = (): void => {};
  /** Entries in order. Null: the end of the feed is not known yet. */
  #kept: { readonly after: number; readonly entries: readonly FeedEntry[] } | null = null;
  /** Grows with every change. */
  #version = 0;
  readonly #waiters = new Set<() => void>();
  #reading = false;
  #again = false;

  constructor(store: FeedStore, clock: Pick<Clock, "after">, failed: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** The feed is followed while there are readers. The answered function ends this one. */
  join(): () => void {
    this.#readers += 1;
    if (this.#readers === 1) this.#begin();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#readers -= 1;
      if (this.#readers === 0) this.#end();
    };
  }

  /** To be read before a page: a change during the read must not be missed. */
  get version(): number {
    return this.#version;
  }

  /** Whether there are new entries since `version`. Waits for them at most `ms`. */
  async changedSince(version: number, ms: number, leaving: AbortSignal): Promise<boolean> {
    if (this.#version === version && !leaving.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      this.#waiters.add(wake);
      leaving.addEventListener("abort", wake);
      await within(this.#clock, ms, promise);
      this.#waiters.delete(wake);
      leaving.removeEventListener("abort", wake);
    }
    return this.#version !== version;
  }

  /** Entries after a position, oldest first. */
  async after(position: number): Promise<readonly FeedEntry[]> {
    const kept = this.#kept;
    if (kept === null || position < kept.after) {
      return this.#store.feed(position, ENTRIES_PER_READ, ALL_KINDS);
    }
    return kept.entries.filter((entry) => entry.position > position);
  }

  /** The position after which a stream begins now. */
  end(): Promise<number> {
    return this.#store.feedEnd();
  }

  /** The position after which all entries are there. */
  start(): Promise<number> {
    return this.#store.feedStart();
  }

  #begin(): void {
    const unwatch = this.#store.watch(() => void this.#read());
    let cancel = (): void => {};
    const poll = (): void => {
      cancel = this.#clock.after(POLL_MS, () => {
        poll();
        void this.#read();
      });
    };
    poll();
    this.#stop = () => {
      unwatch();
      cancel();
    };
    void this.#read();
  }

  #end(): void {
    this.#stop();
    this.#kept = null;
    this.#wake();
  }

  #wake(): void {
    this.#version += 1;
    for (const wake of this.#waiters) wake();
  }

  /** One read at a time; a wake-up during a read causes another read. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && this.#readers > 0) {
        this.#again = false;
        if (await this.#readOnce()) this.#again = true;
      }
    } catch (error) {
      if (this.#readers > 0) this.#failed(error);
    } finally {
      this.#reading = false;
    }
  }

  /** False: there was nothing new. */
  async #readOnce(): Promise<boolean> {
    const kept = (this.#kept ??= { after: await this.#store.feedEnd(), entries: [] });
    const last = kept.entries.at(-1)?.position ?? kept.after;
    const entries = await this.#store.feed(last, ENTRIES_PER_READ, ALL_KINDS);
    if (entries.length === 0 || this.#readers === 0) return false;
    const all = [...kept.entries, ...entries];
    const dropped = all.slice(0, Math.max(0, all.length - ENTRIES_MAX)).at(-1);
    this.#kept = {
      after: dropped?.position ?? kept.after,
      entries: all.slice(-ENTRIES_MAX),
    };
    this.#wake();
    return true;
  }
}
