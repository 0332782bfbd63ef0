/**
 * A stream of events: a snapshot first, then the events behind it, and a ping when nothing happens.
 *
 * The stream reads when its reader wants a message, and keeps no more than one page. Its place in
 * the feed is its only state, so it continues behind any id that it or another process gave out.
 */
import type { JobId } from "../core/job.ts";
import type { StreamEvent, StreamMessage } from "../api/stream.ts";
import type { DeletedDetail, FeedEntry, JobFacts } from "../store/types/records.ts";
import { eventsOf } from "./event-details.ts";
import type { FeedPages } from "./feed-pages.ts";

/** The pause before a failed read is repeated, and how long a stream survives failures. */
const RETRY_MS = 1_000;
const OUTAGE_MS_MAX = 30_000;
/** A page that waits hardly at all still reads on for so long until there is a match. */
const BUSY_PING_MS_MIN = 1_000;

/** A place in the feed: behind an event of a job in an entry, or behind a whole entry. */
export interface StreamPlace {
  readonly position: number;
  /** Infinity: behind the whole entry. */
  readonly index: number;
  readonly place: number;
}

export interface EventStreamParts {
  readonly pages: FeedPages;
  readonly pingMs: number;
  /** Null: the stream begins at the end of the feed. */
  readonly after: StreamPlace | null;
  /** Reads the current state; null: the stream begins without it. */
  readonly snapshot:
    | (() => Promise<Omit<Extract<StreamMessage, { type: "snapshot" }>, "type" | "id">>)
    | null;
  readonly matches: (event: EventSubject) => boolean;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
}

/** What a filter sees of an event. */
export interface EventSubject {
  readonly event: string;
  readonly id: JobId;
  /** Null: the job has been removed. */
  readonly facts: Pick<JobFacts, "type" | "tenant" | "correlationId"> | null;
}

export function eventStream(parts: EventStreamParts): ReadableStream<StreamMessage> {
  const reader = new StreamReader(parts);
  return new ReadableStream<StreamMessage>({
    async pull(controller) {
      const message = await reader.next();
      if (message !== null) controller.enqueue(message);
      else if (!reader.isCancelled) controller.close();
    },
    cancel: () => reader.cancel(),
  });
}

class StreamReader {
  readonly #parts: EventStreamParts;
  readonly #leave: () => void;
  readonly #over = new AbortController();
  #at: StreamPlace = { position: 0, index: Infinity, place: 0 };
  /** What is left of the page that was read last. */
  #page: { readonly messages: Iterator<PlacedMessage>; readonly end: StreamPlace } | null = null;
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
    this.#over.abort();
    this.#page = null;
  };

  get #isOver(): boolean {
    return this.#over.signal.aborted;
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
  #takeMatching(): StreamMessage | null {
    if (this.#page === null) return null;
    const { messages, end } = this.#page;
    for (let next = messages.next(); next.done !== true; next = messages.next()) {
      const { place, subject, message } = next.value;
      if (!this.#parts.matches(subject)) continue;
      this.#at = place;
      return message;
    }
    this.#at = end;
    this.#page = null;
    return null;
  }

  /** The reader may never come back. The stream continues from its place. */
  #dropIdlePage(): void {
    if (this.#isIdle) this.#page = null;
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
      await pages.pause(RETRY_MS, this.#over.signal);
      return null;
    }
  }

  async #readPage(): Promise<StreamMessage | null> {
    const { pages, pingMs } = this.#parts;
    const { version } = pages;
    const from = this.#at.index === Infinity ? this.#at.position : this.#at.position - 1;
    const entries = await pages.after(from);
    const [first] = entries;
    const last = entries.at(-1);
    if (first === undefined || last === undefined) {
      const leftMs = Math.max(0, pingMs - this.#silentMs());
      return (await pages.changedSince(version, leftMs, this.#over.signal)) ? null : this.#ping();
    }
    // Positions have no gaps, unless entries were removed while the reader was slow.
    if (first.position > from + 1 && (await this.#isRemoved(this.#at))) {
      return this.#reset(await pages.end());
    }
    const end = { position: last.position, index: Infinity, place: 0 };
    this.#page = { messages: messagesBehind(this.#at, entries), end };
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

interface PlacedMessage {
  readonly place: StreamPlace;
  readonly subject: EventSubject;
  readonly message: StreamEvent;
}

function* messagesBehind(
  from: StreamPlace,
  entries: readonly FeedEntry[],
): Generator<PlacedMessage, undefined> {
  for (const entry of entries) {
    for (const placed of messagesOf(entry)) if (isBehind(placed.place, from)) yield placed;
  }
}

/** All streams that read a kept entry share its messages. */
const MESSAGES = new WeakMap<FeedEntry, readonly PlacedMessage[]>();

function messagesOf(entry: FeedEntry): readonly PlacedMessage[] {
  const known = MESSAGES.get(entry) ?? placedMessages(entry);
  MESSAGES.set(entry, known);
  return known;
}

function placedMessages(entry: FeedEntry): readonly PlacedMessage[] {
  const { position, at } = entry;
  return entry.jobs.flatMap((id, turn) => {
    const facts = subjectOf(entry, turn);
    const index = entry.places[turn] ?? turn;
    return eventsOf(entry, turn, id).map(({ name, place: within, data }) => {
      const place = { position, index, place: within };
      const job = facts === null ? null : { type: facts.type, tenant: facts.tenant };
      const message: any = {
        type: "event",
        id: idOfPlace(place),
        at: new Date(at),
        event: name,
        data,
        job,
      };
      return { place, subject: { event: name, id, facts }, message };
    });
  });
}

/** The feed keeps what filters need to know of removed jobs. */
function subjectOf(entry: FeedEntry, index: number): EventSubject["facts"] {
  const detail = entry.kind === "job:deleted" ? entry.details?.[index] : undefined;
  if (detail === undefined) return entry.facts?.[index] ?? null;
  const deleted: DeletedDetail = JSON.parse(detail);
  return deleted;
}

function isBehind(place: StreamPlace, from: StreamPlace): boolean {
  if (place.position !== from.position) return place.position > from.position;
  return place.index !== from.index ? place.index > from.index : place.place > from.place;
}

/** `7`: behind entry 7. `7.2.1`: behind event 1 of job 2 of entry 7. */
function idOfPlace({ position, index, place }: StreamPlace): string {
  return index === Infinity ? String(position) : `${position}.${index}.${place}`;
}

/** Null: the text is no id of a message. */
export function placeOf(id: string): StreamPlace | null {
  const parts = /^(\d{1,15})(?:\.(\d{1,9})\.(\d{1,9}))?$/.exec(id);
  if (parts === null) return null;
  const [, position, index, place] = parts;
  if (index === undefined) return { position: Number(position), index: Infinity, place: 0 };
  return { position: Number(position), index: Number(index), place: Number(place) };
}
