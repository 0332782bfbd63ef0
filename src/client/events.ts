/** `mill.on`: turns entries of the feed into one event per job. */
import type { JobId, JsonText } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import { shown } from "../core/text.ts";
import type { Feed } from "../events/feed.ts";
import { EVENT_NAMES, type Events } from "../api/events.ts";
import { aFunction, notYet, oneOf, type Rule } from "../api/rules.ts";
import type {
  EventKind,
  FeedEntry,
  PhaseDetail,
  ProgressDetail,
  UnitsDetail,
} from "../store/types/records.ts";
import { runOutsideJobs } from "../jobs/async-context.ts";
import { insistOn } from "../jobs/check-text.ts";

const aName = oneOf(...EVENT_NAMES);
const anEvent: Rule = (value, place) =>
  aName(value, place) ?? (isWebhookEvent(value) ? notYet(value, `${place} ${shown(value)}`) : null);

/**
 * Calls `listener` once per event and job. Returns the function to stop. If the listener throws or
 * its promise rejects, the error is reported and later events are still delivered.
 */
export function eventsFrom<E extends keyof Events>(
  feed: Feed,
  event: E,
  listener: (event: Events[E]) => unknown,
  failed: (error: unknown) => void,
): () => void {
  insistOn("on", anEvent, event, "event");
  insistOn("on", aFunction, listener, "listener");
  let isOver = false;
  const deliver = (entry: FeedEntry, index: number, id: JobId): void => {
    for (const detail of detailsFor(event, entry, index, id)) call(detail);
  };
  const call = (detail: any): void => {
    if (isOver) return;
    try {
      // The read may be caused by a job that runs here, but the listener is not part of that job.
      const answer = runOutsideJobs(() => listener(detail));
      // The next event does not wait for the listener.
      Promise.resolve(answer).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  const onEntry = (entry: FeedEntry): void => {
    if (entry.kind !== event && entry.kind !== FACTS_FOR[event]) return;
    for (const [index, id] of entry.jobs.entries()) {
      if (isOver) return;
      deliver(entry, index, id);
    }
  };
  const end = feed.listen(onEntry, FACTS_FOR[event] ?? null);
  return () => {
    isOver = true;
    end();
  };
}

/** Webhooks are not part of this release, so no listener would ever be called. */
function isWebhookEvent(name: unknown): boolean {
  return typeof name === "string" && name.startsWith("job:webhook:");
}

/**
 * The entries for which an event needs facts of the job that the feed does not store. The end of a
 * job is its last progress.
 */
const FACTS_FOR: { readonly [E in keyof Events]?: EventKind } = {
  "job:enqueued": "job:enqueued",
  "job:started": "job:started",
  "job:progress": "job:completed",
  "job:completed": "job:completed",
  "job:retrying": "job:retrying",
  "job:failed": "job:failed",
};

/** The events that a listener gets about one job of an entry. */
function detailsFor(event: string, entry: FeedEntry, index: number, id: JobId): readonly object[] {
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
