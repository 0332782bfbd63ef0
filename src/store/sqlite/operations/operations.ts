/** startOperation, claimOperations, applyChunk and the other verbs of bulk operations. */
import { idBytes, idFromBytes, idHex } from "../../../core/ids.ts";
import { operationStarted, operationStopped } from "../../shared/audit/drafts.ts";
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
import type { OperationRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { writeAudits } from "../audit/write.ts";
import { requestReprocess } from "../jobs/retry.ts";
import { effectsOf } from "./effects.ts";

const PAGE_MAX = 1_000;
/** Above every id. */
const LAST_ID = new Uint8Array(17).fill(255);

export function startOperation(session: Session, given: NewOperation): OperationRecord {
  const { sql, clock } = session;
  const before = operation(session, given.id);
  if (before !== null) return before;
  const [{ tenant }, max] = [given, openMax(given)];
  const open = sql.get("count_open_operations", { tenant, max })?.count ?? 0;
  if (open >= max) throw tooManyOperations(given);
  sql.run("insert_operation", {
    ...newOperationParams(given),
    id: idBytes(given.id),
    expected_at_least: given.isExpectedExact ? 0 : 1,
    walks_jobs: "jobs" in given.plan ? 1 : 0,
    walks_letters: "deadLetters" in given.plan ? 1 : 0,
    now: clock.now(),
  });
  const started = operation(session, given.id)!;
  writeAudits(session, [operationStarted(started)]);
  return started;
}

/** True when {@link claimOperations} would take none. Called without the write lock. */
export function claimsNoOperation(session: Session, runner: RunnerId): boolean {
  return claimable(session, runner).length === 0;
}

export function claimOperations(session: Session, runner: RunnerId): readonly OperationRecord[] {
  const ids = claimable(session, runner);
  session.sql.run("hold_operations", {
    ids: JSON.stringify(ids.map(idHex)),
    runner,
    now: session.clock.now(),
    lease_ms: OPERATION_LEASE_MS,
  });
  return ids.flatMap((id) => operation(session, id) ?? []);
}

function claimable({ sql, clock }: Session, runner: RunnerId): readonly OperationId[] {
  const max = OPERATIONS_RUNNING_MAX;
  return sql
    .all("claimable_operations", { runner, now: clock.now(), max })
    .map(({ id }) => idFromBytes(id));
}

export function applyChunk(session: Session, id: OperationId, chunk: OperationChunk): ChunkAnswer {
  const { sql, clock } = session;
  const row = sql.get("find_operation", { id: idBytes(id), now: clock.now() });
  if (row === undefined || !isNextChunk(row, chunk)) return { status: "moved" };
  const before = recordOf(row);
  const items = chunk.items.slice(0, OPERATION_CHUNK_MAX);
  requestReprocess(session, requestsOf(before, items), actOf(before));
  const decided = effectsOf(session, before, items.filter(isUndecided), chunk);
  if (decided === null) return { status: "again" };
  const outcomes = allOutcomes(items, decided);
  insertItems(session, before, outcomes);
  sql.run("advance_operation", {
    ...advanceParams(before, chunk, outcomes),
    id: idBytes(id),
    is_last: chunk.to === null ? 1 : 0,
    now: clock.now(),
  });
  return { status: "applied", operation: operation(session, id)! };
}

function insertItems(
  { sql }: Session,
  { id: operationId, items }: OperationRecord,
  outcomes: readonly ItemResult[],
): void {
  const rows = outcomes.map(({ id, outcome, code, successor }, index) => ({
    n: items + index + 1,
    id: idHex(id),
    outcome: itemCodec.code[outcome],
    code,
    successor: successor === null ? null : idHex(successor),
  }));
  if (rows.length === 0) return;
  sql.run("insert_operation_items", { id: idBytes(operationId), items: JSON.stringify(rows) });
}

export function stopOperation(
  session: Session,
  id: OperationId,
  by: string,
): OperationRecord | null {
  const before = operation(session, id);
  const request = { id: idBytes(id), by, now: session.clock.now() };
  const { changes } = session.sql.run("stop_operation", request);
  if (changes > 0 && before !== null) writeAudits(session, [operationStopped(before, by)]);
  return operation(session, id);
}

export function failOperation(
  { sql, clock }: Session,
  id: OperationId,
  runner: RunnerId,
  error: OperationError,
): boolean {
  const failure = { id: idBytes(id), runner, error: JSON.stringify(error), now: clock.now() };
  return sql.run("fail_operation", failure).changes > 0;
}

export function operation({ sql, clock }: Session, id: OperationId): OperationRecord | null {
  const row = sql.get("find_operation", { id: idBytes(id), now: clock.now() });
  return row === undefined ? null : recordOf(row);
}

export function operations(
  { sql, clock }: Session,
  { status, tenant }: OperationQuery,
  page: { readonly after?: OperationId; readonly limit: number },
): readonly OperationRecord[] {
  return sql
    .all("list_operations", {
      before: page.after === undefined ? LAST_ID : idBytes(page.after),
      status: status === undefined ? null : operationCodec.code[status],
      tenant: tenant ?? null,
      limit: bounded(page.limit, PAGE_MAX),
      now: clock.now(),
    })
    .map(recordOf);
}

export function operationItems(
  { sql }: Session,
  id: OperationId,
  page: { readonly after: number; readonly limit: number; readonly outcome?: ItemOutcome },
): readonly OperationItem[] {
  const { after, outcome } = page;
  const rows = sql.all("list_operation_items", {
    id: idBytes(id),
    after,
    outcome: outcome === undefined ? null : itemCodec.code[outcome],
    limit: bounded(page.limit, PAGE_MAX),
  });
  return rows.map(({ n, job_id: job, outcome: code, code: why, successor }) => ({
    n,
    id: idFromBytes(job),
    outcome: itemCodec.word(code),
    code: why,
    successor: successor === null ? null : idFromBytes(successor),
  }));
}

function recordOf(row: OperationRow): OperationRecord {
  return operationRecord({ ...row, id: idFromBytes(row.id) });
}
