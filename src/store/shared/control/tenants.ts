/** What both stores share about the removal of a tenant. */
import type { RemovalRecord, TenantRows } from "../../types/tenants.ts";

interface RemovalRow {
  readonly tenant: string;
  readonly reason: string;
  readonly by: string | null;
  readonly removed: number;
  readonly begun_at: number;
  readonly done_at: number | null;
}

export function removalRecord(row: RemovalRow): RemovalRecord {
  const { tenant, reason, by, removed, begun_at: begunAt, done_at: doneAt } = row;
  return { tenant, reason, by, removed, begunAt, doneAt };
}

/** Counts stop here: the proof asks whether a row is left. */
export const PROOF_MAX = 1_000;

/** `job_rows` of the statement is the count of the table `job`. */
export function rowsByTable(row: object): TenantRows {
  return Object.fromEntries(
    Object.entries(row).map(([column, count]: [string, unknown]) => {
      return [column.replace(/_rows$/, ""), Number(count)];
    }),
  );
}

export function isEmpty(rows: TenantRows): boolean {
  return Object.values(rows).every((count) => count === 0);
}

/** Statements that delete what a tenant has besides jobs, dead letters and idempotency keys. */
export const CLEAR_BY_ID = [
  "clear_dedup",
  "clear_failure_group",
  "clear_lock",
  "clear_key_rate",
  "clear_fair_turn",
  "clear_weights",
  "clear_service_park",
  "clear_permits",
  "clear_limits",
  "clear_gate",
  "clear_quota",
  "clear_quota_use",
] as const;

export const CLEAR_BY_NAME = [
  "clear_ticks",
  "clear_schedules",
  "clear_tokens",
  "clear_operations",
  "clear_views",
] as const;

/** No retention period: what a removed job leaves goes with the tenant. */
export const KEEP_NOTHING = { idempotencyMs: 0 } as const;
