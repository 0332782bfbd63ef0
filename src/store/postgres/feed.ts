/**
 * feed and feedEnd: what happened, numbered after it was committed. Writers leave their words in an
 * outbox; whoever reads moves what is committed by then to the feed and gives it positions.
 */
import type { JsonText } from "../../core/job.ts";
import { eventCodec } from "../codes.ts";
import type { FeedEntry } from "../store.ts";
import { repeating } from "./retry.ts";
import { bounded } from "../limits.ts";
import type { Session } from "./session.ts";
import { list } from "./values.ts";

const ROWS_MAX = 1_000;
const JOBS_MAX = 10_000;
/** Entries that are numbered in one statement. */
const NUMBERED_MAX = 10_000;

export async function feedEnd(session: Session): Promise<number> {
  await numberEvents(session);
  return (await session.read.get("feed_end", {}))?.position ?? 0;
}

/** Entries after a position, until they name more jobs than one answer should. */
export async function feed(
  session: Session,
  position: number,
  limit: number,
): Promise<readonly FeedEntry[]> {
  await numberEvents(session);
  const rows = await session.read.all("feed_after", { position, limit: bounded(limit, ROWS_MAX) });
  let size = 0;
  const page = rows.filter(({ keys, ids }, index) => {
    size += (keys ?? ids ?? []).length;
    return index === 0 || size <= JOBS_MAX;
  });
  const keys = page.flatMap((row) => row.keys ?? []);
  const found =
    keys.length === 0 ? [] : await session.read.all("ids_of_keys", { keys: list(keys) });
  const idOf = new Map(found.map(({ key, id }) => [key, id]));
  return page.map((row) => ({
    position: row.position,
    kind: eventCodec.word(row.kind),
    at: row.at,
    jobs: row.ids ?? (row.keys ?? []).flatMap((key) => idOf.get(key) ?? []),
    details: detailsOf(row.details)?.filter((_, index) => idOf.has(row.keys?.[index] ?? 0)) ?? null,
  }));
}

function detailsOf(json: string | null): readonly JsonText[] | null {
  const details: readonly JsonText[] | null = json === null ? null : JSON.parse(json);
  return details;
}

/** Gives a position to everything that was committed when this began. */
export async function numberEvents({ write, dice }: Session): Promise<void> {
  for (let seen = NUMBERED_MAX; seen === NUMBERED_MAX;) {
    const row = await repeating(dice, () => write.get("number_events", { limit: NUMBERED_MAX }));
    seen = row?.seen ?? 0;
  }
}
