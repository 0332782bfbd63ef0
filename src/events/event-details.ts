/** Turns entries of the feed into events: one per job, or per unit of a job. */
import type { JobId, JsonText } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import type { Events } from "../api/events.ts";
import type {
  EventKind,
  FeedEntry,
  PhaseDetail,
  ProgressDetail,
  UnitsDetail,
} from "../store/types/records.ts";

/**
 * The entries for which an event needs facts of the job that the feed does not store. The end of a
 * job is its last progress.
 */
export const FACTS_FOR: { readonly [E in keyof Events]?: EventKind } = {
  "job:enqueued": "job:enqueued",
  "job:started": "job:started",
  "job:progress": "job:completed",
  "job:completed": "job:completed",
  "job:retrying": "job:retrying",
  "job:failed": "job:failed",
};

/** The events that a listener gets about one job of an entry. */
export function detailsFor(
  event: string,
  entry: FeedEntry,
  index: number,
  id: JobId,
): readonly object[] {
  if (event === "job:unit") return unitEvents(entry, index, id);
  if (entry.kind === event) return [detailOf(entry, index, id)];
  const last = lastProgress(entry, index, id);
  return last === null ? [] : [last];
}

/** One event per unit: an entry has all units of a note. */
function unitEvents({ details }: FeedEntry, index: number, id: JobId): readonly object[] {
  const { units }: UnitsDetail = JSON.parse(details?.[index] ?? '{"units":[]}');
  return units.map(({ phase, unit: key, state, fault }) => {
    const error = fault === null ? {} : { error: fault };
    return { id, phase: phase === "" ? null : phase, key, state, ...error };
  });
}

/** A completed job is at 100 %. Listeners are told, unless a run has reported that, or nothing. */
function lastProgress({ facts }: FeedEntry, index: number, id: JobId): object | null {
  const { phase = null, overall = null } = facts?.[index] ?? {};
  return overall === null || overall >= 100 ? null : { id, phase, percent: 100, overall: 100 };
}

/** The event object. Since the event, the job may have changed or have been removed. */
function detailOf({ kind, details, facts }: FeedEntry, index: number, id: JobId): object {
  // The detail of a removal is for filters of streams. The event of a listener is the id alone.
  const detail = kind === "job:deleted" ? undefined : details?.[index];
  if (detail !== undefined) return { id, ...storedDetail(kind, detail) };
  const job = facts?.[index];
  switch (kind) {
    case "job:enqueued":
      return { id, type: job?.type ?? "" };
    case "job:started":
      return { id, attempt: (job?.attempts ?? 0) + (job?.state === "running" ? 1 : 0) };
    case "job:retrying":
      return { id, runAt: new Date(job?.runAt ?? job?.finishedAt ?? 0) };
    case "job:failed":
      return { id, error: job?.fault ?? null };
    case "job:completed":
      return { id, state: job?.state ?? "completed" };
    case "job:progress":
    case "job:unit":
    case "job:phase:completed":
    case "job:cancelled":
    case "job:stale":
    case "job:deleted":
      return { id };
  }
}

/** The detail that the feed has stored. */
function storedDetail(kind: string, detail: JsonText): object {
  const stored: PhaseDetail & ProgressDetail = JSON.parse(detail);
  const { phase, percent, overall, data } = stored;
  if (kind === "job:phase:completed") return { phase };
  return { phase, percent, overall, ...(data === null ? {} : { data: decode(data) }) };
}

/** An event of a job in an entry. `place` orders the events of one job in the entry. */
export interface EntryEvent {
  readonly name: keyof Events;
  readonly place: number;
  readonly data: object;
}

/** Whether each job of the entry has one event: {@link ownEvent}. */
export function isSingle({ kind, facts = [] }: FeedEntry): boolean {
  if (kind === "job:unit") return false;
  return kind !== "job:completed" || facts.every((job) => job?.overall == null);
}

/** The event of the same kind as the entry. */
export function ownEvent(entry: FeedEntry, index: number, id: JobId): EntryEvent {
  return { name: entry.kind, place: 1, data: detailOf(entry, index, id) };
}

/** All events about one job of an entry, in order. The places do not depend on what is read. */
export function eventsOf(entry: FeedEntry, index: number, id: JobId): readonly EntryEvent[] {
  const { kind } = entry;
  if (kind === "job:unit") {
    return unitEvents(entry, index, id).map((data, place) => ({ name: kind, place, data }));
  }
  const own = ownEvent(entry, index, id);
  const last = kind === "job:completed" ? lastProgress(entry, index, id) : null;
  return last === null ? [own] : [{ name: "job:progress", place: 0, data: last }, own];
}
