/** Rows of quotas, and the jobs that a quota refuses. Both stores ask here. */
import type { RateState } from "../../../core/control/permits.ts";
import type { Quota, QuotaExcess } from "../../../core/control/quotas.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { NewJob, RefusedJob } from "../../types/jobs-and-runs.ts";
import { QUOTAS_MAX, type QuotaRecord } from "../../types/quotas.ts";
import type { NameLookup } from "../decode-jobs.ts";

/** Stands for every tenant without a quota of its own. */
export const ANY_TENANT = 0;

interface QuotaRow {
  readonly tenant: number;
  readonly waiting: number | null;
  readonly rate_count: number | null;
  readonly rate_ms: number | null;
  readonly burst: number | null;
  readonly payload_bytes: number | null;
  readonly reason: string;
  readonly by: string | null;
  readonly set_at: number;
}

export function quotaColumns({
  waiting,
  rate,
  payloadBytes,
}: Quota): Pick<QuotaRow, "waiting" | "rate_count" | "rate_ms" | "burst" | "payload_bytes"> {
  return {
    waiting,
    rate_count: rate?.count ?? null,
    rate_ms: rate?.perMs ?? null,
    burst: rate?.burst ?? null,
    payload_bytes: payloadBytes,
  };
}

export function quotaOfRow(row: QuotaRow): Quota {
  const { rate_count: count, rate_ms: perMs, burst } = row;
  const hasRate = count !== null && perMs !== null && burst !== null;
  return {
    waiting: row.waiting,
    rate: hasRate ? { count, perMs, burst } : null,
    payloadBytes: row.payload_bytes,
  };
}

/** Null: the name of the tenant is unknown. */
export function quotaRecord(row: QuotaRow, names: Pick<NameLookup, "name">): QuotaRecord | null {
  const { tenant: id, reason, by, set_at: setAt } = row;
  const tenant = id === ANY_TENANT ? null : names.name(id)?.text;
  return tenant === undefined ? null : { tenant, ...quotaOfRow(row), reason, by, setAt };
}

/** What is left of a rate. A tenant without a row has all its tokens. */
export function rateState(
  rate: NonNullable<Quota["rate"]>,
  use: { readonly tokens: number; readonly refilled_at: number } | undefined,
  now: number,
): RateState {
  const tokens = use?.tokens ?? rate.burst;
  return { ...rate, tokens, refilledAt: use?.refilled_at ?? now };
}

/**
 * Whether a quota concerns a new job. The children of a run and the successors of a job continue
 * work that the store has accepted, so they pass.
 */
export function isUnderQuota({ parentId, retryOf }: NewJob): boolean {
  return parentId === null && retryOf === null;
}

/** Bytes of the JSON of a payload. */
export function payloadBytesOf({ payload }: NewJob): number {
  return payload === null ? 0 : Buffer.byteLength(payload);
}

export function quotaRefusal({ id, tenant }: NewJob, excess: QuotaExcess): RefusedJob {
  const code = excess.quota === "payloadBytes" ? "PAYLOAD_OVER_QUOTA" : "QUOTA_EXCEEDED";
  return { status: "refused", code, holder: id, quota: { tenant, ...excess } };
}

export function tooManyQuotas(): MillraceError {
  const message = `at most ${QUOTAS_MAX} quotas can be set; remove some, or use the one of "*"`;
  return new MillraceError("OPTION_INVALID", message);
}
