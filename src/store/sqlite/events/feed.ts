/** feed, feedEnd and feedStart: events in the order of commits, which the single writer defines. */
import { idFromBytes } from "../../../core/ids.ts";
import type { JobId } from "../../../core/job.ts";
import { jobFacts } from "../../shared/decode-jobs.ts";
import {
  FEED_ROWS_MAX,
  NO_KINDS,
  FeedPage,
  type KnownJob,
  type StoredEvent,
} from "../../shared/events/feed-page.ts";
import { bounded } from "../../shared/limits.ts";
import type { EventKind, FeedEntry } from "../../types/records.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { QueryRows } from "../database/queries.gen.ts";
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
): readonly FeedEntry[] {
  const { sql, state } = session;
  const rows = sql.each("feed_after", { position, limit: bounded(limit, FEED_ROWS_MAX) });
  const page = new FeedPage(decoded(rows), about, state.ownEvents);
  return page.entries(namesOf(session, page.unnamed), jobsOf(session, page.unknown));
}

/** One by one: a page may end before the last row. */
function* decoded(rows: Iterable<QueryRows["feed_after"]>): Generator<StoredEvent, undefined> {
  let total = 0;
  for (const { position, kind, at, keys, ids, details } of rows) {
    total += (keys ?? ids ?? "").length + Buffer.byteLength(details ?? "");
    yield {
      position,
      kind,
      at,
      keys: JSON.parse(keys ?? "[]"),
      ids: JSON.parse(ids ?? "[]"),
      details: details === null ? null : JSON.parse(details),
      total,
    };
  }
}

function namesOf({ sql }: Session, keys: readonly JobKey[]): ReadonlyMap<JobKey, JobId> {
  if (keys.length === 0) return new Map();
  const rows = sql.all("ids_of_keys", { keys: JSON.stringify(keys) });
  return new Map(rows.map(({ key, id }) => [key, idFromBytes(id)]));
}

function jobsOf({ sql, names }: Session, keys: readonly JobKey[]): ReadonlyMap<JobKey, KnownJob> {
  if (keys.length === 0) return new Map();
  const rows = sql.all("facts_of_keys", { keys: JSON.stringify(keys) });
  return new Map(
    rows.map((row) => {
      const id = idFromBytes(row.id);
      return [row.key, { id, facts: jobFacts(names, id, row) }];
    }),
  );
}
