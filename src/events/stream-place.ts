/** The places of streams in the feed, and the ids of messages. */

/** A place in the feed: behind an event of a job in an entry, or behind a whole entry. */
export interface StreamPlace {
  readonly position: number;
  /** Infinity: behind the whole entry. */
  readonly index: number;
  readonly place: number;
}

export function isBehind(place: StreamPlace, from: StreamPlace): boolean {
  if (place.position !== from.position) return place.position > from.position;
  return place.index !== from.index ? place.index > from.index : place.place > from.place;
}

/** `7`: behind entry 7. `7.2.1`: behind event 1 of job 2 of entry 7. */
export function idOfPlace({ position, index, place }: StreamPlace): string {
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
