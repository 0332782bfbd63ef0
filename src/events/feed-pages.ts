/**
 * The newest entries of the feed, read once for all streams.
 *
 * A stream has only a position. At the end of the feed, all streams read the entries that are kept
 * here; a stream that is further behind reads the store, and shares what it reads with others that
 * are near. So a slow reader costs no memory, and a thousand readers cost one read per wake-up.
 */
import { EVENT_KINDS } from "../api/events.ts";
import { within, type Clock } from "../core/clock.ts";
import type { FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
const ENTRIES_PER_READ = 200;
/** A page of so few entries, jobs and kilobytes is complete. */
const SHORT_MAX = 50;
/** The entries that are kept, and the jobs and details in them: one entry may have thousands. */
const ENTRIES_MAX = 1_000;
const JOBS_MAX = 5_000;
const DETAIL_CHARS_MAX = 2_000_000;
/** The pages behind the kept entries that streams share. */
const SHARED_PAGES_MAX = 4;
/** During an outage every stream fails at every retry. One line says so. */
const REPORT_MS = 10_000;

type FeedStore = Pick<JobStore, "feed" | "feedEnd" | "feedStart" | "watch">;
type PagesClock = Pick<Clock, "after" | "monotonic">;

const ALL_KINDS: ReadonlySet<FeedEntry["kind"]> = new Set(EVENT_KINDS);

/** A row of entries without a gap, the first one right behind the position `after`. */
interface KeptEntries {
  readonly after: number;
  readonly entries: readonly FeedEntry[];
}

/** Entries behind the position `after`, as the store has answered. */
interface SharedPage {
  readonly after: number;
  readonly entries: Promise<readonly FeedEntry[]>;
}

export class FeedPages {
  readonly #store: FeedStore;
  readonly #clock: PagesClock;
  readonly #failed: (error: unknown) => void;
  /** The functions that the readers want to be called at every poll. */
  readonly #readers = new Set<() => void>();
  #stop = (): void => {};
  /** Null: the end of the feed is not known yet. */
  #kept: KeptEntries | null = null;
  /** Pages of the last second, or on their way, newest last. */
  #shared: SharedPage[] = [];
  /** Grows with every change. */
  #version = 0;
  /** Grows when the last reader leaves: what was read for earlier readers is not kept. */
  #session = 0;
  readonly #waiters = new Set<() => void>();
  #reading = false;
  #again = false;
  #reportedAt = -Infinity;

  constructor(store: FeedStore, clock: PagesClock, failed: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
  }

  /** The feed is followed while there are readers. The answered function ends this one. */
  join(onPoll: () => void): () => void {
    // Two readers may share a function.
    const reader = (): void => onPoll();
    this.#readers.add(reader);
    if (this.#readers.size === 1) this.#begin();
    return () => {
      if (this.#readers.delete(reader) && this.#readers.size === 0) this.#end();
    };
  }

  /** To be read before a page: a change during the read must not be missed. */
  get version(): number {
    return this.#version;
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** Whether there are new entries since `version`. Waits for them at most `ms`. */
  async changedSince(version: number, ms: number, leaving: AbortSignal): Promise<boolean> {
    if (this.#version === version) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      this.#waiters.add(wake);
      await this.pause(ms, leaving, promise);
      this.#waiters.delete(wake);
    }
    return this.#version !== version;
  }

  /** Waits for `ms`, or until the reader leaves or `early` resolves. */
  async pause(ms: number, leaving: AbortSignal, early?: Promise<void>): Promise<void> {
    if (leaving.aborted) return;
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const leave = (): void => resolve();
    leaving.addEventListener("abort", leave);
    await within(this.#clock, ms, early === undefined ? left : Promise.race([left, early]));
    leaving.removeEventListener("abort", leave);
  }

  /** Entries after a position, oldest first. */
  async after(position: number): Promise<readonly FeedEntry[]> {
    const kept = this.#kept;
    if (kept !== null && position >= kept.after) return entriesBehind(position, kept.entries);
    for (const { after, entries } of this.#shared) {
      if (position < after) continue;
      const found = entriesBehind(position, await entries);
      if (found.length > 0) return found;
    }
    return this.#readShared(position);
  }

  /** Many streams are at the same place after a restart, or when they cannot keep up. */
  #readShared(after: number): Promise<readonly FeedEntry[]> {
    const entries = this.#store.feed(after, ENTRIES_PER_READ, ALL_KINDS);
    const page = { after, entries };
    this.#shared = [...this.#shared, page].slice(-SHARED_PAGES_MAX);
    entries.catch(() => {
      this.#shared = this.#shared.filter((other) => other !== page);
    });
    return entries;
  }

  /** The position after which a stream begins now. */
  end(): Promise<number> {
    return this.#store.feedEnd();
  }

  /** The position after which all entries are there. */
  start(): Promise<number> {
    return this.#store.feedStart();
  }

  /** Reports that a read has failed and is tried again. */
  report(error: unknown): void {
    const now = this.#clock.monotonic();
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    this.#failed(error);
  }

  #begin(): void {
    const unwatch = this.#store.watch(() => void this.#read());
    let cancel = (): void => {};
    const poll = (): void => {
      cancel = this.#clock.after(POLL_MS, () => {
        poll();
        this.#shared = [];
        for (const onPoll of this.#readers) onPoll();
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
    this.#session += 1;
    this.#kept = null;
    this.#shared = [];
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
      while (this.#again && this.#readers.size > 0) {
        this.#again = false;
        if (await this.#readOnce(this.#session)) this.#again = true;
      }
    } catch (error) {
      if (this.#readers.size > 0) this.report(error);
    } finally {
      this.#reading = false;
    }
  }

  /** False: there was nothing new. */
  async #readOnce(session: number): Promise<boolean> {
    const kept = this.#kept;
    if (kept === null) return this.#findEnd(session);
    const last = kept.entries.at(-1)?.position ?? kept.after;
    const entries = await this.#store.feed(last, ENTRIES_PER_READ, ALL_KINDS);
    if (this.#session !== session) return true;
    if (entries.length === 0) return false;
    this.#kept = bounded({ after: kept.after, entries: [...kept.entries, ...entries] });
    this.#wake();
    return !isShort(entries);
  }

  /** Wakes the streams: entries before this end may be new to a stream that has read the store. */
  async #findEnd(session: number): Promise<boolean> {
    const after = await this.#store.feedEnd();
    if (this.#session !== session) return true;
    this.#kept = { after, entries: [] };
    this.#wake();
    return true;
  }
}

function entriesBehind(position: number, entries: readonly FeedEntry[]): readonly FeedEntry[] {
  const first = entries.findLastIndex((entry) => entry.position <= position) + 1;
  return entries.slice(first, first + ENTRIES_PER_READ);
}

/** Far from every limit of a page: there was nothing more, and a wake-up says when there is. */
function isShort(entries: readonly FeedEntry[]): boolean {
  const { jobs, chars } = sizeOf(entries);
  return entries.length <= SHORT_MAX && jobs <= SHORT_MAX && chars <= SHORT_MAX * 1_000;
}

function sizeOf(entries: readonly FeedEntry[]): { readonly jobs: number; readonly chars: number } {
  const details = entries.flatMap((entry) => entry.details ?? []);
  return {
    jobs: entries.reduce((sum, entry) => sum + entry.jobs.length, 0),
    chars: details.reduce((sum, detail) => sum + detail.length, 0),
  };
}

/** The newest of the entries, as many as may be kept. */
function bounded({ after, entries }: KeptEntries): KeptEntries {
  let jobs = 0;
  let chars = 0;
  const dropped = entries.findLastIndex((entry, index) => {
    const size = sizeOf([entry]);
    jobs += size.jobs;
    chars += size.chars;
    return entries.length - index > ENTRIES_MAX || jobs > JOBS_MAX || chars > DETAIL_CHARS_MAX;
  });
  return {
    after: entries[dropped]?.position ?? after,
    entries: entries.slice(dropped + 1),
  };
}
