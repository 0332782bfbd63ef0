/** What a chunk of an operation does to its items, with the code of the verbs about one of them. */
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
import type { NewJob } from "../../types/jobs-and-runs.ts";
import type { ChunkItem, OperationChunk, OperationRecord } from "../../types/operations.ts";
import { writeAudits } from "../audit/write.ts";
import { bisect } from "../batching/fallback.ts";
import type { StoreTransaction } from "../database/session.ts";
import { list, uuids } from "../database/values.ts";
import { cancelManyWithin } from "../jobs/cancel.ts";
import { enqueueWithin } from "../jobs/enqueue.ts";
import { closeRepeated, reprocessWithin, reviewWithin } from "../jobs/failures.ts";
import { lockLetters } from "../jobs/dead-letters.ts";
import { hurryWithin } from "../jobs/intervene.ts";
import type { InternedJob } from "../jobs/job-rows.ts";
import { prioritiseWithin, rescheduleWithin } from "../jobs/reschedule.ts";
import { removeWithin } from "../retention/prune.ts";
import { clockOf } from "../schedules/schedules.ts";

/** An item, with the interned names of its successor; null: the database refuses a name. */
export interface PreparedItem extends ChunkItem {
  readonly interned?: InternedJob | null;
}

export async function effectsOf(
  transaction: StoreTransaction,
  operation: OperationRecord,
  items: readonly PreparedItem[],
  chunk: OperationChunk,
): Promise<readonly ItemResult[]> {
  const outcomes = new Map<JobId, ItemResult>();
  const settled = [
    ...(await otherSuccessors(transaction, operation, items)),
    ...(await changed(transaction, operation, items)),
  ];
  for (const outcome of settled) outcomes.set(outcome.id, outcome);
  const left = items.filter(({ id }) => !outcomes.has(id));
  const work = (part: readonly PreparedItem[]): Promise<readonly ItemResult[]> =>
    effectOf(transaction, operation, part, chunk);
  const refused = ({ id }: PreparedItem): ItemResult => failed(id, "STORE_REFUSED");
  for (const outcome of await bisect(transaction, left, work, refused)) {
    outcomes.set(outcome.id, outcome);
  }
  return items.map(({ id }) => outcomes.get(id) ?? skipped(id, "unknown"));
}

/** A job with a successor that has not failed, or that this chunk repeats, is not repeated. */
async function otherSuccessors(
  transaction: StoreTransaction,
  { plan }: OperationRecord,
  items: readonly ChunkItem[],
): Promise<readonly ItemResult[]> {
  const ids = items.filter(hasSuccessor).map(({ id }) => id);
  if (plan.action !== "retry" || ids.length === 0) return [];
  const asked = { ids: uuids(ids), depth: CHAIN_MAX };
  const rows = await transaction.all("other_successors", asked);
  return rows.map(({ id, successor }) => skipped(id, "existing", successor));
}

/** Jobs that are in none of the states of the filter any more are skipped. */
async function changed(
  transaction: StoreTransaction,
  { plan }: OperationRecord,
  items: readonly ChunkItem[],
): Promise<readonly ItemResult[]> {
  const states = "jobs" in plan ? plan.jobs.states : undefined;
  if (states === undefined || items.length === 0) return [];
  const ids = items.map(({ id }) => id);
  const rows = await transaction.all("states_of_jobs", { ids: uuids(ids) });
  const found = new Map(rows.map((row) => [row.id, stateCodec.word(row.state)]));
  return ids.flatMap((id) => {
    const state = found.get(id);
    if (state === undefined) return [skipped(id, "unknown")];
    return states.includes(state) ? [] : [skipped(id, "state")];
  });
}

