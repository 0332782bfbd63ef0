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
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

export async function minutes(session: Session, query: MinutesQuery): Promise<MinutesAnswer> {
  const { read, names } = session;
  const { type, lane } = query;
  const [typeId, laneId] = await Promise.all([
    type === undefined ? null : names.id("type", type),
    lane === undefined ? null : names.id("lane", lane),
  ]);
  if (typeId === undefined || laneId === undefined) return { figures: [], isCutShort: false };
  const filter = { type: typeId, lane: laneId, limit: MINUTE_ROWS_MAX };
  const rows = await read.all("minutes_between", { ...partsOf(query), ...filter });
  await names.learn(rows.flatMap((row) => [row.type, row.lane]));
  return minutesAnswer(names, query, rows);
}

/** One process at a time folds: two would replace each other's rows. */
export async function foldMinutes(session: Session, wanted: number): Promise<number> {
  const limit = bounded(wanted, FOLD_ROWS_MAX);
  const any = await session.read.get("any_minutes", {});
  if (any?.found !== true) return 0;
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      if ((await transaction.get("lock_fold", {})) === undefined) return 0;
      const taken = await transaction.all("take_minutes", { limit });
      if (taken.length === 0) return 0;
      const fold = new Fold(taken);
      const stored = await transaction.all("find_minutes", { keys: fold.keys });
      await transaction.run("put_minutes", { rows: fold.rows(stored) });
      return taken.length;
    }),
  );
}
