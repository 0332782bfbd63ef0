/** tenantNames, beginRemoval, removeOfTenant, removal and openRemovals. */
import { nameCodec } from "../../shared/codes.ts";
import {
  CLEAR_BY_ID,
  CLEAR_BY_NAME,
  isEmpty,
  KEEP_NOTHING,
  PROOF_MAX,
  removalRecord,
  rowsByTable,
} from "../../shared/control/tenants.ts";
import { removalRequested } from "../../shared/audit/governance-drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { PAGE_MAX } from "../../shared/lists/bounds.ts";
import type { Remark } from "../../types/quotas.ts";
import {
  REMOVAL_STEP_MAX,
  type RemovalRecord,
  type RemovalStep,
  type TenantRows,
} from "../../types/tenants.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { removeJobs } from "../retention/prune.ts";

/** Not a name: an id that no tenant has. */
const NO_TENANT = -1;

export function tenantNames(
  { sql }: Session,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
): string[] {
  const page = { kind: nameCodec.code.tenant, after, limit: bounded(limit, PAGE_MAX) };
  return sql.all("tenant_names", page).map(({ name }) => name);
}

export function beginRemoval(session: Session, tenant: string, why: Remark): void {
  const { sql, clock } = session;
  sql.run("begin_removal", { tenant, ...why, now: clock.now() });
  writeAudits(session, [removalRequested(tenant, why)]);
}

export function removal({ sql }: Session, tenant: string): RemovalRecord | null {
  const row = sql.get("removal_of", { tenant });
  return row === undefined ? null : removalRecord(row);
}

export function openRemovals({ sql }: Session, limit: number): RemovalRecord[] {
  return sql.all("open_removals", { limit: bounded(limit, PAGE_MAX) }).map(removalRecord);
}

export function removeOfTenant(session: Session, name: string, wanted: number): RemovalStep {
  const { sql, names, clock } = session;
  const tenant = names.find("tenant", name) ?? NO_TENANT;
  const limit = bounded(wanted, REMOVAL_STEP_MAX);
  if (removal(session, name)?.doneAt !== null) {
    return { status: "done", rows: rowsOf(session, { tenant, name }) };
  }
  // An operation of the tenant could make further jobs.
  sql.run("stop_operations_of", { name, now: clock.now() });
  const keys = sql.all("keys_to_remove", { tenant, limit }).map(({ key }) => key);
  if (keys.length > 0) {
    const found = sql.all("removable_jobs", { keys: JSON.stringify(keys) });
    const { jobs, isCrowded } = removeJobs(session, found, KEEP_NOTHING);
    sql.run("note_removed", { tenant: name, count: jobs });
    return { status: "removing", removed: jobs, isBlocked: found.length === 0 && !isCrowded };
  }
  const removed = clearSome(session, { tenant, name, limit });
  sql.run("note_removed", { tenant: name, count: removed });
  const rows = rowsOf(session, { tenant, name });
  if (!isEmpty(rows)) return { status: "removing", removed, isBlocked: removed === 0 };
  sql.run("end_removal", { tenant: name, now: clock.now() });
  return { status: "done", rows };
}

interface Whose {
  readonly tenant: number;
  readonly name: string;
}

function clearSome(
  { sql }: Session,
  { tenant, name, limit }: Whose & { readonly limit: number },
): number {
  const big = [
    sql.run("clear_idempotency", { tenant, limit }).changes,
    sql.run("clear_dead_letters", { tenant, limit }).changes,
    sql.run("clear_operation_items", { name, limit }).changes,
  ];
  const byId = CLEAR_BY_ID.map((query) => sql.run(query, { tenant }).changes);
  const byName = CLEAR_BY_NAME.map((query) => sql.run(query, { name }).changes);
  return [...big, ...byId, ...byName].reduce((sum, count) => sum + count, 0);
}

function rowsOf({ sql }: Session, whose: Whose): TenantRows {
  return rowsByTable(sql.get("rows_of_tenant", { ...whose, max: PROOF_MAX }) ?? {});
}
