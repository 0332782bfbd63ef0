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

/** After so many pages without a message, the reader is told how far the stream has come. */
const PAGES_PER_PING = 50;

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
      try {
        const message = await reader.next();
        if (message === null) controller.close();
        else controller.enqueue(message);
      } catch (error) {
        // The stream is over, so that nobody cancels it.
        reader.end();
        throw error;
      }
    },
    cancel: () => reader.end(),
  });
}

class StreamReader {
  readonly #parts: EventStreamParts;
  readonly #leave: () => void;
  readonly #over = new AbortController();
  #at: StreamPlace | null = null;
  /** Messages of the current page. */
  #waiting: Iterator<StreamMessage> = [].values();
  #hasWaiting = false;
  #isBegun = false;

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#leave = parts.pages.join();
    parts.closing.addEventListener("abort", this.#onClosing, { once: true });
    if (parts.closing.aborted) this.end();
  }

  readonly #onClosing = (): void => this.end();

  end(): void {
    this.#leave();
    this.#parts.closing.removeEventListener("abort", this.#onClosing);
    this.#over.abort();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Null: the stream has ended. */
  async next(): Promise<StreamMessage | null> {
    if (!this.#isBegun) {
      this.#isBegun = true;
      const first = await this.#begin();
      if (first !== null) return this.#isOver ? null : first;
    }
    for (let pages = 1; !this.#isOver; pages += 1) {
      const { value: message, done } = this.#waiting.next();
      if (done !== true) return message;
      const isQuiet = await this.#read();
      // A reader whose filter matches nothing would otherwise wait without a sign, and begin again
      // at its old place when its connection is cut.
      const isPing = isQuiet || (pages % PAGES_PER_PING === 0 && !this.#hasWaiting);
      if (isPing && !this.#isOver) return { type: "ping", id: idOfPlace(this.#place) };
    }
    return null;
  }

  get #place(): StreamPlace {
    return this.#at ?? { position: 0, index: Infinity, place: 0 };
  }

  /** The place comes before the snapshot: what happens in between is in both. */
  async #begin(): Promise<StreamMessage | null> {
    const { pages, after, snapshot } = this.#parts;
    const end = await pages.end();
    // A place behind the end is of another database, or of this one before a backup was restored.
    const isLost = after !== null && (after.position > end || (await this.#isRemoved(after)));
    if (after !== null && !isLost) this.#at = after;
    else this.#at = { position: end, index: Infinity, place: 0 };
    const id = idOfPlace(this.#place);
    if (isLost) return { type: "reset", id };
    return snapshot === null ? null : { type: "snapshot", id, ...(await snapshot()) };
  }

  /** Whether entries behind this place, or the rest of its own entry, may have been removed. */
  async #isRemoved({ position, index }: StreamPlace): Promise<boolean> {
    const start = await this.#parts.pages.start();
    return position < (index === Infinity ? start : start + 1);
  }

  /** Reads the next page, or waits for one. True: nothing happened for the time of a ping. */
  async #read(): Promise<boolean> {
    const { pages, pingMs } = this.#parts;
    const { position, index } = this.#place;
    const { version } = pages;
    const entries = await pages.after(index === Infinity ? position : position - 1);
    if (entries.length > 0) {
      this.#take(entries);
      return false;
    }
    return !(await pages.changedSince(version, pingMs, this.#over.signal));
  }

  #take(entries: readonly FeedEntry[]): void {
    const from = this.#place;
    const messages = entries
      .flatMap(messagesOf)
      .filter(({ place, subject }) => isBehind(place, from) && this.#parts.matches(subject))
      .map(({ message }) => message);
    this.#waiting = messages.values();
    this.#hasWaiting = messages.length > 0;
    const position = entries.at(-1)?.position ?? from.position;
    this.#at = { position, index: Infinity, place: 0 };
  }
}

interface PlacedMessage {
  readonly place: StreamPlace;
  readonly subject: EventSubject;
  readonly message: StreamEvent;
}

function messagesOf(entry: FeedEntry): readonly PlacedMessage[] {
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
