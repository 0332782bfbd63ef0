/** What a chunk of an operation does to its items: the verbs about one job or letter, in turn. */
import { idBytes, idFromBytes, idHex } from "../../../core/ids.ts";
import { operationRemark } from "../../../core/control/bulk.ts";
import type { JobId } from "../../../core/job.ts";
import { deleted, retriedAsNew, type AuditDraft } from "../../shared/audit/drafts.ts";
import { stateCodec } from "../../shared/codes.ts";
import {
  cancelOutcome,
  done,
  failed,
  letterOutcome,
  placeOutcome,
  retryOutcome,
  reviewOutcome,
  skipped,
  type ItemResult,
} from "../../shared/control/operations.ts";
import { longestKeyMs } from "../../shared/declared-periods.ts";
import { CHAIN_MAX } from "../../shared/limits.ts";
import type { Act } from "../../types/audit.ts";
import type { ChunkItem, OperationChunk, OperationRecord } from "../../types/operations.ts";
import { writeAudits } from "../audit/write.ts";
import { bisect } from "../batching/fallback.ts";
import type { Session } from "../database/session.ts";
import { cancel } from "../jobs/cancel.ts";
import { closeRepeated, review } from "../jobs/dead-letters.ts";
import { enqueueWithin } from "../jobs/enqueue.ts";
import { reprocessMany } from "../jobs/failures.ts";
import { hurry } from "../jobs/intervene.ts";
import { reschedule, setPriority } from "../jobs/reschedule.ts";
import { removeNamed } from "../retention/prune.ts";

/** Null: parts of jobs were deleted, and the same chunk has to be applied again. */
export function effectsOf(
  session: Session,
  operation: OperationRecord,
  items: readonly ChunkItem[],
  { idempotencyMs }: OperationChunk,
): readonly ItemResult[] | null {
  if (operation.plan.action === "delete") {
    return deleteJobs(session, operation, items, idempotencyMs);
  }
  const existing = otherSuccessors(session, operation, items);
  const work = (part: readonly ChunkItem[]): ItemResult[] =>
    part.map(
      (item) =>
        changed(session, operation, item) ??
        existing.get(item.id) ??
        effectOf(session, operation, item),
    );
  return bisect(session, items, work, ({ id }) => failed(id, "STORE_REFUSED"));
}

/** A job with a successor that has not failed, or that this chunk repeats, is not repeated. */
function otherSuccessors(
  { sql }: Session,
  { plan }: OperationRecord,
  items: readonly ChunkItem[],
): ReadonlyMap<JobId, ItemResult> {
  const final = items.filter(({ successor }) => successor !== undefined);
  if (plan.action !== "retry" || final.length === 0) return new Map();
  const ids = JSON.stringify(final.map(({ id }) => idHex(id)));
  const rows = sql.all("other_successors", { ids, depth: CHAIN_MAX });
  return new Map(
    rows.map((row) => {
      const id = idFromBytes(row.id);
      return [id, skipped(id, "existing", idFromBytes(row.successor))];
    }),
  );
}

/** A job that is in none of the states of the filter any more is skipped. */
function changed(
  { sql }: Session,
  { plan }: OperationRecord,
  { id }: ChunkItem,
): ItemResult | null {
  const states = "jobs" in plan ? plan.jobs.states : undefined;
  if (states === undefined) return null;
  const row = sql.get("job_by_id", { id: idBytes(id) });
  if (row === undefined) return skipped(id, "unknown");
  return states.includes(stateCodec.word(row.state)) ? null : skipped(id, "state");
}

function effectOf(session: Session, operation: OperationRecord, item: ChunkItem): ItemResult {
  const { plan, actor } = operation;
  const { id } = item;
  const remark = operationRemark(operation);
  const act = { by: actor, reason: remark };
  switch (plan.action) {
    case "cancel":
      return cancelOutcome(id, cancel(session, id, actor, remark));
    case "retry":
      return retry(session, item, act);
    case "priority":
      return placeOutcome(id, setPriority(session, id, plan.priority, act));
    case "reschedule":
      return placeOutcome(id, reschedule(session, id, plan.due, act));
    case "reprocess":
      return reprocess(session, item, actor, remark);
    case "discard":
      return reviewOutcome(
        id,
        review(session, id, { status: "discarded", by: actor, notes: remark }),
      );
    case "acknowledge":
      return reviewOutcome(
        id,
        review(session, id, { status: "acknowledged", by: actor, notes: remark }),
      );
    case "delete":
      throw new Error("jobs are deleted together");
  }
}

/** A final job gets a successor, a job that is due later becomes due. */
function retry(session: Session, { id, successor }: ChunkItem, act: Act): ItemResult {
  if (successor === undefined) {
    const { status } = hurry(session, id, act);
    return status === "done" ? done(id) : skipped(id, status === "unknown" ? "unknown" : "state");
  }
  const outcome = retryOutcome(id, enqueueWithin(session, [successor])[0]!);
  if (outcome.outcome === "done") {
    closeRepeated(session, id, act, successor.id);
    writeAudits(session, [retriedAsNew({ id, tenant: successor.tenant }, act, successor.id)]);
  }
  return outcome;
}

function reprocess(
  session: Session,
  { id, successor }: ChunkItem,
  by: string,
  notes: string,
): ItemResult {
  if (successor === undefined) return skipped(id, "unknown");
  const [outcome] = reprocessMany(session, [{ ...successor, retryOf: id }], by, notes);
  return letterOutcome(outcome!);
}

function deleteJobs(
  session: Session,
  operation: OperationRecord,
  items: readonly ChunkItem[],
  idempotencyMs: number,
): readonly ItemResult[] | null {
  const outcomes = new Map<JobId, ItemResult>();
  const found = new Map<JobId, AuditDraft>();
  const act = { by: operation.actor, reason: operationRemark(operation) };
  const keys: number[] = [];
  for (const item of items) {
    const row = session.sql.get("job_by_id", { id: idBytes(item.id) });
    const isFinal = row !== undefined && row.state >= stateCodec.code.completed;
    if (row === undefined) outcomes.set(item.id, skipped(item.id, "unknown"));
    else if (!isFinal) outcomes.set(item.id, skipped(item.id, "state"));
    const moved = changed(session, operation, item);
    if (moved !== null) outcomes.set(item.id, moved);
    else if (isFinal) {
      keys.push(row.key);
      const state = stateCodec.word(row.state);
      found.set(item.id, deleted({ id: item.id, tenant: row.tenant }, act, state));
    }
  }
  const stored = session.sql.get("declared_periods", {})?.value;
  const keptMs = longestKeyMs(idempotencyMs, stored, session.clock.now());
  const removed = removeNamed(session, keys, { idempotencyMs: keptMs });
  if (removed === null) return null;
  for (const { id } of removed) outcomes.set(idFromBytes(id), done(idFromBytes(id)));
  writeAudits(
    session,
    removed.flatMap(({ id }) => found.get(idFromBytes(id)) ?? []),
  );
  // A job that others depend on, or whose parent has not ended, stays.
  return items.map(({ id }) => outcomes.get(id) ?? skipped(id, "kept"));
}
