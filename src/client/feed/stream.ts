/** `mill.stream`: checks the options, and makes the stream. */
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import type { Jobs } from "../../api/client.ts";
import { EVENT_NAMES } from "../../api/events.ts";
import type { StreamMessage, StreamOptions } from "../../api/stream.ts";
import { aName, anObject, isDuration, listOf, must, oneOf, type Rule } from "../../api/rules.ts";
import type { EventSubject } from "../../events/entry-events.ts";
import { eventStream } from "../../events/event-stream.ts";
import type { FeedPages } from "../../events/feed-pages.ts";
import { placeOf } from "../../events/stream-place.ts";
import { aText, insistOn } from "../../jobs/check-text.ts";
import { idOf } from "../../jobs/views.ts";
import type { SharedReads } from "../../lib/shared-reads.ts";

const PING_MS_DEFAULT = 15_000;
/** The newest jobs in the snapshot of a stream of many jobs. */
const SNAPSHOT_JOBS_MAX = 100;

const OPTIONS: Rule = anObject(
  {
    required: {},
    optional: {
      job: aText(100),
      type: aName,
      tenant: aName,
      correlationId: aName,
      events: listOf(oneOf(...EVENT_NAMES)),
      after: aText(100),
      snapshot: must((value) => typeof value === "boolean", "true or false"),
      ping: must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "15s"'),
    },
  },
  'an object such as { type: "email" }',
);

/** The state of jobs when a stream begins. */
export type Snapshot = Omit<Extract<StreamMessage, { type: "snapshot" }>, "type" | "id">;

export interface StreamParts {
  readonly pages: FeedPages;
  readonly jobs: Jobs;
  /** Streams that begin at the same moment, as many do after a restart, share a snapshot. */
  readonly snapshots: SharedReads<Snapshot>;
  readonly closing: AbortSignal;
  /** The tenant of a mill of one tenant; null: all tenants. */
  readonly tenant: string | null;
}

export function makeStream(
  { pages, jobs, snapshots, closing, tenant }: StreamParts,
  options: StreamOptions,
): ReadableStream<StreamMessage> {
  insistOn("stream", OPTIONS, options, "");
  const { after, ping = PING_MS_DEFAULT, snapshot = after === undefined } = options;
  const id = options.job === undefined ? null : idOf(options.job);
  const { type, tenant: of, correlationId } = options;
  const subject = JSON.stringify([id, type, of, correlationId]);
  return eventStream({
    pages,
    pingMs: durationMs(ping, "ping"),
    after: after === undefined ? null : checkedPlace(after),
    snapshot: snapshot ? () => snapshots.read(subject, () => snapshotOf(jobs, options)) : null,
    matches: matcherOf({ ...options, job: id }, tenant),
    closing,
  });
}

function checkedPlace(after: string): NonNullable<ReturnType<typeof placeOf>> {
  const place = placeOf(after);
  if (place !== null) return place;
  throw new MillraceError("OPTION_INVALID", "stream: after must be the id of a message", {
    details: { option: "after" },
  });
}

async function snapshotOf(
  jobs: Jobs,
  { job, type, tenant, correlationId }: StreamOptions,
): Promise<Snapshot> {
  if (job !== undefined) return { jobs: [await jobs.get(job)], stats: null };
  const filter = {
    limit: SNAPSHOT_JOBS_MAX,
    ...(type === undefined ? {} : { type }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(correlationId === undefined ? {} : { correlationId }),
  };
  const [page, stats] = await Promise.all([jobs.list(filter), jobs.stats()]);
  return { jobs: page.jobs, stats };
}

/**
 * Events of a removed job match a filter only if the feed has kept what the filter needs. Null: all
 * events match.
 */
function matcherOf(
  filter: Omit<StreamOptions, "job"> & { readonly job: string | null },
  own: string | null,
): ((subject: EventSubject) => boolean) | null {
  const { job, type, tenant, correlationId, events } = filter;
  const conditions = [type, tenant, correlationId, events, job ?? undefined, own ?? undefined];
  if (conditions.every((condition) => condition === undefined)) return null;
  const names = events === undefined ? null : new Set<string>(events);
  return ({ event, id, facts }) => {
    if (own !== null && facts?.tenant !== own) return false;
    if (names !== null && !names.has(event)) return false;
    if (job !== null && id !== job) return false;
    if (type !== undefined && facts?.type !== type) return false;
    if (tenant !== undefined && facts?.tenant !== tenant) return false;
    return correlationId === undefined || facts?.correlationId === correlationId;
  };
}
