/** feed, feedEnd and feedStart: events in the order of commits, which the single writer defines. */
import { idFromBytes } from "../../../core/ids.ts";
import { jobFacts } from "../../shared/decode-jobs.ts";
import {
  FEED_BYTES_MAX,
  FEED_ROWS_MAX,
  NO_KINDS,
  feedEntry,
  keysAbout,
  pageOf,
} from "../../shared/events/feed-page.ts";
import { bounded } from "../../shared/limits.ts";
import type { EventKind, FeedEntry, JobFacts } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { Session } from "../database/session.ts";

export function feedEnd({ sql }: Session): number {
  return sql.get("feed_end", {})?.position ?? 0;
}

export function feedStart({ sql }: Session): number {
  return sql.get("feed_start", {})?.position ?? 0;
}

export function feed(
  session: Session,
  position: number,
  limit: number,
  about: ReadonlySet<EventKind> = NO_KINDS,
): FeedEntry[] {
  const { sql } = session;
  const size = { limit: bounded(limit, FEED_ROWS_MAX), bytes: FEED_BYTES_MAX };
  const rows = sql.all("feed_after", { position, ...size });
  const events = rows.map(({ keys, ids, details, ...row }) => ({
    ...row,
    keys: JSON.parse(keys ?? "[]"),
    ids: JSON.parse(ids ?? "[]"),
    details: JSON.parse(details ?? "null"),
  }));
  const page = pageOf(events, about);
  const keys = JSON.stringify(page.flatMap((row) => row.keys));
  const named = sql.all("ids_of_keys", { keys });
  const ids = new Map(named.map(({ key, id }) => [key, idFromBytes(id)]));
  const facts = factsOf(session, keysAbout(page, about));
  return page.map((row) => feedEntry(row, { ids, facts }, about));
}

function factsOf({ sql, names }: Session, keys: readonly JobKey[]): ReadonlyMap<JobKey, JobFacts> {
  if (keys.length === 0) return new Map();
  const rows = sql.all("facts_of_keys", { keys: JSON.stringify(keys) });
  return new Map(
    rows.map((row) => [row.key, jobFacts(names, { ...row, id: idFromBytes(row.id) })]),
  );
}
