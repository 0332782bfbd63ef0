/**
 * One reader of the durable feed for many listeners.
 *
 * The feed is read only while there are listeners: at every wake-up of the store and, because
 * wake-ups are best effort, every {@link POLL_MS}. Listeners get the events of all processes, in
 * the order of commits, at least once. All listeners get an entry before any listener gets the next
 * one, so that the events of a job are in order for a listener of several kinds. Of one entry, the
 * listeners to what precedes its event come first, whichever listener was added first.
 */
import { wait, within, type Clock } from "../core/clock.ts";
import type { EventKind, FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
const ENTRIES_PER_READ = 200;
/** After so many failed reads an entry is delivered without facts, so that it blocks no others. */
const FACTS_TRIES_MAX = 5;
/** The longest wait for the start position of the feed. */
const BEGIN_MS_MAX = 5_000;
const POSITION_RETRY_MS = 200;

export type FeedListener = (entry: FeedEntry) => void;

type FeedStore = Pick<JobStore, "feed" | "feedEnd" | "watch">;

export class Feed {
  readonly #store: FeedStore;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #subscriptions = new Set<FeedSubscription>();
  #session: FeedSession | null = null;
  #beginning: Promise<void> | null = null;
  #reading = false;
  #again = false;
  /** Consecutive failed reads. */
  #failures = 0;

  constructor(store: FeedStore, clock: Clock, failed: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
  }

  /**
   * Resolves when the feed knows its start position; null: it knows. Also resolves when the store
   * took too long: then the feed starts where the store answers later.
   */
  get beginning(): Promise<void> | null {
    return this.#beginning;
  }

  /**
   * Delivers everything that is committed from now on, or from the end of {@link beginning}.
   * Entries of the kind `about` have the facts of their jobs. A listener that derives an event from
   * entries of another kind is called `"before"` the listeners to that kind. Returns the function
   * to stop.
   */
  listen(
    listener: FeedListener,
    about: EventKind | null = null,
    turn: ListenerTurn = "with",
  ): () => void {
    const subscription: FeedSubscription = { listener, about, turn };
    this.#subscriptions.add(subscription);
    this.#session ??= this.#begin();
    return () => {
      this.#subscriptions.delete(subscription);
      if (this.#subscriptions.size === 0) this.close();
    };
  }

  close(): void {
    this.#subscriptions.clear();
    this.#session?.stop();
    this.#session = null;
    this.#failures = 0;
  }

  #begin(): FeedSession {
    const unwatch = this.#store.watch(() => void this.#read());
    let cancelPoll = (): void => {};
    const poll = (): void => {
      cancelPoll = this.#clock.after(POLL_MS, () => {
        poll();
        void this.#read();
      });
    };
    poll();
    const stop = (): void => {
      session.isOver = true;
      unwatch();
      cancelPoll();
    };
    const session: FeedSession = { stop, position: null, isOver: false };
    void this.#awaitPosition(within(this.#clock, BEGIN_MS_MAX, this.#findPosition(session)));
    return session;
  }

  /** Retries as long as callers may wait for the position. */
  async #findPosition(session: FeedSession): Promise<void> {
    for (let waitedMs = 0; waitedMs < BEGIN_MS_MAX; waitedMs += POSITION_RETRY_MS) {
      try {
        await this.#positionOf(session);
        return;
      } catch (error) {
        if (session.isOver) return;
        this.#failed(error);
      }
      await wait(this.#clock, POSITION_RETRY_MS);
      if (session.isOver) return;
    }
  }

  /** Clears `beginning` before its waiters continue, so that no later write overtakes them. */
  async #awaitPosition(beginning: Promise<void>): Promise<void> {
    this.#beginning = beginning;
    await beginning;
    if (this.#beginning === beginning) this.#beginning = null;
  }

  /** The position of the next read. After a failure the next call asks the store again. */
  #positionOf(session: FeedSession): Promise<number> {
    session.position ??= this.#store.feedEnd().catch((error: unknown) => {
      session.position = null;
      throw error;
    });
    return session.position;
  }

  /** One read at a time; a wake-up during a read causes another read. */
  async #read(): Promise<void> {
    this.#again = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#readOnce();
      }
    } catch (error) {
      // Errors of a closed feed are not reported.
      if (this.#session !== null) this.#failed(error);
    } finally {
      this.#reading = false;
    }
  }

  async #readOnce(): Promise<void> {
    const session = this.#session;
    if (session === null) return;
    const about = this.#kindsWithFacts();
    const entries = await this.#pageAfter(await this.#positionOf(session), about);
    // A new session has begun meanwhile: its listeners must not get older entries.
    if (entries.length === 0 || this.#session !== session) return;
    this.#again = true;
    // A new listener needs facts that were not read.
    if ([...this.#kindsWithFacts()].some((kind) => !about.has(kind))) return;
    const subscriptions = inTurn([...this.#subscriptions]);
    for (const entry of entries) {
      for (const each of subscriptions) if (this.#subscriptions.has(each)) each.listener(entry);
      if (this.#session !== session) return;
      session.position = Promise.resolve(entry.position);
    }
  }

  #kindsWithFacts(): ReadonlySet<EventKind> {
    return new Set([...this.#subscriptions].flatMap(({ about }) => about ?? []));
  }

  /** After a failure one entry per read, to isolate the entry whose facts cannot be read. */
  async #pageAfter(position: number, about: ReadonlySet<EventKind>): Promise<readonly FeedEntry[]> {
    const limit = this.#failures === 0 ? ENTRIES_PER_READ : 1;
    try {
      const entries = await this.#store.feed(position, limit, about);
      this.#failures = 0;
      return entries;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures < FACTS_TRIES_MAX) throw error;
      const entries = await this.#store.feed(position, 1);
      this.#failures = 0;
      this.#failed(error);
      return entries;
    }
  }
}

/** Whether a listener gets an entry with the other listeners, or before them. */
type ListenerTurn = "before" | "with";

interface FeedSubscription {
  readonly listener: FeedListener;
  readonly about: EventKind | null;
  readonly turn: ListenerTurn;
}

function inTurn(subscriptions: readonly FeedSubscription[]): readonly FeedSubscription[] {
  const before = subscriptions.filter(({ turn }) => turn === "before");
  return [...before, ...subscriptions.filter(({ turn }) => turn === "with")];
}

/** From the first listener until there is none. */
interface FeedSession {
  readonly stop: () => void;
  /** Null until the store has answered. */
  position: Promise<number> | null;
  isOver: boolean;
}
