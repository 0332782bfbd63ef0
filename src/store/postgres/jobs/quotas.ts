/** setQuota, removeQuota, quotas and quotaUse. */
import { MillraceError } from "../../../core/errors.ts";
import { tokensAt } from "../../../core/control/permits.ts";
import type { Quota } from "../../../core/control/quotas.ts";
import {
  ANY_TENANT,
  quotaColumns,
  quotaOfRow,
  quotaRecord,
  rateState,
  tooManyQuotas,
} from "../../shared/control/quotas.ts";
import {
  QUOTA_ROWS_MAX,
  QUOTAS_MAX,
  type QuotaRecord,
  type QuotaUse,
  type Remark,
} from "../../types/quotas.ts";
import { quotaChanged } from "../../shared/audit/governance-drafts.ts";
import { writeAudits } from "../audit/write.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";
import { list } from "../database/values.ts";
import { internGate } from "../queue/gates.ts";
import { clockOf } from "../schedules/schedules.ts";

export async function setQuota(
  session: Session,
  of: string | null,
  quota: Quota,
  { by, reason }: Remark,
): Promise<void> {
  const tenant = of === null ? ANY_TENANT : await internGate(session, "tenant", of);
  if (tenant === undefined) {
    throw new MillraceError("STORE_REFUSED", "the database refused the name of a tenant");
  }
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (sql) => {
      const known = await sql.all("all_quotas", { limit: QUOTAS_MAX });
      const row = known.find((each) => each.tenant === tenant);
      if (row === undefined && known.length >= QUOTAS_MAX) throw tooManyQuotas();
      await sql.run("put_quota", { tenant, ...quotaColumns(quota), by, reason });
      await sql.run("delete_quota_use", { tenant });
      const before = row === undefined ? null : quotaOfRow(row);
      const draft = quotaChanged(of, { by, reason }, { before, after: quota });
      await writeAudits(sql, [draft], isRepeat);
    }),
  );
}

/** The quota is read first: a repeated statement would not find it. */
export async function removeQuota(
  session: Session,
  of: string | null,
  why: Remark,
): Promise<boolean> {
  const { read, names, dice } = session;
  const tenant = of === null ? ANY_TENANT : await names.id("tenant", of);
  if (tenant === undefined) return false;
  const [known] = await read.all("find_quotas", { tenants: list([tenant]) });
  await repeating(dice, () =>
    session.transaction(async (sql) => {
      const count = await sql.run("delete_quota", { tenant });
      await sql.run("delete_quota_use", { tenant });
      if (count === 0 || known === undefined) return;
      const states = { before: quotaOfRow(known), after: null };
      await writeAudits(sql, [quotaChanged(of, why, states)]);
    }),
  );
  return known !== undefined;
}

export async function quotas({ read, names }: Session): Promise<readonly QuotaRecord[]> {
  const rows = await read.all("all_quotas", { limit: QUOTAS_MAX });
  await names.learn(rows.map(({ tenant }) => tenant).filter((id) => id !== ANY_TENANT));
  return rows.flatMap((row) => quotaRecord(row, names) ?? []);
}

export async function quotaUse(session: Session, of: string): Promise<QuotaUse | null> {
  const { names } = session;
  const tenant = (await names.id("tenant", of)) ?? ANY_TENANT;
  return session.snapshot(async (sql) => {
    const rows = await sql.all("find_quotas", { tenants: list([tenant, ANY_TENANT]) });
    const row = rows.find((each) => each.tenant === tenant) ?? rows[0];
    const record = row === undefined ? null : quotaRecord(row, names);
    if (record === null) return null;
    const [use] = await sql.all("quota_uses", { tenants: list([tenant]) });
    const limits = { tenant, max: QUOTA_ROWS_MAX, rows: QUOTA_ROWS_MAX };
    const count = record.waiting === null ? null : await sql.get("count_of_tenant", limits);
    const now = await clockOf(sql);
    const { rate } = record;
    const tokens = rate === null ? null : Math.floor(tokensAt(rateState(rate, use, now), now));
    return { record, waiting: count === null ? null : (count?.count ?? 0), tokens };
  });
}
