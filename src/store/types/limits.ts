/** Limits: how many jobs may run at the same time, and how many may start in a period. */
import type { LimitId, PermitCount, TokenRate } from "../../core/control/permits.ts";

/**
 * What a limit applies to. That of a service applies to the types that use the service. The name of
 * the installation is `all`.
 */
export interface LimitName {
  readonly kind: "type" | "tenant" | "service" | "installation" | "key";
  readonly name: string;
  /** The tenant of a concurrency key; absent for other kinds. */
  readonly tenant?: string;
}

/** At least one of the two is set. */
export interface StoredRule {
  /** Jobs that may run at the same time. */
  readonly concurrency: number | null;
  readonly rate: TokenRate | null;
}

export interface LimitRecord extends LimitName, StoredRule {
  /** 0 for the rate of a key, of which there are no permits. */
  readonly id: LimitId;
  /**
   * Permits that workers hold: for their runs, for prefetched jobs, and for the next jobs. Null:
   * the caller is not told, because jobs of other tenants count as well.
   */
  readonly used: number | null;
  /** As many permits are held as jobs may run at the same time. */
  readonly isUsedUp: boolean;
  /** The time until the rate allows the next job; null without a rate. */
  readonly nextTokenMs: number | null;
  /** Jobs that wait for a key, up to {@link KEY_WAITING_MAX}; null for other kinds. */
  readonly waiting: number | null;
  /** Who has set the limit: the code of the type, or an operator. */
  readonly owner: "code" | "operator";
  readonly by: string | null;
  readonly setAt: number;
}

/** A job, as the rates of keys apply to it. */
export interface KeyedJob {
  readonly tenant: string;
  readonly concurrencyKey: string | null;
}

/** The limit that the code of a type states. Null: the code states none. */
export interface DeclaredLimit {
  readonly type: string;
  readonly rule: StoredRule | null;
}

/** What a claim says about limits. */
export interface ClaimPermits {
  /** Permits that the worker holds from now on, besides those it has lent to the claim. */
  readonly granted: readonly PermitCount[];
  /** Limits of which the claim could take no job. `retryMs`: when the rate allows the next one. */
  readonly full: readonly { readonly limit: LimitId; readonly retryMs: number | null }[];
  /** Limits of which the worker holds permits that other workers want, and when they asked. */
  readonly wanted: readonly { readonly limit: LimitId; readonly at: number }[];
  /** Jobs were left out because of limits. Jobs behind them may be claimable. */
  readonly isCut: boolean;
}

/** How many waiting jobs of each key are counted. */
export const KEY_WAITING_MAX = 1_000;

/** The maximum of keys with a rate. */
export const KEY_RATES_MAX = 10_000;

/** The maximum of other limits. Each claim reads all of them. */
export const LIMITS_MAX = 1_000;
