/** Quotas: what a tenant may enqueue. */
import type { Quota, QuotaExcess } from "../../core/control/quotas.ts";

/** The quotas of an installation. */
export const QUOTAS_MAX = 10_000;
/** The rows of each place that a count of waiting jobs reads. */
export const QUOTA_ROWS_MAX = 1_000_000;

/** Who has done something, and why. */
export interface Remark {
  readonly by: string | null;
  readonly reason: string;
}

/** A stored quota. */
export interface QuotaRecord extends Quota, Remark {
  /** Null: for every tenant without a quota of its own. */
  readonly tenant: string | null;
  readonly setAt: number;
}

/** The quota that applies to a tenant, and what the tenant has used of it. */
export interface QuotaUse {
  readonly record: QuotaRecord;
  /** The waiting jobs, if the quota limits them. */
  readonly waiting: number | null;
  /** The whole tokens that are left of the rate, if there is one. */
  readonly tokens: number | null;
}

/** Why a quota refuses a job. */
export interface QuotaRefusal extends QuotaExcess {
  readonly tenant: string;
}
