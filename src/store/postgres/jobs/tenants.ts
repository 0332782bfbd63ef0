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
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { forgetRemoved, removeSome } from "../retention/prune.ts";

/** Not a name: an id that no tenant has. */
const NO_TENANT = -1;

export async function tenantNames(
  { read }: Session,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly string[]> {
  const page = { kind: nameCodec.code.tenant, after, limit: bounded(limit, PAGE_MAX) };
  return (await read.all("tenant_names", page)).map(({ name }) => name);
}

export async function beginRemoval(
  session: Session,
  tenant: string,
  { by, reason }: Remark,
): Promise<void> {
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (transaction) => {
      await transaction.run("begin_removal", { tenant, by, reason });
      await writeAudits(transaction, [removalRequested(tenant, { by, reason })], isRepeat);
    }),
  );
}

export async function removal({ read }: Session, tenant: string): Promise<RemovalRecord | null> {
  const row = await read.get("removal_of", { tenant });
  return row === undefined ? null : removalRecord(row);
}

export async function openRemovals(
  { read }: Session,
  limit: number,
): Promise<readonly RemovalRecord[]> {
  const rows = await read.all("open_removals", { limit: bounded(limit, PAGE_MAX) });
  return rows.map(removalRecord);
}

export async function removeOfTenant(
  session: Session,
  name: string,
  wanted: number,
): Promise<RemovalStep> {
  const tenant = (await session.names.id("tenant", name)) ?? NO_TENANT;
  const whose = { tenant, name, limit: bounded(wanted, REMOVAL_STEP_MAX) };
  const { keys, ...step } = await repeating(session.dice, () =>
    session.transaction((transaction) => stepOf(transaction, whose)),
  );
  forgetRemoved(session, keys);
  return step;
}

interface Whose {
  readonly tenant: number;
  readonly name: string;
  readonly limit: number;
}

/** `keys`: the jobs among which some were deleted. */
async function stepOf(
  transaction: StoreTransaction,
  whose: Whose,
): Promise<RemovalStep & { readonly keys: readonly number[] }> {
  const { tenant, name, limit } = whose;
  if ((await transaction.get("lock_open_removal", { tenant: name })) === undefined) {
    return { status: "done", rows: await rowsOf(transaction, whose), keys: [] };
  }
  // An operation of the tenant could make further jobs.
  await transaction.run("stop_operations_of", { name });
  const found = await transaction.all("keys_to_remove", { tenant, limit });
  if (found.length === 0) return { ...(await clearSome(transaction, whose)), keys: [] };
  const keys = found.map(({ key }) => key);
  const { count, waiting } = await removeSome(transaction, keys, KEEP_NOTHING);
  await transaction.run("note_removed", { tenant: name, count });
  const isBlocked = count === 0 && waiting === 0;
  return { status: "removing", removed: count, isBlocked, keys: count > 0 ? keys : [] };
}

async function clearSome(transaction: StoreTransaction, whose: Whose): Promise<RemovalStep> {
  const { tenant, name, limit } = whose;
  let removed = await transaction.run("clear_idempotency", { tenant, limit });
  removed += await transaction.run("clear_dead_letters", { tenant, limit });
  removed += await transaction.run("clear_operation_items", { name, limit });
  for (const query of CLEAR_BY_ID) removed += await transaction.run(query, { tenant });
  for (const query of CLEAR_BY_NAME) removed += await transaction.run(query, { name });
  await transaction.run("note_removed", { tenant: name, count: removed });
  const rows = await rowsOf(transaction, whose);
  if (!isEmpty(rows)) return { status: "removing", removed, isBlocked: removed === 0 };
  await transaction.run("end_removal", { tenant: name });
  return { status: "done", rows };
}

async function rowsOf(transaction: StoreTransaction, { tenant, name }: Whose): Promise<TenantRows> {
  const row = await transaction.get("rows_of_tenant", { tenant, name, max: PROOF_MAX });
  return rowsByTable(row ?? {});
}
