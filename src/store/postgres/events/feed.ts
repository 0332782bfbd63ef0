/**
 * feed, feedEnd and feedStart: the event log. Writers insert events into the outbox; readers move
 * committed events from the outbox to the feed and number them. Events get their positions after
 * the commit, so that no reader skips one.
 */
import type { JobId } from "../../../core/job.ts";
import { jobFacts } from "../../shared/decode-jobs.ts";
import {
  FEED_BYTES_MAX,
  FEED_ROWS_MAX,
  NO_KINDS,
  FeedPage,
  jobsMax,
  type KnownJob,
} from "../../shared/events/feed-page.ts";
import { bounded } from "../../shared/limits.ts";
import type { EventKind, FeedEntry } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { QueryRows } from "../database/queries.gen.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";

/** Rows and bytes of events that one statement numbers: 50,000 jobs of a bulk enqueue. */
const NUMBERED_MAX = 10_000;
const NUMBERED_BYTES_MAX = 400_000;
/** Statements that number the events before the end of the feed is read. */
const STATEMENTS_MAX = 10_000;

export async function feedEnd(session: Session): Promise<number> {
  await numberAll(session);
  return (await session.read.get("feed_end", {}))?.position ?? 0;
}

/** Numbers no events: those of the outbox get positions after all others, and are all kept. */
export async function feedStart({ read }: Session): Promise<number> {
  return (await read.get("feed_start", {}))?.position ?? 0;
}

async function numberAll(session: Session): Promise<void> {
  for (let count = 0; count < STATEMENTS_MAX; count += 1) {
    if (!(await numberEvents(session))) return;
  }
}

export async function feed(
  session: Session,
  position: number,
  limit: number,
  about: ReadonlySet<EventKind> = NO_KINDS,
): Promise<readonly FeedEntry[]> {
  const size = { limit: bounded(limit, FEED_ROWS_MAX), jobs: jobsMax(about) };
  const rows = await firstRows(session, position, size);
  const events = rows.map(({ keys, ids, details, ...row }) => {
    const parsed = { details: details === null ? null : JSON.parse(details) };
    return { ...row, keys: keys ?? [], ids: ids ?? [], ...parsed };
  });
  const page = new FeedPage(events, about, session.state.ownEvents);
  return page.entries(await namesOf(session, page.unnamed), await jobsOf(session, page.unknown));
}

/** Numbers no more events than the page needs. */
async function firstRows(
  session: Session,
  position: number,
  { limit, jobs }: { readonly limit: number; readonly jobs: number },
): Promise<QueryRows["feed_after"][]> {
  for (;;) {
    const isMore = await numberEvents(session);
    const size = { limit, jobs, bytes: FEED_BYTES_MAX };
    const rows = await session.read.all("feed_after", { position, ...size });
    const { total = 0, named = 0 } = rows.at(-1) ?? {};
    const isFull = rows.length >= limit || total > FEED_BYTES_MAX || named > jobs;
    if (isFull || !isMore) return rows;
  }
}

async function namesOf(
  { read }: Session,
  keys: readonly JobKey[],
): Promise<ReadonlyMap<JobKey, JobId>> {
  if (keys.length === 0) return new Map();
  const rows = await read.all("ids_of_keys", { keys: list(keys) });
  return new Map(rows.map(({ key, id }) => [key, id]));
}

async function jobsOf(
  { read, names }: Session,
  keys: readonly JobKey[],
): Promise<ReadonlyMap<JobKey, KnownJob>> {
  if (keys.length === 0) return new Map();
  const rows = await read.all("facts_of_keys", { keys: list(keys) });
  await names.learn(rows.flatMap(({ type, tenant }) => [type, tenant]));
  return new Map(rows.map((row) => [row.key, { id: row.id, facts: jobFacts(names, row.id, row) }]));
}

/** Numbers committed events, in bounded pieces. True: there are more. */
export async function numberEvents({ write, dice }: Session): Promise<boolean> {
  const size = { limit: NUMBERED_MAX, bytes: NUMBERED_BYTES_MAX };
  const row = await repeating(dice, () => write.get("number_events", size));
  return row?.more === true;
}
