/**
 * The newest entries of the feed, read once for all streams.
 *
 * A stream has only a position. At the end of the feed, all streams read the entries that are kept
 * here; a stream that is further behind reads the store, and shares what it reads with others that
 * are near. So a slow reader costs no memory, and a thousand readers cost one read per wake-up,
 * and fewer reads while the feed is busy.
 */
import { EVENT_KINDS } from "../api/events.ts";
import type { Clock } from "../core/clock.ts";
import { SharedEvents } from "./entry-events.ts";
import {
  bounded,
  ENTRIES_PER_READ,
  entriesBehind,
  lengthOf,
  type PageLength,
  type KeptEntries,
} from "./kept-entries.ts";
import { SharedReads } from "../lib/shared-reads.ts";
import type { FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
/**
 * The pause after a read of a busy feed: a few large pages cost less than many small ones. A read
 * that takes long is followed by a longer pause, so that reads take a fifth of the time at most.
 */
const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 100;
const PAUSE_PER_READ = 4;
/** After so many reads, each within a pause after the last one, the feed is busy. */
const BURST_READS_MAX = 20;
/** The pages behind the kept entries that streams share. */
const SHARED_PAGES_MAX = 4;
/** During an outage every stream fails at every retry. One line says so. */
const REPORT_MS = 10_000;

type FeedStore = Pick<JobStore, "feed" | "feedEnd" | "feedStart" | "watch">;
type PagesClock = Pick<Clock, "after" | "monotonic">;

const ALL_KINDS: ReadonlySet<FeedEntry["kind"]> = new Set(EVENT_KINDS);

/** Entries behind the position `after`, as the store has answered. */
interface SharedPage {
  readonly after: number;
  readonly entries: Promise<readonly FeedEntry[]>;
}

/** Ends the wait of a reader that leaves. A signal would cost more than the rest of a wait. */
export class Leaving {
  hasLeft = false;
  onLeave: (() => void) | null = null;

  leave(): void {
    this.hasLeft = true;
    this.onLeave?.();
  }
}

export class FeedPages {
  /** The messages of the entries that streams read now. */
  readonly events: SharedEvents = new SharedEvents();
  readonly #store: FeedStore;
  readonly #clock: PagesClock;
  readonly #failed: (error: unknown) => void;
  /** Streams that begin at the same moment begin at the same end. */
  readonly #ends = new SharedReads<number>();
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
  /** The reads that came shortly after one another. */
  #burst = 0;
  #readAt = -Infinity;
  #endPause = (): void => {};
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
  async changedSince(version: number, ms: number, leaving: Leaving): Promise<boolean> {
    if (this.#version === version) await this.#wait(ms, leaving, this.#waiters);
    return this.#version !== version;
  }

  /** Waits for `ms`, or until the reader leaves. */
  pause(ms: number, leaving: Leaving): Promise<void> {
    return this.#wait(ms, leaving, new Set());
  }

  /** The same, or until the function that is added to `waiters` is called. */
  async #wait(ms: number, leaving: Leaving, waiters: Set<() => void>): Promise<void> {
    if (leaving.hasLeft) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    const stop = this.#clock.after(ms, wake);
    leaving.onLeave = wake;
    waiters.add(wake);
    await promise;
    waiters.delete(wake);
    leaving.onLeave = null;
    stop();
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
    return this.#ends.read("", () => this.#store.feedEnd());
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
        this.events.clear();
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
    this.#endPause();
    this.#session += 1;
    this.#kept = null;
    this.#shared = [];
    this.events.clear();
    this.#wake();
  }

  #wake(): void {
    this.#version += 1;
    for (const wake of this.#waiters) wake();
  }

  /** One read at a time; a wake-up during a read, or in the pause after it, causes another read. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again && this.#readers.size > 0) {
        this.#again = false;
        const beganAt = this.#clock.monotonic();
        const found = await this.#readOnce(this.#session);
        if (found !== "short") this.#again = true;
        if (this.#isBusy(found)) await this.#pause(this.#clock.monotonic() - beganAt);
      }
    } catch (error) {
      if (this.#readers.size > 0) this.report(error);
    } finally {
      this.#reading = false;
    }
  }

  /** A lone event is read at once, and so are the few events of a job. */
  #isBusy(found: PageLength): boolean {
    if (found !== "short") return found === "long";
    const now = this.#clock.monotonic();
    this.#burst = now - this.#readAt <= PAUSE_MS_MIN ? this.#burst + 1 : 0;
    this.#readAt = now;
    return this.#burst > BURST_READS_MAX;
  }

  async #pause(readMs: number): Promise<void> {
    const ms = Math.min(Math.max(PAUSE_PER_READ * readMs, PAUSE_MS_MIN), PAUSE_MS_MAX);
    await new Promise<void>((resolve) => {
      const stop = this.#clock.after(ms, resolve);
      this.#endPause = () => {
        stop();
        resolve();
      };
    });
    this.#endPause = () => {};
  }

  async #readOnce(session: number): Promise<PageLength> {
    const kept = this.#kept;
    if (kept === null) return this.#findEnd(session);
    const last = kept.entries.at(-1)?.position ?? kept.after;
    const entries = await this.#store.feed(last, ENTRIES_PER_READ, ALL_KINDS);
    if (this.#session !== session) return "cut";
    if (entries.length === 0) return "short";
    this.#kept = bounded({ after: kept.after, entries: [...kept.entries, ...entries] });
    this.#wake();
    return lengthOf(entries);
  }

  /** Wakes the streams: entries before this end may be new to a stream that has read the store. */
  async #findEnd(session: number): Promise<PageLength> {
    const after = await this.#store.feedEnd();
    if (this.#session !== session) return "cut";
    this.#kept = { after, entries: [] };
    this.#wake();
    return "cut";
  }
}
