/**
 * One reader of the durable feed, fanned out to many listeners.
 *
 * It sleeps while nobody listens. Then it reads on every wake-up of the store and, because wake-ups
 * are only hints, every {@link POLL_MS} as well. Listeners hear of jobs that other processes ran,
 * in the order of commits, at least once. An entry is told when everybody has heard the one before:
 * what happened to a job is in order also for somebody who listens to several events.
 */
import type { Clock } from "../core/clock.ts";
import type { FeedEntry, JobStore } from "../store/store.ts";

const POLL_MS = 1_000;
const ENTRIES_PER_READ = 200;
/** An entry that cannot be told so often is passed over: it must not silence all others. */
const TELL_TRIES_MAX = 5;

/** Its promise is waited for. When it is rejected, everybody is told the same entry again. */
export type FeedListener = (entry: FeedEntry) => unknown;

export class Feed {
  readonly #store: Pick<JobStore, "feed" | "feedEnd" | "watch">;
  readonly #clock: Clock;
  readonly #failed: (error: unknown) => void;
  readonly #listeners = new Set<FeedListener>();
  #session: Session | null = null;
  #reading = false;
  #again = false;
  /** How often the entry after the last one that was told could not be. */
  #failures = 0;

  constructor(
    store: Pick<JobStore, "feed" | "feedEnd" | "watch">,
    clock: Clock,
    failed: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#failed = failed;
  }

  /**
   * Hears everything that is committed from now on; if the store does not tell at once where that
   * begins, from the moment at which it does.
   */
  listen(listener: FeedListener): () => void {
    const entry: FeedListener = (each) => listener(each);
    this.#listeners.add(entry);
    this.#session ??= this.#begin();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.#listeners.clear();
    this.#session?.stop();
    this.#session = null;
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
      unwatch();
      cancelPoll();
    };
    const session: Session = { stop, position: null };
    // Whoever reads next hears of a failure; until then it must not count as unhandled.
    this.#positionOf(session).catch(() => {});
    return session;
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
    const entries = await this.#store.feed(await this.#positionOf(session), ENTRIES_PER_READ);
    // Who has begun to listen meanwhile has a session of its own, and hears nothing of before.
    if (entries.length === 0 || this.#session !== session) return;
    const listeners = [...this.#listeners];
    for (const entry of entries) {
      await this.#tell(entry, listeners);
      if (this.#session !== session) return;
      session.position = Promise.resolve(entry.position);
    }
    this.#again = true;
  }

  async #tell(entry: FeedEntry, listeners: readonly FeedListener[]): Promise<void> {
    try {
      for (const listener of listeners) {
        const telling = this.#listeners.has(listener) ? listener(entry) : undefined;
        if (telling instanceof Promise) await telling;
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures < TELL_TRIES_MAX) throw error;
      this.#failures = 0;
      this.#failed(error);
    }
  }
}

/** From the first listener to the last one's leave. */
interface Session {
  readonly stop: () => void;
  /** `null` when the store has not told it yet. */
  position: Promise<number> | null;
}
