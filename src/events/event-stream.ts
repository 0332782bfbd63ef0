/**
 * A stream of events: a snapshot first, then the events behind it, and a ping when nothing happens.
 *
 * The stream reads when its reader wants a message, and keeps no more than one page. Its place in
 * the feed is its only state, so it continues behind any id that it or another process gave out.
 */
import type { Events } from "../api/events.ts";
import type { StreamEvent, StreamMessage } from "../api/stream.ts";
import type { EventSubject } from "./entry-events.ts";
import { Leaving, type FeedPages } from "./feed-pages.ts";
import { PageCursor } from "./page-cursor.ts";
import { idOfPlace, type StreamPlace } from "./stream-place.ts";

/** The pause before a failed read is repeated, and how long a stream survives failures. */
const RETRY_MS = 1_000;
const OUTAGE_MS_MAX = 30_000;
/** A page that waits hardly at all still reads on for so long until there is a match. */
const BUSY_PING_MS_MIN = 1_000;

/** The messages that wait in a stream for its reader, unless they are large. */
const QUEUED_MAX = 16;
/** The kinds of events whose messages have details or errors, which may be large. */
const LARGE: ReadonlySet<string> = new Set<keyof Events>([
  "job:progress",
  "job:unit",
  "job:phase:completed",
  "job:failed",
]);

export interface EventStreamParts {
  readonly pages: FeedPages;
  readonly pingMs: number;
  /** Null: the stream begins at the end of the feed. */
  readonly after: StreamPlace | null;
  /** Reads the current state; null: the stream begins without it. */
  readonly snapshot:
    | (() => Promise<Omit<Extract<StreamMessage, { type: "snapshot" }>, "type" | "id">>)
    | null;
  /** Null: all events. */
  readonly matches: ((event: EventSubject) => boolean) | null;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
}

export function eventStream(parts: EventStreamParts): ReadableStream<StreamMessage> {
  const reader = new StreamReader(parts);
  return new ReadableStream<StreamMessage>({
    // No promise for messages that are there: they would cost more than the messages.
    pull: (controller) => (reader.fill(controller) ? undefined : pullNext(reader, controller)),
    cancel: () => reader.cancel(),
  });
}

async function pullNext(reader: StreamReader, controller: Controller): Promise<void> {
  const message = await reader.next();
  if (message !== null) controller.enqueue(message);
  else if (!reader.isCancelled) controller.close();
}

type Controller = ReadableStreamDefaultController<StreamMessage>;

class StreamReader {
  readonly #parts: EventStreamParts;
  readonly #leave: () => void;
  readonly #leaving = new Leaving();
  /** Behind what was taken from earlier pages. */
  #at: StreamPlace = { position: 0, index: Infinity, place: 0 };
  /** What is left of the page that was read last. */
  #page: PageCursor | null = null;
  #isBegun = false;
  #isCancelled = false;
  /** No message was taken since the last poll. */
  #isIdle = false;
  #sentAt: number;
  /** Null: the last read has succeeded. */
  #failingSince: number | null = null;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#sentAt = parts.pages.monotonic();
    this.#leave = parts.pages.join(() => this.#dropIdlePage());
    parts.closing.addEventListener("abort", this.#end, { once: true });
    if (parts.closing.aborted) this.#end();
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#end();
  }

