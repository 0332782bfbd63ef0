/** The tenants of an installation, and the removal of all data of one. */
import type { Remark } from "./quotas.ts";

/** The removal of all data of a tenant. */
export interface RemovalRecord extends Remark {
  readonly tenant: string;
  readonly begunAt: number;
  /** Null: the removal is under way. */
  readonly doneAt: number | null;
  /** Jobs and other rows that were deleted. */
  readonly removed: number;
}

/** The rows of each table that mention a tenant. */
export type TenantRows = Readonly<Record<string, number>>;

/** What one step of a removal has done. */
export type RemovalStep =
  | {
      readonly status: "removing";
      readonly removed: number;
      /** Jobs are left that cannot be removed yet: they wait, run, or others wait for them. */
      readonly isBlocked: boolean;
    }
  /** No removal is under way any more. */
  | { readonly status: "done"; readonly rows: TenantRows };

/** Reads that the database itself limits to one tenant. */
export interface TenantReads {
  /**
   * Runs `read`, whose statements see rows of this tenant alone. Where the database offers no such
   * reads, `read` runs as it is.
   */
  as<Answer>(tenant: string, read: () => Promise<Answer>): Promise<Answer>;
}

/** Jobs, dead letters and idempotency keys that one step deletes. */
export const REMOVAL_STEP_MAX = 500;
