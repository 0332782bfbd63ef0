/**
 * One reader of the durable feed, fanned out to many listeners.
 *
 * It sleeps while nobody listens. Then it reads on every wake-up of the store and, because wake-ups
 * are only wake-ups, every {@link POLL_MS} as well. Listeners hear of jobs that other processes
 * ran, in the order of commits, at least once. Everybody hears an entry before anybody hears the
 * next: what happened to a job is in order also for somebody who listens to several events.
 */
import { wait, within, type Clock } from "../core/clock.ts";
import type { EventKind, FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
const ENTRIES_PER_READ = 200;
/** An entry whose facts cannot be read so often comes without: it must not silence all others. */
const FACTS_TRIES_MAX = 5;
/** For how long somebody waits for the feed to know its place. */
const BEGIN_MS_MAX = 5_000;
const PLACE_RETRY_MS = 200;

export type FeedListener = (entry: FeedEntry) => void;

type FeedStore = Pick<JobStore, "feed" | "feedEnd" | "watch">;

export class Feed {
  readonly #store: FeedStore;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #listeners = new Set<Listening>();
  #session: Session | null = null;
  #beginning: Promise<void> | null = null;
  #reading = false;
  #again = false;
  /** How often what follows the last entry that was told could not be read. */
  #failures = 0;

  constructor(store: FeedStore, clock: Clock, failed: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
  }

  /**
   * Until the feed knows from where on it hears; null: it does. It is over as well when the store
   * took too long: then the feed hears from the moment at which the store says it.
   */
  get beginning(): Promise<void> | null {
    return this.#beginning;
  }

  /**
   * Hears everything that is committed from now on, or from the end of {@link beginning}. Entries
   * of the kind `about` come with the facts of their jobs.
   */
  listen(hear: FeedListener, about: EventKind | null = null): () => void {
    const listening: Listening = { hear, about };
    this.#listeners.add(listening);
    this.#session ??= this.#begin();
    return () => {
      this.#listeners.delete(listening);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#session?.stop();
    this.#session = null;
    this.#failures = 0;
  }

  #begin(): Session {
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
    const session: Session = { stop, position: null, isOver: false };
    void this.#awaitPlace(within(this.#clock, BEGIN_MS_MAX, this.#findPlace(session)));
    return session;
  }

  /** A store that cannot say is asked again, as long as somebody may wait for it. */
  async #findPlace(session: Session): Promise<void> {
    for (let waitedMs = 0; waitedMs < BEGIN_MS_MAX; waitedMs += PLACE_RETRY_MS) {
      try {
        await this.#positionOf(session);
        return;
      } catch (error) {
        if (session.isOver) return;
        this.#failed(error);
      }
      await wait(this.#clock, PLACE_RETRY_MS);
      if (session.isOver) return;
    }
  }

  /** It is forgotten before anybody who waits for it goes on, so that nobody overtakes them. */
  async #awaitPlace(beginning: Promise<void>): Promise<void> {
    this.#beginning = beginning;
    await beginning;
    if (this.#beginning === beginning) this.#beginning = null;
  }

  /** Where to read on. A store that could not say is asked again the next time. */
  #positionOf(session: Session): Promise<number> {
    session.position ??= this.#store.feedEnd().catch((error: unknown) => {
      session.position = null;
      throw error;
    });
    return session.position;
  }

  /** One read at a time; a wake-up during one leads to another. */
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
      // Of a feed that is closed nobody wants to hear.
      if (this.#session !== null) this.#failed(error);
    } finally {
      this.#reading = false;
    }
  }

  async #readOnce(): Promise<void> {
    const session = this.#session;
    if (session === null) return;
    const about = this.#kindsAskedAbout();
    const entries = await this.#pageAfter(await this.#positionOf(session), about);
    // Who has begun to listen meanwhile has a session of its own, and hears nothing of before.
    if (entries.length === 0 || this.#session !== session) return;
    this.#again = true;
    // Somebody who came meanwhile asks for more than was read.
    if ([...this.#kindsAskedAbout()].some((kind) => !about.has(kind))) return;
    const listeners = [...this.#listeners];
    for (const entry of entries) {
      for (const each of listeners) if (this.#listeners.has(each)) each.hear(entry);
      if (this.#session !== session) return;
      session.position = Promise.resolve(entry.position);
    }
  }

  #kindsAskedAbout(): ReadonlySet<EventKind> {
    return new Set([...this.#listeners].flatMap(({ about }) => about ?? []));
  }

  /** After a failure entry by entry, so that one whose facts cannot be read stands alone. */
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

interface Listening {
  readonly hear: FeedListener;
  readonly about: EventKind | null;
}

/** From the first listener to the last one's leave. */
interface Session {
  readonly stop: () => void;
  /** `null` when the store has not told it yet. */
  position: Promise<number> | null;
  isOver: boolean;
}
