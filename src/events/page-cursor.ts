/** Walks through the messages of a page of the feed, for one stream. */
import type { StreamEvent } from "../api/stream.ts";
import type { FeedEntry } from "../store/types/records.ts";
import type { EntryEvents, EventSubject, SharedEvents } from "./entry-events.ts";
import { isBehind, type StreamPlace } from "./stream-place.ts";

export class PageCursor {
  readonly #shared: SharedEvents;
  readonly #from: StreamPlace;
  readonly #entries: readonly FeedEntry[];
  /** The entry that is read, and the next of its events. */
  #turn = 0;
  #events: EntryEvents | null = null;
  #next = 0;

  constructor(shared: SharedEvents, from: StreamPlace, entries: readonly FeedEntry[]) {
    this.#shared = shared;
    this.#from = from;
    this.#entries = entries;
  }

  /** Null: there is no further message that matches. */
  next(matches: ((event: EventSubject) => boolean) | null): StreamEvent | null {
    for (;;) {
      const events = this.#events ?? this.#open();
      if (events === null) return null;
      while (this.#next < events.count) {
        const index = this.#next;
        this.#next += 1;
        if (matches === null || matches(events.subjectAt(index))) return events.messageAt(index);
      }
      this.#events = null;
      this.#turn += 1;
    }
  }

  /** Null: the page is read. */
  #open(): EntryEvents | null {
    const entry = this.#entries[this.#turn];
    if (entry === undefined) return null;
    const events = this.#shared.of(entry);
    this.#next = 0;
    while (this.#next < events.count && !isBehind(events.placeAt(this.#next), this.#from)) {
      this.#next += 1;
    }
    this.#events = events;
    return events;
  }

  /** The place behind what was taken. */
  place(): StreamPlace {
    if (this.#events !== null && this.#next > 0) return this.#events.placeAt(this.#next - 1);
    const { position } = this.#entries[this.#turn - 1] ?? {};
    return position === undefined ? this.#from : { position, index: Infinity, place: 0 };
  }
}
