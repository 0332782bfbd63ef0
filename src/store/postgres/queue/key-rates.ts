/** How many jobs with a concurrency key may start in a period. */
import { writeAudits } from "../audit/write.ts";
import type { Act } from "../../types/audit.ts";
import { limitChanged, ruleOfRow } from "../../shared/audit/drafts.ts";
import { keyRateRecord, tooManyKeyRates } from "../../shared/control/limit-rows.ts";
import {
  KEY_RATES_MAX,
  KEY_WAITING_MAX,
  type KeyedJob,
  type LimitName,
  type LimitRecord,
  type StoredRule,
} from "../../types/limits.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

export async function setKeyRate(
  session: Session,
  limit: LimitName,
  request: {
    readonly tenant: number;
    readonly rate: NonNullable<StoredRule["rate"]>;
    readonly act: Act;
  },
): Promise<void> {
  const { tenant, rate, act } = request;
  const { count: rate_count, perMs: rate_ms, burst } = rate;
  const key = { name: limit.name, tenant };
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      const known = await transaction.get("lock_key_rate", key);
      const count = (await transaction.get("count_key_rates", {}))?.rates ?? 0;
      if (known === undefined && count >= KEY_RATES_MAX) throw tooManyKeyRates(KEY_RATES_MAX);
      await transaction.run("put_key_rate", { ...key, rate_count, rate_ms, burst, by: act.by });
      await transaction.get("free_spent_key", key);
      const rules = { before: ruleOfRow(known), after: { concurrency: null, rate } };
      await writeAudits(transaction, [limitChanged(limit, act, rules)], isRepeat);
    }),
  );
  session.wakeForReturned("work");
}

export async function removeKeyRate(
  session: Session,
  limit: LimitName,
  { tenant, act }: { readonly tenant: number; readonly act: Act },
): Promise<boolean> {
  const key = { name: limit.name, tenant };
  const wasSet = await repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const known = await transaction.get("lock_key_rate", key);
      if (known === undefined) return false;
      await transaction.run("delete_key_rate", key);
      await transaction.get("free_spent_key", key);
      const rules = { before: ruleOfRow(known), after: null };
      await writeAudits(transaction, [limitChanged(limit, act, rules)]);
      return true;
    }),
  );
  if (wasSet) session.wakeForReturned("work");
  return wasSet;
}

/** With a job, the rate of its key, if there is one. */
export async function keyRates(
  { read, names }: Session,
  job?: KeyedJob,
): Promise<readonly LimitRecord[]> {
  const waiting = KEY_WAITING_MAX;
  if (job === undefined) {
    const rows = await read.all("all_key_rates", { waiting });
    await names.learn(rows.map(({ tenant }) => tenant));
    return rows.map((row) => keyRateRecord(row, names.text(row.tenant), row.now));
  }
  const name = job.concurrencyKey;
  const tenant = name === null ? undefined : await names.id("tenant", job.tenant);
  if (name === null || tenant === undefined) return [];
  const rows = await read.all("find_key_rate", { tenant, name, waiting });
  return rows.map((row) => keyRateRecord(row, job.tenant, row.now));
}
