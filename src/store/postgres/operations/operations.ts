/** startOperation, claimOperations, applyChunk and the other verbs of bulk operations. */
import { operationStarted, operationStopped } from "../../shared/audit/drafts.ts";
import { writeAudits } from "../audit/write.ts";
import {
  actOf,
  advanceParams,
  allOutcomes,
  isNextChunk,
  isUndecided,
  itemCodec,
  newOperationParams,
  openMax,
  requestsOf,
  operationCodec,
  operationRecord,
  tooManyOperations,
  type ItemResult,
} from "../../shared/control/operations.ts";
import { bounded } from "../../shared/limits.ts";
import {
  OPERATION_CHUNK_MAX,
  OPERATION_LEASE_MS,
  OPERATIONS_RUNNING_MAX,
  type ChunkAnswer,
  type ChunkItem,
  type ItemOutcome,
  type NewOperation,
  type OperationChunk,
  type OperationError,
  type OperationId,
  type OperationItem,
  type OperationQuery,
  type OperationRecord,
  type RunnerId,
} from "../../types/operations.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf, uuids } from "../database/values.ts";
import { internJobs } from "../jobs/job-rows.ts";
import { requestWithin } from "../jobs/retry.ts";
import { effectsOf, type PreparedItem } from "./effects.ts";

const PAGE_MAX = 1_000;
/** Above every id. */
const LAST_ID = "f".repeat(32);
/** Lock time-out while another call changes the same jobs or letters. */
const LOCK_MS = 10_000;

export async function startOperation(
  session: Session,
  given: NewOperation,
): Promise<OperationRecord> {
  const params = {
    ...newOperationParams(given),
    id: uuidOf(given.id),
    expected_at_least: given.isExpectedExact ? 0 : 1,
    walks_jobs: "jobs" in given.plan,
    walks_letters: "deadLetters" in given.plan,
  };
  return repeating(session.dice, () =>
    session.transaction(async (sql) => {
      const before = await sql.get("find_operation", { id: params.id });
      if (before !== undefined) return operationRecord(before);
      const [{ tenant }, max] = [given, openMax(given)];
      const open = await sql.get("count_open_operations", { tenant, max });
      if ((open?.count ?? 0) >= max) throw tooManyOperations(given);
      await sql.run("insert_operation", params);
      const started = operationRecord((await sql.get("find_operation", { id: params.id }))!);
      await writeAudits(sql, [operationStarted(started)]);
      return started;
    }),
  );
}

export async function claimOperations(
  { read, write, dice }: Session,
  runner: RunnerId,
): Promise<readonly OperationRecord[]> {
  const found = await read.all("claimable_operations", { runner, max: OPERATIONS_RUNNING_MAX });
  if (found.length === 0) return [];
  const ids = uuids(found.map(({ id }) => id));
  const rows = await repeating(dice, () =>
    write.all("hold_operations", { ids, runner, lease_ms: OPERATION_LEASE_MS }),
  );
  return rows.map(operationRecord);
}

/** A repeat after a lost answer finds another cursor: the chunk was applied by the first try. */
export async function applyChunk(
  session: Session,
  id: OperationId,
  chunk: OperationChunk,
): Promise<ChunkAnswer> {
  const items = await prepared(session, chunk.items.slice(0, OPERATION_CHUNK_MAX));
  const answer = await repeating(session.dice, () =>
    session.transaction((transaction) => applyWithin(transaction, id, chunk, items), {
      lockMs: LOCK_MS,
    }),
  );
  const isDelete = answer.status === "applied" && answer.operation.plan.action === "delete";
  if (isDelete) session.notifier.wake("events");
  return answer;
}

/** Names are interned before the transaction begins. */
async function prepared(
  session: Session,
  items: readonly ChunkItem[],
): Promise<readonly PreparedItem[]> {
  const successors = items.flatMap(({ successor }) => successor ?? []);
  const interned = (await internJobs(session.names, successors)).values();
  return items.map((item) =>
    item.successor === undefined ? item : { ...item, interned: interned.next().value ?? null },
  );
}

