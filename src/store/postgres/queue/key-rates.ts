/** How many jobs with a concurrency key may start in a period. */
import { keyRateRecord, tooManyKeyRates } from "../../shared/control/limit-rows.ts";
import {
  KEY_RATES_MAX,
  KEY_WAITING_MAX,
  type LimitRecord,
  type StoredRule,
} from "../../types/limits.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

/** A concurrency key, with the number of its tenant. */
interface RatedKey {
  readonly name: string;
  readonly tenant: number;
}

export async function setKeyRate(
  session: Session,
  key: RatedKey,
  { count: rate_count, perMs: rate_ms, burst }: NonNullable<StoredRule["rate"]>,
  by: string | null,
): Promise<void> {
  await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const known = await transaction.get("lock_key_rate", key);
      const count = (await transaction.get("count_key_rates", {}))?.rates ?? 0;
      if (known === undefined && count >= KEY_RATES_MAX) throw tooManyKeyRates(KEY_RATES_MAX);
      await transaction.run("put_key_rate", { ...key, rate_count, rate_ms, burst, by });
      await transaction.get("free_spent_key", key);
    }),
  );
  session.wakeForReturned("work");
}

export async function removeKeyRate(session: Session, key: RatedKey): Promise<boolean> {
  const wasSet = await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      if ((await transaction.get("lock_key_rate", key)) === undefined) return false;
      await transaction.run("delete_key_rate", key);
      await transaction.get("free_spent_key", key);
      return true;
    }),
  );
  if (wasSet) session.wakeForReturned("work");
  return wasSet;
}

export async function keyRates({ read, names }: Session): Promise<readonly LimitRecord[]> {
  const rows = await read.all("all_key_rates", { waiting: KEY_WAITING_MAX });
  await names.learn(rows.map(({ tenant }) => tenant));
  return rows.map((row) => keyRateRecord(row, names.text(row.tenant), row.now));
}
