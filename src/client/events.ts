/** `mill.on`: entries of the feed, job by job, with what each event tells. */
import type { JobId, JsonText } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import type { Feed } from "../events/feed.ts";
import { EVENT_NAMES, type Events } from "../api/events.ts";
import { aFunction, oneOf } from "../api/rules.ts";
import type { EventKind, FeedEntry, PhaseDetail, ProgressDetail } from "../store/types/records.ts";
import { runOutside } from "../jobs/async-context.ts";
import { insistOn } from "../jobs/check-text.ts";

const anEvent = oneOf(...EVENT_NAMES);

/**
 * Calls `listener` for every job that the event happens to. Answers how to end that. A listener
 * that throws, or answers a promise that is rejected, is reported and called again for the next.
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
  const tell = (entry: FeedEntry, index: number, id: JobId): void => {
    try {
      const detail: any = detailOf(entry, index, id);
      // The wake-up may come from a job that runs here; what a listener does is not its work.
      const answer = runOutside(() => listener(detail));
      // The next event does not wait for it.
      Promise.resolve(answer).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  const hear = (entry: FeedEntry): void => {
    if (entry.kind !== event) return;
    for (const [index, id] of entry.jobs.entries()) {
      if (isOver) return;
      tell(entry, index, id);
    }
  };
  const end = feed.listen(hear, LOOKED_UP.find((kind) => kind === event) ?? null);
  return () => {
    isOver = true;
    end();
  };
}

/** Events that say more than the feed has kept. */
const LOOKED_UP: readonly EventKind[] = [
  "job:enqueued",
  "job:started",
  "job:retrying",
  "job:failed",
];

/** What an event says besides the id. A job may have gone on, or be gone, since it happened. */
function detailOf({ kind, details, facts }: FeedEntry, index: number, id: JobId): object {
  const detail = details?.[index];
  if (detail !== undefined) return { id, ...toldIn(kind, detail) };
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
    case "job:progress":
    case "job:phase:completed":
    case "job:completed":
    case "job:cancelled":
    case "job:stale":
    case "job:deleted":
      return { id };
  }
}

/** What the feed itself has kept of it. */
function toldIn(kind: string, detail: JsonText): object {
  const told: PhaseDetail & ProgressDetail = JSON.parse(detail);
  const { phase, percent, overall, data } = told;
  if (kind === "job:phase:completed") return { phase };
  return { phase, percent, overall, ...(data === null ? {} : { data: decode(data) }) };
}
