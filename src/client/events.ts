/** `mill.on`: entries of the feed, job by job, with what each event tells. */
import type { Feed } from "../events/feed.ts";
import type { Events } from "../face/events.ts";
import type { JobRecord, JobStore } from "../store/store.ts";
import { runOutside } from "./ambient.ts";

/**
 * Calls `listener` for every job that the event happens to. Answers how to end that. A listener
 * that throws, or answers a promise that is rejected, is reported and called again for the next.
 */
export function eventsFrom<E extends keyof Events>(
  feed: Feed,
  store: JobStore,
  event: E,
  listener: (event: Events[E]) => void,
  failed: (error: unknown) => void,
): () => void {
  // One after the other, so that events of one job keep their order.
  let turn: Promise<void> = Promise.resolve();
  return feed.listen(({ kind, jobs }) => {
    if (kind !== event) return;
    turn = turn.then(async () => {
      for (const id of jobs) {
        try {
          const detail: any = detailOf(kind, id, await store.get(id));
          // The wake-up may come from a job that runs here; what a listener does is not its work.
          const answer: unknown = runOutside(() => listener(detail));
          // The next event does not wait for it.
          Promise.resolve(answer).catch(failed);
        } catch (error) {
          failed(error);
        }
      }
      return undefined;
    });
  });
}

/** What an event says besides the id. A job may have gone on, or be gone, since it happened. */
function detailOf(kind: string, id: string, job: JobRecord | null): object {
  switch (kind) {
    case "job:enqueued":
      return { id, type: job?.type ?? "" };
    case "job:started":
      return { id, attempt: (job?.attempts ?? 0) + (job?.state === "running" ? 1 : 0) };
    case "job:retrying":
      return { id, runAt: new Date(job?.runAt ?? job?.finishedAt ?? 0) };
    case "job:failed":
      return { id, error: job?.fault ?? null };
    default:
      return { id };
  }
}
