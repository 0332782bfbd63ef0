/**
 * feed and feedEnd: the event log. Writers insert events into the outbox; readers move committed
 * events from the outbox to the feed and number them. Events get their positions after the commit,
 * so that no reader skips one.
 */
import { jobFacts } from "../../shared/decode-jobs.ts";
import { FEED_ROWS_MAX, NO_KINDS, feedEntry, keysAbout, pageOf } from "../../shared/feed-page.ts";
import { bounded } from "../../shared/limits.ts";
import type { EventKind, FeedEntry, JobFacts } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";

/** Events numbered in one statement. */
const NUMBERED_MAX = 10_000;

export async function feedEnd(session: Session): Promise<number> {
  await numberEvents(session);
  return (await session.read.get("feed_end", {}))?.position ?? 0;
}

export async function feed(
  session: Session,
  position: number,
  limit: number,
  about: ReadonlySet<EventKind> = NO_KINDS,
): Promise<readonly FeedEntry[]> {
  await numberEvents(session);
  const most = bounded(limit, FEED_ROWS_MAX);
  const rows = await session.read.all("feed_after", { position, limit: most });
  const events = rows.map(({ keys, ids, details, ...row }) => {
    const parsed = { details: details === null ? null : JSON.parse(details) };
    return { ...row, keys: keys ?? [], ids: ids ?? [], ...parsed };
  });
  const page = pageOf(events, about);
  const keys = page.flatMap((row) => row.keys);
  const named =
    keys.length === 0 ? [] : await session.read.all("ids_of_keys", { keys: list(keys) });
  const ids = new Map(named.map(({ key, id }) => [key, id]));
  const facts = await factsOf(session, keysAbout(page, about));
  return page.map((row) => feedEntry(row, { ids, facts }, about));
}

async function factsOf(
  { read, names }: Session,
  keys: readonly JobKey[],
): Promise<ReadonlyMap<JobKey, JobFacts>> {
  if (keys.length === 0) return new Map();
  const rows = await read.all("facts_of_keys", { keys: list(keys) });
  await names.learn(rows.map(({ type }) => type));
  return new Map(rows.map((row) => [row.key, jobFacts(names, row)]));
}

/** Numbers all events that were committed when the call began. */
export async function numberEvents({ write, dice }: Session): Promise<void> {
  for (let seen = NUMBERED_MAX; seen === NUMBERED_MAX;) {
    const row = await repeating(dice, () => write.get("number_events", { limit: NUMBERED_MAX }));
    seen = row?.seen ?? 0;
  }
}
