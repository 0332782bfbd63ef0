/** Streams over a real store in memory, with a clock that the test moves. */
import { setImmediate } from "node:timers/promises";
import type { StreamMessage } from "../../../src/api/stream.ts";
import { eventStream, type EventStreamParts } from "../../../src/events/event-stream.ts";
import { FeedPages } from "../../../src/events/feed-pages.ts";
import { placeOf } from "../../../src/events/stream-place.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import { wrapStore } from "../../../src/store/wrap-store.ts";
import { makeTestClock, type MovableClock } from "../../../src/testing/test-clock.ts";
import { retention } from "../factories.ts";

export type StreamReader = ReadableStreamDefaultReader<StreamMessage>;

export interface StreamScene extends AsyncDisposable {
  readonly store: JobStore;
  readonly clock: MovableClock;
  readonly pages: FeedPages;
  /** Errors that were reported. */
  readonly errors: readonly unknown[];
  /** The calls of the streams, by verb. */
  readonly calls: Verb[];
  /** The number of listeners to the wake-ups of the store. */
  readonly watchers: () => number;
  readonly closing: AbortController;
  /** Called before every read of the streams. May wait, or fail the read. */
  before: (verb: Verb) => Promise<void>;
  open(options?: Partial<Omit<EventStreamParts, "after">> & { after?: string }): StreamReader;
  /** Moves the clock; the store answers in between. */
  pass(ms: number): Promise<void>;
}

export async function openStreams(): Promise<StreamScene> {
  const store = makeSqliteStore({ path: ":memory:" });
  await store.open();
  const clock = makeTestClock();
  const errors: unknown[] = [];
  const calls: Verb[] = [];
  const closing = new AbortController();
  let watchers = 0;
  const seen = wrapStore(
    store,
    (verb) => async (call) => {
      calls.push(verb);
      await scene.before(verb);
      return call();
    },
    {
      watch(listener) {
        watchers += 1;
        const unwatch = store.watch(listener);
        return () => {
          watchers -= 1;
          unwatch();
        };
      },
    },
  );
  const pages = new FeedPages(seen, clock, (error) => errors.push(error));
  const parts = { pages, pingMs: 15_000, snapshot: null, matches: null };
  const scene: StreamScene = {
    store,
    clock,
    pages,
    errors,
    calls,
    watchers: () => watchers,
    closing,
    before: async () => {},
    open: ({ after, ...options } = {}) =>
      eventStream({
        ...parts,
        closing: closing.signal,
        ...options,
        after: after === undefined ? null : placeOf(after),
      }).getReader(),
    pass: (ms) => clock.move(ms, turns),
    [Symbol.asyncDispose]: () => store.close(),
  };
  return scene;
}

/** Enough turns of the event loop for a stream to read what is there. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

/** The next messages; the clock stands still meanwhile. */
export async function takeMessages(reader: StreamReader, count: number): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = [];
  while (messages.length < count) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the stream has ended");
    messages.push(value);
  }
  return messages;
}

/** What a test compares of a message: the event and the job, or the type of the message. */
export function briefly(message: StreamMessage): string {
  return message.type === "event" ? `${message.event} ${message.data.id}` : message.type;
}

/** Removes jobs that were cancelled, and keeps their events. */
export async function removeCancelled(store: JobStore): Promise<void> {
  const hour = 3_600_000;
  const finishedMs = { completed: hour, completed_with_errors: hour, failed: hour };
  await store.prune(retention({ finishedMs: { ...finishedMs, cancelled: -1_000 } }), 100);
}

/** Removes the events up to now, and keeps the jobs. */
export async function removeEvents(store: JobStore): Promise<void> {
  await store.prune(retention({ eventMs: -1_000 }), 100);
}
