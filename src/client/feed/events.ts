/** `mill.on`: turns entries of the feed into one event per job. */
import type { JobId } from "../../core/job.ts";
import { shown } from "../../core/text.ts";
import { detailsFor, FACTS_FOR } from "../../events/event-details.ts";
import type { Feed } from "../../events/feed.ts";
import { EVENT_NAMES, type Events } from "../../api/events.ts";
import { aFunction, notYet, oneOf, type Rule } from "../../api/rules.ts";
import type { FeedEntry } from "../../store/types/records.ts";
import { runOutsideJobs } from "../../jobs/async-context.ts";
import { insistOn } from "../../jobs/check-text.ts";

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
  const about = FACTS_FOR[event] ?? null;
  // The last progress of a job is read from its end, and happened before the end.
  const end = feed.listen(onEntry, about, about === null || about === event ? "with" : "before");
  return () => {
    isOver = true;
    end();
  };
}

/** Webhooks are not part of this release, so no listener would ever be called. */
function isWebhookEvent(name: unknown): boolean {
  return typeof name === "string" && name.startsWith("job:webhook:");
}