  readonly #end = (): void => {
    this.#leave();
    this.#parts.closing.removeEventListener("abort", this.#end);
    this.#leaving.leave();
    this.#leavePage();
  };

  get #isOver(): boolean {
    return this.#leaving.hasLeft;
  }

  /** Hands out messages of the page that was read last. False: there is none. */
  fill(controller: Controller): boolean {
    const { matches } = this.#parts;
    let count = 0;
    for (let isSmall = true; isSmall && count < QUEUED_MAX; count += 1) {
      const message = this.#page?.next(matches) ?? null;
      if (message === null) {
        this.#leavePage();
        break;
      }
      controller.enqueue(message);
      isSmall = !LARGE.has(message.event);
    }
    if (count === 0) return false;
    this.#isIdle = false;
    this.#sentAt = this.#parts.pages.monotonic();
    return true;
  }

  /** Null: the stream has ended. After an error it has ended as well. */
  async next(): Promise<StreamMessage | null> {
    this.#isIdle = false;
    try {
      const message = await this.#nextMessage();
      this.#sentAt = this.#parts.pages.monotonic();
      return this.#isOver ? null : message;
    } catch (error) {
      if (this.#isOver) return null;
      this.#end();
      throw error;
    }
  }

  async #nextMessage(): Promise<StreamMessage | null> {
    if (!this.#isBegun) {
      this.#isBegun = true;
      const first = await this.#begin();
      if (first !== null) return first;
    }
    while (!this.#isOver) {
      const message = this.#takeMatching() ?? (await this.#read());
      if (message !== null) return message;
    }
    return null;
  }

  /** The place comes before the snapshot: what happens in between is in both. */
  async #begin(): Promise<StreamMessage | null> {
    const { pages, after, snapshot } = this.#parts;
    const end = await pages.end();
    this.#at = after ?? { position: end, index: Infinity, place: 0 };
    // A place behind the end is one of another database: its entries will never come.
    if (after !== null && (after.position > end || (await this.#isRemoved(after)))) {
      return this.#reset(end);
    }
    if (snapshot === null) return null;
    return { type: "snapshot", id: idOfPlace(this.#at), ...(await snapshot()) };
  }

  /** Whether entries behind this place, or the rest of its own entry, may have been removed. */
  async #isRemoved({ position, index }: StreamPlace): Promise<boolean> {
    const start = await this.#parts.pages.start();
    return position < (index === Infinity ? start : start + 1);
  }

  #reset(end: number): StreamMessage {
    this.#at = { position: end, index: Infinity, place: 0 };
    return { type: "reset", id: idOfPlace(this.#at) };
  }

  /** Null: the page has no further message that matches. */
  #takeMatching(): StreamEvent | null {
    const message = this.#page?.next(this.#parts.matches) ?? null;
    if (message === null) this.#leavePage();
    return message;
  }

  /** The stream continues behind what was taken of the page. */
  #leavePage(): void {
    this.#at = this.#page?.place() ?? this.#at;
    this.#page = null;
  }

  /** The reader may never come back. The stream continues from its place. */
  #dropIdlePage(): void {
    if (this.#isIdle) this.#leavePage();
    this.#isIdle = true;
  }

  /** Reads the next page, or waits for one. The store may fail for a while. */
  async #read(): Promise<StreamMessage | null> {
    try {
      const message = await this.#readPage();
      this.#failingSince = null;
      return message;
    } catch (error) {
      const { pages } = this.#parts;
      this.#failingSince ??= pages.monotonic();
      if (this.#isOver || pages.monotonic() - this.#failingSince >= OUTAGE_MS_MAX) throw error;
      pages.report(error);
      await pages.pause(RETRY_MS, this.#leaving);
      return null;
    }
  }

  async #readPage(): Promise<StreamMessage | null> {
    const { pages, pingMs } = this.#parts;
    const { version } = pages;
    const from = this.#at.index === Infinity ? this.#at.position : this.#at.position - 1;
    const entries = await pages.after(from);
    const [first] = entries;
    if (first === undefined) {
      const leftMs = Math.max(0, pingMs - this.#silentMs());
      return (await pages.changedSince(version, leftMs, this.#leaving)) ? null : this.#ping();
    }
    // Positions have no gaps, unless entries were removed while the reader was slow.
    if (first.position > from + 1 && (await this.#isRemoved(this.#at))) {
      return this.#reset(await pages.end());
    }
    this.#page = new PageCursor(pages.events, this.#at, entries);
    // A busy feed without a match needs pings as well, with the place that was reached.
    const found = this.#takeMatching();
    return found ?? (this.#silentMs() >= Math.max(pingMs, BUSY_PING_MS_MIN) ? this.#ping() : null);
  }

  #silentMs(): number {
    return this.#parts.pages.monotonic() - this.#sentAt;
  }

  #ping(): StreamMessage {
    return { type: "ping", id: idOfPlace(this.#at) };
  }
}
