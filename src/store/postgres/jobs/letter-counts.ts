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

export async function countLetters(
  session: Session,
  filter: DeadLetterQuery,
  wanted: number,
): Promise<number> {
  const params = await filterParams(session, filter);
  if (params === null) return 0;
  const max = bounded(wanted, ROWS_MAX);
  return (await session.read.get("count_dead_letters", { ...params, max }))?.letters ?? 0;
}

export async function letterGroups(
  { read, names }: Session,
  limits: { readonly rows: number; readonly groups: number },
  only?: string,
): Promise<LetterGroups> {
  const tenant = only === undefined ? null : await names.id("tenant", only);
  if (tenant === undefined) return NO_LETTERS;
  const groups = bounded(limits.groups, GROUPS_MAX);
  const rows = bounded(limits.rows, ROWS_MAX);
  const asked = { tenant, rows, groups: groups + 1, since_ms: DAY_MS };
  const found = await read.all("group_dead_letters", asked);
  const shown = found.slice(0, groups);
  await names.learn(shown.map(({ type }) => type));
  return {
    groups: shown.map((row) => ({
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
export async function filterParams(
  { names }: Session,
  filter: DeadLetterQuery,
): Promise<FilterParams | null> {
  const type = filter.type === undefined ? null : await names.id("type", filter.type);
  const tenant = filter.tenant === undefined ? null : await names.id("tenant", filter.tenant);
  if (type === undefined || tenant === undefined) return null;
  return { ...letterParams(filter), type, tenant };
}