async function applyWithin(
  transaction: StoreTransaction,
  id: OperationId,
  chunk: OperationChunk,
  items: readonly PreparedItem[],
): Promise<ChunkAnswer> {
  await transaction.run("lock_operation", { id: uuidOf(id) });
  const row = await transaction.get("find_operation", { id: uuidOf(id) });
  if (row === undefined || !isNextChunk(row, chunk)) return { status: "moved" };
  const before = operationRecord(row);
  await requestWithin(transaction, requestsOf(before, items), actOf(before));
  const decided = await effectsOf(transaction, before, items.filter(isUndecided), chunk);
  const outcomes = allOutcomes(items, decided);
  await insertItems(transaction, before, outcomes);
  await transaction.run("advance_operation", {
    ...advanceParams(before, chunk, outcomes),
    id: uuidOf(id),
    is_last: chunk.to === null,
  });
  const after = await transaction.get("find_operation", { id: uuidOf(id) });
  return { status: "applied", operation: operationRecord(after!) };
}

async function insertItems(
  transaction: StoreTransaction,
  { id: operationId, items }: OperationRecord,
  outcomes: readonly ItemResult[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const rows = outcomes.map(({ id, outcome, code, successor }, index) => ({
    n: items + index + 1,
    id: uuidOf(id),
    outcome: itemCodec.code[outcome],
    code,
    successor: successor === null ? null : uuidOf(successor),
  }));
  const params = { id: uuidOf(operationId), items: JSON.stringify(rows) };
  await transaction.run("insert_operation_items", params);
}

export async function stopOperation(
  session: Session,
  id: OperationId,
  by: string,
): Promise<OperationRecord | null> {
  await repeating(session.dice, () =>
    session.transaction(async (sql) => {
      const row = await sql.get("find_operation", { id: uuidOf(id) });
      const stopped = await sql.run("stop_operation", { id: uuidOf(id), by });
      if (stopped === 0 || row === undefined) return;
      await writeAudits(sql, [operationStopped(operationRecord(row), by)]);
    }),
  );
  return operation(session, id);
}

export async function failOperation(
  session: Session,
  id: OperationId,
  runner: RunnerId,
  error: OperationError,
): Promise<boolean> {
  const failure = { id: uuidOf(id), runner, error: JSON.stringify(error) };
  const changed = await session.transaction((sql) => sql.run("fail_operation", failure));
  return changed > 0;
}

export async function operation(
  { read }: Session,
  id: OperationId,
): Promise<OperationRecord | null> {
  const row = await read.get("find_operation", { id: uuidOf(id) });
  return row === undefined ? null : operationRecord(row);
}

export async function operations(
  { read }: Session,
  { status, tenant }: OperationQuery,
  page: { readonly after?: OperationId; readonly limit: number },
): Promise<readonly OperationRecord[]> {
  const rows = await read.all("list_operations", {
    before: page.after === undefined ? LAST_ID : uuidOf(page.after),
    status: status === undefined ? null : operationCodec.code[status],
    tenant: tenant ?? null,
    limit: bounded(page.limit, PAGE_MAX),
  });
  return rows.map(operationRecord);
}

export async function operationItems(
  { read }: Session,
  id: OperationId,
  page: { readonly after: number; readonly limit: number; readonly outcome?: ItemOutcome },
): Promise<readonly OperationItem[]> {
  const rows = await read.all("list_operation_items", {
    id: uuidOf(id),
    after: page.after,
    outcome: page.outcome === undefined ? null : itemCodec.code[page.outcome],
    limit: bounded(page.limit, PAGE_MAX),
  });
  return rows.map(({ n, job_id: job, outcome, code, successor }) => ({
    n,
    id: job,
    outcome: itemCodec.word(outcome),
    code,
    successor,
  }));
}
