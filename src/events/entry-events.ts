/**
 * The events of one entry of the feed, as messages of streams.
 *
 * Streams that read an entry at the same time share its messages. A message is made when the first
 * stream wants it, so that a stream with a filter costs nothing for the events that it leaves out.
 * Messages of older entries are made again for a later stream: keeping them all would cost more
 * time, of the garbage collector, than making them.
 */
import type { JobId } from "../core/job.ts";
import type { StreamEvent } from "../api/stream.ts";
import type { DeletedDetail, FeedEntry, JobFacts } from "../store/types/records.ts";
import { eventsOf, isSingle, ownEvent, type EntryEvent } from "./event-details.ts";
import { idOfPlace, type StreamPlace } from "./stream-place.ts";

/** What a filter sees of an event. */
export interface EventSubject {
  readonly event: string;
  readonly id: JobId;
  /** Null: the job has been removed. */
  readonly facts: Pick<JobFacts, "type" | "tenant" | "correlationId"> | null;
}

/** An event with the job that it is about, as an index of the entry. */
interface JobEvent extends EntryEvent {
  readonly turn: number;
}

/** The entries whose messages are shared. */
const SHARED_MAX = 4;

export class SharedEvents {
  /** Oldest first. */
  #recent: EntryEvents[] = [];

  of(entry: FeedEntry): EntryEvents {
    const known = this.#recent.find((events) => events.entry === entry);
    if (known !== undefined) return known;
    const made = new EntryEvents(entry);
    this.#recent.push(made);
    if (this.#recent.length > SHARED_MAX) this.#recent.shift();
    return made;
  }

  clear(): void {
    this.#recent = [];
  }
}

export class EntryEvents {
  readonly entry: FeedEntry;
  /** Null: each job has one event, which is its own one. */
  readonly #several: readonly JobEvent[] | null;
  readonly #messages: (StreamEvent | undefined)[] = [];
  readonly count: number;

  constructor(entry: FeedEntry) {
    this.entry = entry;
    this.#several = isSingle(entry) ? null : jobEventsOf(entry);
    this.count = this.#several?.length ?? entry.jobs.length;
  }

  placeAt(index: number): StreamPlace {
    const { position, places } = this.entry;
    const turn = this.#turnAt(index);
    return { position, index: places[turn] ?? turn, place: this.#several?.[index]?.place ?? 1 };
  }

  subjectAt(index: number): EventSubject {
    const turn = this.#turnAt(index);
    const event = this.#several?.[index]?.name ?? this.entry.kind;
    return { event, id: this.entry.jobs[turn]!, facts: subjectFacts(this.entry, turn) };
  }

  messageAt(index: number): StreamEvent {
    return (this.#messages[index] ??= this.#newMessage(index));
  }

  #turnAt(index: number): number {
    return this.#several?.[index]?.turn ?? index;
  }

  #newMessage(index: number): StreamEvent {
    const entry = this.entry;
    const turn = this.#turnAt(index);
    const { name, place, data } =
      this.#several?.[index] ?? ownEvent(entry, turn, entry.jobs[turn]!);
    const facts = subjectFacts(entry, turn);
    const message: any = {
      type: "event",
      id: idOfPlace({ position: entry.position, index: entry.places[turn] ?? turn, place }),
      at: new Date(entry.at),
      event: name,
      data,
      job: facts === null ? null : { type: facts.type, tenant: facts.tenant },
    };
    return message;
  }
}

function jobEventsOf(entry: FeedEntry): readonly JobEvent[] {
  return entry.jobs.flatMap((id, turn) =>
    eventsOf(entry, turn, id).map((event) => ({ ...event, turn })),
  );
}

/** The feed keeps what filters need to know of removed jobs. */
function subjectFacts(entry: FeedEntry, turn: number): EventSubject["facts"] {
  const detail = entry.kind === "job:deleted" ? entry.details?.[turn] : undefined;
  if (detail === undefined) return entry.facts?.[turn] ?? null;
  const deleted: DeletedDetail = JSON.parse(detail);
  return deleted;
}
