/** minutes and foldMinutes: figures about ended runs. */
import { bounded } from "../../shared/limits.ts";
import {
  Fold,
  FOLD_ROWS_MAX,
  MINUTE_ROWS_MAX,
  minutesAnswer,
  partsOf,
} from "../../shared/minutes.ts";
import type { MinutesAnswer, MinutesQuery } from "../../types/minutes.ts";
import type { Session } from "../database/session.ts";

export function minutes({ sql, names }: Session, query: MinutesQuery): MinutesAnswer {
  const { type, lane } = query;
  const typeId = type === undefined ? null : names.find("type", type);
  const laneId = lane === undefined ? null : names.find("lane", lane);
  if (typeId === undefined || laneId === undefined) return { figures: [], isCutShort: false };
  const filter = { type: typeId, lane: laneId, limit: MINUTE_ROWS_MAX };
  const rows = sql.all("minutes_between", { ...partsOf(query), ...filter });
  return minutesAnswer(names, query, rows);
}

/** True: there is nothing to fold, and no write lock is needed. */
export function foldsNothing({ sql }: Session): boolean {
  return sql.get("any_minutes", {})?.found !== 1;
}

export function foldMinutes({ sql }: Session, wanted: number): number {
  const taken = sql.all("take_minutes", { limit: bounded(wanted, FOLD_ROWS_MAX) });
  if (taken.length === 0) return 0;
  const fold = new Fold(
    taken.map((row) => ({ ...row, waits: JSON.parse(row.waits), runs: JSON.parse(row.runs) })),
  );
  const stored = sql.all("find_minutes", { keys: fold.keys });
  sql.run("put_minutes", { rows: fold.rows(stored) });
  return taken.length;
}
