/** `mill.on`: entries of the feed, job by job, with what each event tells. */
import type { JobId, JsonText } from "../core/job.ts";
import { decode } from "../core/payload.ts";
import type { Feed } from "../events/feed.ts";
import type { Events } from "../face/events.ts";
import type { FeedEntry, JobStore, PhaseDetail, ProgressDetail } from "../store/store.ts";
import { runOutside } from "./ambient.ts";

/**
 * Calls `listener` for every job that the event happens to. Answers how to end that. A listener
 * that throws, or answers a promise that is rejected, is reported and called again for the next.
 */
export function eventsFrom<E extends keyof Events>(
  feed: Feed,
  store: Pick<JobStore, "get">,
  event: E,
  listener: (event: Events[E]) => unknown,
  failed: (error: unknown) => void,
): () => void {
  let isOver = false;
  const tell = async (entry: FeedEntry): Promise<void> => {
    for (const [index, id] of entry.jobs.entries()) {
      const detail: any = await detailOf(store, entry, index, id);
      if (isOver) return;
      try {
        // The wake-up may come from a job that runs here; what a listener does is not its work.
        const answer = runOutside(() => listener(detail));
        // The next event does not wait for it.
        Promise.resolve(answer).catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  };
  const end = feed.listen((entry) => (entry.kind === event ? tell(entry) : undefined));
  return () => {
    isOver = true;
    end();
  };
}

/** Events that say more than the feed has kept. */
const LOOKED_UP: ReadonlySet<string> = new Set([
  "job:enqueued",
  "job:started",
  "job:retrying",
  "job:failed",
]);

/** What an event says besides the id. A job may have gone on, or be gone, since it happened. */
async function detailOf(
  store: Pick<JobStore, "get">,
  { kind, details }: { readonly kind: string; readonly details: FeedEntry["details"] },
  index: number,
  id: JobId,
): Promise<object> {
  const detail = details?.[index];
  if (detail !== undefined) return { id, ...toldIn(kind, detail) };
  const job = LOOKED_UP.has(kind) ? await store.get(id) : null;
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

/** What the feed itself has kept of it. */
function toldIn(kind: string, detail: JsonText): object {
  const told: PhaseDetail & ProgressDetail = JSON.parse(detail);
  const { phase, percent, overall, data } = told;
  if (kind === "job:phase:completed") return { phase };
  return { phase, percent, overall, ...(data === null ? {} : { data: decode(data) }) };
}