async function effectOf(
  transaction: StoreTransaction,
  operation: OperationRecord,
  items: readonly PreparedItem[],
  { idempotencyMs }: OperationChunk,
): Promise<readonly ItemResult[]> {
  const { plan, actor: by } = operation;
  const notes = operationRemark(operation);
  const act = { by, reason: notes };
  const ids = items.map(({ id }) => id);
  switch (plan.action) {
    case "cancel": {
      const answers = await cancelManyWithin(transaction, ids, act);
      return [...answers].map(([id, answer]) => cancelOutcome(id, answer));
    }
    case "retry":
      return retry(transaction, items, act);
    case "delete":
      return deleteJobs(transaction, ids, idempotencyMs, act);
    case "priority": {
      const answers = await prioritiseWithin(transaction, ids, plan.priority, act);
      return ids.map((id) => placeOutcome(id, answers.get(id) ?? UNKNOWN));
    }
    case "reschedule": {
      const answers = await rescheduleWithin(transaction, ids, plan.due, act);
      return ids.map((id) => placeOutcome(id, answers.get(id) ?? UNKNOWN));
    }
    case "reprocess":
      return reprocess(transaction, items, { by, notes });
    case "discard":
    case "acknowledge": {
      const status = plan.action === "discard" ? "discarded" : "acknowledged";
      const reviewed = await reviewWithin(transaction, ids, status, { by, notes });
      return reviewed.map((answer) => reviewOutcome(answer.id, answer));
    }
  }
}

const UNKNOWN = { status: "unknown" } as const;

/** A final job gets a successor, a job that is due later becomes due. */
async function retry(
  transaction: StoreTransaction,
  items: readonly PreparedItem[],
  act: Act,
): Promise<readonly ItemResult[]> {
  const outcomes: ItemResult[] = [];
  for (const { id, successor } of items) {
    if (successor !== undefined) continue;
    const { status } = await hurryWithin(transaction, id, act);
    const why = status === "unknown" ? "unknown" : "state";
    outcomes.push(status === "done" ? done(id) : skipped(id, why));
  }
  const final = items.filter(hasSuccessor);
  const letters = await lockLetters(
    transaction,
    final.map(({ id }) => id),
  );
  const answers = await enqueueWithin(
    transaction,
    final.map(({ interned = null }) => interned),
    final.map(({ successor }) => successor),
  );
  const drafts: AuditDraft[] = [];
  const repeated: { readonly id: JobId; readonly job: JobId }[] = [];
  for (const [index, { id, successor }] of final.entries()) {
    const outcome = retryOutcome(id, answers[index]!);
    outcomes.push(outcome);
    if (outcome.outcome !== "done") continue;
    repeated.push({ id, job: successor.id });
    drafts.push(retriedAsNew({ id, tenant: successor.tenant }, act, successor.id));
  }
  await closeRepeated(transaction, letters, repeated, act);
  await writeAudits(transaction, drafts);
  return outcomes;
}

async function reprocess(
  transaction: StoreTransaction,
  items: readonly PreparedItem[],
  by: { readonly by: string; readonly notes: string },
): Promise<readonly ItemResult[]> {
  const given = items.filter(hasSuccessor);
  const outcomes = await reprocessWithin(transaction, {
    successors: given.map(({ id, successor }) => ({ ...successor, retryOf: id })),
    interned: given.map(({ interned = null }) => interned),
    ...by,
  });
  return outcomes.map(letterOutcome);
}

function hasSuccessor<Item extends PreparedItem>(
  item: Item,
): item is Item & { readonly successor: NewJob } {
  return item.successor !== undefined;
}

/** A job that others depend on, or whose parent has not ended, stays. */
async function deleteJobs(
  transaction: StoreTransaction,
  ids: readonly JobId[],
  idempotencyMs: number,
  act: Act,
): Promise<readonly ItemResult[]> {
  const jobs = await transaction.all("states_of_jobs", { ids: uuids(ids) });
  const final = jobs.filter(({ state }) => state >= stateCodec.code.completed);
  const keys = final.map(({ key }) => key);
  const stored = await transaction.get("declared_periods", {});
  const now = await clockOf(transaction);
  await removeWithin(transaction, keys, longestKeyMs(idempotencyMs, stored?.value, now));
  const rows = await transaction.all("jobs_left", { keys: list(keys) });
  const left = new Set(rows.map(({ key }) => key));
  const removed = final.filter(({ key }) => !left.has(key));
  const drafts = removed.map((job) => deleted(job, act, stateCodec.word(job.state)));
  await writeAudits(transaction, drafts);
  return jobs.map(({ id, key, state }) => {
    if (state < stateCodec.code.completed) return skipped(id, "state");
    return left.has(key) ? skipped(id, "kept") : done(id);
  });
}
