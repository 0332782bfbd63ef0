/** Operations as users see them. */
import type { Operation } from "../../api/control/operations.ts";
import { dateOf } from "../../jobs/views.ts";
import type { OperationPlan, OperationRecord } from "../../store/types/operations.ts";

export function operationView(record: OperationRecord): Operation {
  const { plan, createdAt, startedAt, finishedAt, isExpectedExact } = record;
  const { id, status, tenant, actor, reason, rate, chunk, expected } = record;
  const { items, done, failed, skipped, stoppedBy, error } = record;
  return {
    id,
    status,
    action: plan.action,
    target: isOfLetters(plan) ? "deadLetters" : "jobs",
    filter: filterOf(plan),
    ids: "ids" in plan ? plan.ids.length : null,
    tenant,
    actor,
    reason,
    rate,
    chunk,
    expected,
    expectedAtLeast: !isExpectedExact,
    items,
    done,
    failed,
    skipped,
    createdAt: new Date(createdAt),
    startedAt: dateOf(startedAt),
    finishedAt: dateOf(finishedAt),
    stoppedBy,
    error,
  };
}

function isOfLetters({ action }: OperationPlan): boolean {
  return action === "reprocess" || action === "discard" || action === "acknowledge";
}

function filterOf(plan: OperationPlan): Operation["filter"] {
  if ("jobs" in plan) return { ...plan.jobs };
  return "deadLetters" in plan ? { ...plan.deadLetters } : null;
}
