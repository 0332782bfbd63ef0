/** The tenants of an installation: what they have, what they may enqueue, and their removal. */
import type { Duration } from "../../core/duration.ts";
import type { ClosedIntake } from "./intake.ts";

/** What a tenant may enqueue. At least one part. */
export interface QuotaRule {
  /** Jobs that are scheduled, queued or held back at the same time. */
  readonly waiting?: number;
  /** New jobs in a period. `burst` is how many may come at once; without it, `limit`. */
  readonly rate?: { readonly limit: number; readonly per: Duration; readonly burst?: number };
  /** Bytes of the JSON of one payload. */
  readonly payloadBytes?: number;
}

/** A quota that is set. */
export interface TenantQuota {
  /** `*`: every tenant without a quota of its own. */
  readonly tenant: string;
  readonly waiting: number | null;
  readonly rate: { readonly limit: number; readonly perMs: number; readonly burst: number } | null;
  readonly payloadBytes: number | null;
  readonly reason: string;
  readonly setBy: string | null;
  readonly setAt: Date;
}

/** The quota that applies to a tenant, and its use. */
export interface QuotaUsed extends TenantQuota {
  /** Jobs that wait, if the quota limits them. */
  readonly waitingNow: number | null;
  /** Jobs that may come at once now, if the quota has a rate. */
  readonly tokens: number | null;
}

type CountName = "scheduled" | "queued" | "held" | "running" | "failed";

/** A tenant, as an operator sees it. */
export interface TenantView {
  readonly tenant: string;
  /** Among at most 100,000 jobs of the installation in each place. */
  readonly counts: Readonly<Record<CountName, number>>;
  /** Counts that may be larger. */
  readonly atLeast: readonly CountName[];
  readonly pause: {
    readonly reason: string;
    readonly pausedBy: string | null;
    readonly pausedAt: Date;
  } | null;
  /** Null: the intake of the tenant is open. */
  readonly intake: ClosedIntake | null;
  readonly quota: TenantQuota | null;
  /** The limit of the tenant; its keys are in `mill.limits.list`. */
  readonly limit: {
    readonly concurrency: number | null;
    readonly rate: {
      readonly limit: number;
      readonly perMs: number;
      readonly burst: number;
    } | null;
  } | null;
  /** The weights of the tenant in fair lanes; 1 where none is set. */
  readonly weights: Readonly<Record<string, number>>;
}

/** One tenant with the use of its quota and its removal. */
export interface TenantDetails extends Omit<TenantView, "quota"> {
  readonly quota: QuotaUsed | null;
  readonly removal: TenantRemoval | null;
}

/** The removal of all data of a tenant. */
export interface TenantRemoval {
  readonly reason: string;
  readonly begunBy: string | null;
  readonly begunAt: Date;
  /** Null: the removal is under way. */
  readonly doneAt: Date | null;
  /** Jobs and other rows that were deleted. */
  readonly removed: number;
}

/** One line of an export. */
export interface TenantLine {
  readonly kind:
    | "tenant"
    | "job"
    | "attempt"
    | "phases"
    | "unit"
    | "log"
    | "event"
    | "deadLetter"
    | "schedule"
    | "tick"
    | "token"
    | "quota"
    | "pause"
    | "intake"
    | "limit"
    | "weight"
    | "failure"
    | "view"
    | "operation"
    | "operationItem"
    | "audit"
    | "end";
  /** The job, schedule, operation or other subject that the line belongs to. */
  readonly of?: string;
  readonly data: unknown;
}

/** The proof at the end of a removal. */
export interface TenantRemoved extends TenantRemoval {
  /** The rows of each table that mention the tenant: all are 0. Empty before the end. */
  readonly rows: Readonly<Record<string, number>>;
}

/** `mill.tenants`. */
export interface Tenants {
  /** The known tenants by name, 100 at a time. The mill of a tenant lists its own one. */
  list(page?: { readonly after?: string; readonly limit?: number }): Promise<{
    readonly tenants: readonly TenantView[];
    /** Where the next page begins; null: this is the last one. */
    readonly next: string | null;
  }>;
  /** One tenant. A tenant without jobs and settings has zeros. */
  get(tenant: string): Promise<TenantDetails>;
  /** The quotas that are set. */
  quotas(): Promise<readonly TenantQuota[]>;
  /**
   * Sets what a tenant may enqueue, or every tenant without a quota of its own (`*`), in place of
   * the quota before. A job beyond it is refused with QUOTA_EXCEEDED or PAYLOAD_OVER_QUOTA.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const report = defineJob({ type: "report" });
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const why = { actor: "ada", reason: "the plan of acme" };
   * await mill.tenants.setQuota("acme", { waiting: 1 }, why);
   *
   * const acme = mill.forTenant("acme");
   * await acme.enqueue(report);
   * await assert.rejects(acme.enqueue(report), { code: "QUOTA_EXCEEDED", status: 429 });
   *
   * assert.equal((await mill.tenants.get("acme")).quota?.waitingNow, 1);
   * assert.deepEqual(await mill.tenants.removeQuota("acme", why), { wasSet: true });
   * ```
   */
  setQuota(tenant: string, quota: QuotaRule, by: TenantAct): Promise<void>;
  /** Removes a quota, and says whether it was set. */
  removeQuota(tenant: string, by: TenantAct): Promise<{ readonly wasSet: boolean }>;
  /**
   * All data of a tenant, one line after the other: jobs with payload, result, attempts, phases,
   * units and logs, events as far as they are kept, dead letters, schedules, tokens without their
   * secrets, settings, operations, and the audit. The last line has the kind `end`. Jobs that
   * change meanwhile may be told in either state.
   */
  export(tenant: string): AsyncIterable<TenantLine>;
  /**
   * Removes all data of a tenant: closes its intake, cancels its jobs, waits up to `grace` for
   * running ones, and deletes everything in steps. Can be called again after a crash or a
   * TENANT_BUSY, and continues. `confirm` must be the name of the tenant. With `within`, the call
   * ends after this time at the latest: `doneAt` is null if the removal has to be continued.
   */
  remove(
    tenant: string,
    by: TenantAct & {
      readonly confirm: string;
      readonly grace?: Duration;
      readonly within?: Duration;
    },
  ): Promise<TenantRemoved>;
}

/** Who acts, and why. */
export interface TenantAct {
  readonly actor: string;
  readonly reason: string;
}
