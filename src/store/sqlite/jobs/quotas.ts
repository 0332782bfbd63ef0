/** setQuota, removeQuota, quotas and quotaUse, and which new jobs of a call a quota refuses. */
import { payloadExcess, rateExcess, takeTokens, type Quota } from "../../../core/control/quotas.ts";
import { tokensAt, type RateState } from "../../../core/control/permits.ts";
import {
  ANY_TENANT,
  isUnderQuota,
  payloadBytesOf,
  quotaColumns,
  quotaOfRow,
  quotaRecord,
  quotaRefusal,
  rateState,
  tooManyQuotas,
} from "../../shared/control/quotas.ts";
import { quotaChanged } from "../../shared/audit/governance-drafts.ts";
import type { NewJob, RefusedJob } from "../../types/jobs-and-runs.ts";
import {
  QUOTA_ROWS_MAX,
  QUOTAS_MAX,
  type QuotaRecord,
  type QuotaUse,
  type Remark,
} from "../../types/quotas.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";

export function setQuota(
  session: Session,
  of: string | null,
  quota: Quota,
  { by, reason }: Remark,
): void {
  const { sql, names, clock } = session;
  const tenant = of === null ? ANY_TENANT : names.id("tenant", of);
  const known = sql.all("find_quotas", { tenants: JSON.stringify([tenant]) });
  const isNew = known.length === 0;
  if (isNew && sql.all("all_quotas", { limit: QUOTAS_MAX }).length >= QUOTAS_MAX) {
    throw tooManyQuotas();
  }
  sql.run("put_quota", { tenant, ...quotaColumns(quota), by, reason, now: clock.now() });
  sql.run("delete_quota_use", { tenant });
  const before = known[0] === undefined ? null : quotaOfRow(known[0]);
  writeAudits(session, [quotaChanged(of, { by, reason }, { before, after: quota })]);
}

export function removeQuota(session: Session, of: string | null, why: Remark): boolean {
  const { sql, names } = session;
  const tenant = of === null ? ANY_TENANT : names.find("tenant", of);
  if (tenant === undefined) return false;
  const [known] = sql.all("find_quotas", { tenants: JSON.stringify([tenant]) });
  sql.run("delete_quota_use", { tenant });
  sql.run("delete_quota", { tenant });
  if (known === undefined) return false;
  writeAudits(session, [quotaChanged(of, why, { before: quotaOfRow(known), after: null })]);
  return true;
}

export function quotas({ sql, names }: Session): QuotaRecord[] {
  const rows = sql.all("all_quotas", { limit: QUOTAS_MAX });
  return rows.flatMap((row) => quotaRecord(row, names) ?? []);
}

export function quotaUse(session: Session, of: string): QuotaUse | null {
  const { sql, names, clock } = session;
  const tenant = names.find("tenant", of) ?? ANY_TENANT;
  const rows = sql.all("find_quotas", { tenants: JSON.stringify([tenant, ANY_TENANT]) });
  const row = rows.find((each) => each.tenant === tenant) ?? rows[0];
  const record = row === undefined ? null : quotaRecord(row, names);
  if (record === null) return null;
  const { waiting, rate } = record;
  const now = clock.now();
  return {
    record,
    waiting: waiting === null ? null : countWaiting(session, tenant, QUOTA_ROWS_MAX),
    tokens: rate === null ? null : Math.floor(tokensAt(stateOf(session, tenant, rate), now)),
  };
}

function countWaiting({ sql }: Session, tenant: number, max: number): number {
  return sql.get("count_of_tenant", { tenant, max, rows: QUOTA_ROWS_MAX })?.count ?? 0;
}

function stateOf(
  { sql, clock }: Session,
  tenant: number,
  rate: NonNullable<Quota["rate"]>,
): RateState {
  const [use] = sql.all("quota_uses", { tenants: JSON.stringify([tenant]) });
  return rateState(rate, use, clock.now());
}

/** Which jobs of a call the quotas refuse. */
export interface CallQuotas {
  /** Null: the job is admitted, if it is made. */
  refusal(job: NewJob, tenant: number): RefusedJob | null;
  /** An admitted job is made. */
  made(job: NewJob, tenant: number): void;
}

export const NO_QUOTAS: CallQuotas = { refusal: () => null, made: () => {} };

/**
 * The quotas of one transaction. The tokens are taken in this transaction, so that a rollback
 * returns them; a call counts waiting jobs at most once.
 */
export function callQuotas(session: Session, jobs: readonly NewJob[]): CallQuotas {
  const wanted = new Map<string, number>();
  for (const job of jobs.filter(isUnderQuota)) {
    wanted.set(job.tenant, (wanted.get(job.tenant) ?? 0) + 1);
  }
  const known = new Map<number, Quota | null>();
  /** Whether the waiting jobs of a tenant were counted for this call. */
  const asked = new Map<number, boolean>();
  const quotaOf = (job: NewJob, tenant: number): Quota | null => {
    if (!isUnderQuota(job)) return null;
    if (!known.has(tenant)) known.set(tenant, findQuota(session, tenant));
    return known.get(tenant) ?? null;
  };
  return {
    refusal(job, tenant) {
      const quota = quotaOf(job, tenant);
      if (quota === null) return null;
      const { waiting, rate } = quota;
      const now = session.clock.now();
      const tooLong = payloadExcess(quota, payloadBytesOf(job));
      if (tooLong !== null) return quotaRefusal(job, tooLong);
      if (waiting !== null) {
        const ahead = wanted.get(job.tenant) ?? 1;
        if (!asked.has(tenant))
          asked.set(tenant, count(session, job.tenant, tenant, waiting, ahead));
        const room = session.state.waiting.room(job.tenant, waiting, asked.get(tenant) === true);
        const used = session.state.waiting.used(job.tenant);
        const excess = { quota: "waiting", limit: waiting, used, retryAfterMs: null } as const;
        if (room < 1) return quotaRefusal(job, excess);
      }
      const state = rate === null ? null : stateOf(session, tenant, rate);
      if (state === null || tokensAt(state, now) >= 1) return null;
      return quotaRefusal(job, rateExcess(state, now));
    },
    made(job, tenant) {
      const quota = quotaOf(job, tenant);
      if (quota === null) return;
      if (quota.waiting !== null) session.state.waiting.admit(job.tenant, 1, false);
      if (quota.rate === null) return;
      const now = session.clock.now();
      const { left } = takeTokens(stateOf(session, tenant, quota.rate), 1, now);
      session.sql.run("put_quota_use", { tenant, tokens: left.tokens, now });
    },
  };
}

function findQuota({ sql }: Session, tenant: number): Quota | null {
  const rows = sql.all("find_quotas", { tenants: JSON.stringify([tenant, ANY_TENANT]) });
  const row = rows.find((each) => each.tenant === tenant) ?? rows[0];
  return row === undefined ? null : quotaOfRow(row);
}

/** Counts the waiting jobs of a tenant, unless an earlier count still tells enough. */
function count(
  session: Session,
  name: string,
  tenant: number,
  quota: number,
  wanted: number,
): boolean {
  const { clock, state } = session;
  const since = clock.monotonic();
  if (!state.waiting.needsCount(name, wanted, since)) return false;
  const begun = state.waiting.beginCount(name);
  const found = countWaiting(session, tenant, quota);
  const now = clock.monotonic();
  state.waiting.counted(name, found, quota, { begun, now, tookMs: now - since });
  return true;
}
