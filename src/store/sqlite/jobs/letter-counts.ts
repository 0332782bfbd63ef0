/** countLetters and letterGroups: counts of dead letters. */
import { deadLetterCodec } from "../../shared/codes.ts";
import {
  DAY_MS,
  letterParams,
  NO_LETTERS,
  type FilterParams,
} from "../../shared/control/letters.ts";
import { bounded } from "../../shared/limits.ts";
import type { DeadLetterQuery, LetterGroups } from "../../types/letters.ts";
import type { Session } from "../database/session.ts";

/** The maximum of letters that one call reads, and of groups in its answer. */
const ROWS_MAX = 1_000_000;
const GROUPS_MAX = 10_000;

export function countLetters(session: Session, filter: DeadLetterQuery, max: number): number {
  const params = filterParams(session, filter);
  if (params === null) return 0;
  const found = session.sql.get("count_dead_letters", { ...params, max: bounded(max, ROWS_MAX) });
  return found?.letters ?? 0;
}

export function letterGroups(
  { sql, names, clock }: Session,
  limits: { readonly rows: number; readonly groups: number },
  only?: string,
): LetterGroups {
  const tenant = only === undefined ? null : names.find("tenant", only);
  if (tenant === undefined) return NO_LETTERS;
  const groups = bounded(limits.groups, GROUPS_MAX);
  const rows = bounded(limits.rows, ROWS_MAX);
  const since = clock.now() - DAY_MS;
  const found = sql.all("group_dead_letters", { tenant, rows, groups: groups + 1, since });
  return {
    groups: found.slice(0, groups).map((row) => ({
      status: deadLetterCodec.word(row.status),
      type: names.text(row.type),
      category: row.category,
      errorClass: row.error_class,
      letters: row.letters,
      oldestAt: row.oldest_at,
      lastDay: row.recent,
    })),
    hasMore: found.length > groups,
  };
}

/** The parameters of a filter. Null: no letter has its type or tenant. */
export function filterParams({ names }: Session, filter: DeadLetterQuery): FilterParams | null {
  const type = filter.type === undefined ? null : names.find("type", filter.type);
  const tenant = filter.tenant === undefined ? null : names.find("tenant", filter.tenant);
  if (type === undefined || tenant === undefined) return null;
  return { ...letterParams(filter), type, tenant };
}
