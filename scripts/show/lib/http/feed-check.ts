/** Compares what a client has received with the feed of the store itself. */
import type { FeedEntry } from "../../../../src/store/types/records.ts";
import type { JobStore } from "../../../../src/store/store.ts";
import type { Received } from "./sse-client.ts";

const PAGE = 1_000;

export interface FeedFindings {
  readonly missing: number;
  readonly repeated: number;
  readonly outOfOrder: number;
  /** Events that the store does not have. */
  readonly unknown: number;
}

/** All entries behind a position. */
export async function entriesAfter(store: JobStore, position: number): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (let after = position; ; after = entries.at(-1)?.position ?? after) {
    const page = await store.feed(after, PAGE);
    if (page.length === 0) return entries;
    entries.push(...page);
  }
}

/** The events that every client must get, by the place in the feed: `position.index event job`. */
export function eventsIn(entries: readonly FeedEntry[], isWanted: (job: string) => boolean) {
  return entries.flatMap(({ position, kind, jobs, places }) =>
    jobs.flatMap((job, turn) =>
      isWanted(job) ? [`${position}.${places[turn] ?? turn} ${kind} ${job}`] : [],
    ),
  );
}

export function compare(wanted: readonly string[], received: readonly Received[]): FeedFindings {
  const ids = received.map(({ id }) => id);
  const places = ids.map(placeOf);
  const outOfOrder = places.filter(
    (place, turn) => turn > 0 && !isBehind(place, places[turn - 1]!),
  );
  // The last progress of a completed job is derived from its end, and has no entry of its own.
  const derived = (event: Received): boolean =>
    event.name === "job:progress" && event.id.endsWith(".0");
  const got = received
    .filter((event) => !derived(event))
    .map(({ id, name, job }) => `${id.slice(0, id.lastIndexOf("."))} ${name} ${job}`);
  const known = new Set(wanted);
  const heard = new Set(got);
  return {
    missing: wanted.filter((event) => !heard.has(event)).length,
    repeated: ids.length - new Set(ids).size,
    outOfOrder: outOfOrder.length,
    unknown: got.filter((event) => !known.has(event)).length,
  };
}

export function isSound({ missing, repeated, outOfOrder, unknown }: FeedFindings): boolean {
  return missing + repeated + outOfOrder + unknown === 0;
}

function placeOf(id: string): readonly number[] {
  return id.split(".").map(Number);
}

function isBehind(place: readonly number[], before: readonly number[]): boolean {
  for (const [turn, number] of place.entries()) {
    if (number !== before[turn]) return number > (before[turn] ?? 0);
  }
  return false;
}
