/** What an operation does and to what, in words. Pure. */
import type { Operation } from "../../api/operations.gen.ts";
import { durationText, numberText } from "../../lib/format.ts";
import { termText } from "../../lib/query.ts";
import type { StateName } from "../../parts/state.tsx";

const VERBS: Readonly<Record<Operation["action"], string>> = {
  cancel: "Cancel",
  retry: "Retry",
  delete: "Delete",
  priority: "Change the priority of",
  reschedule: "Reschedule",
  reprocess: "Reprocess",
  discard: "Discard",
  acknowledge: "Acknowledge",
};

/** `Cancel jobs of type:email state:queued`. */
export function titleOf({ action, target }: Pick<Operation, "action" | "target">): string {
  return `${VERBS[action]} ${target === "jobs" ? "jobs" : "dead letters"}`;
}

const SHAPES: Readonly<Record<Operation["status"], StateName>> = {
  pending: "queued",
  running: "running",
  completed: "completed",
  stopped: "cancelled",
  failed: "failed",
};

export function shapeOf({ status, failed }: Pick<Operation, "status" | "failed">): StateName {
  if (status === "completed" && failed > 0) return "completed_with_errors";
  return SHAPES[status];
}

const STATUS_WORDS: Readonly<Record<Operation["status"], string>> = {
  pending: "Pending",
  running: "Running",
  completed: "Completed",
  stopped: "Stopped",
  failed: "Failed",
};

export function statusWord({ status }: Pick<Operation, "status">): string {
  return STATUS_WORDS[status];
}

/** The filter as a query of Jobs or of dead letters; moments are named with their day. */
export function filterText({ filter, ids }: Pick<Operation, "filter" | "ids">): string {
  if (filter === null) return ids === null ? "" : `${numberText(ids)} chosen`;
  const terms = [
    ...(filter.states ?? []).map((state) => ["state", state] as const),
    ...named("status", filter.status),
    ...named("type", filter.type),
    ...named("tenant", filter.tenant),
    ...named("category", filter.category),
    ...named("correlation", filter.correlationId),
    ...named("parent", filter.parentId),
    ...Object.entries(filter.tags ?? {}).map(([name, value]) => [`tag.${name}`, value] as const),
  ].map(([key, value]) => termText({ key, sign: ":", value }));
  const times = [
    ...momentText("created since", filter.createdFrom),
    ...momentText("created before", filter.createdBefore),
    ...(filter.runningMs === undefined ? [] : [`running>${durationText(filter.runningMs)}`]),
  ];
  return [...terms, ...times].join(" ");
}

function named(key: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[key, value]];
}

function momentText(words: string, at: number | undefined): readonly string[] {
  return at === undefined ? [] : [`${words} ${new Date(at).toISOString().slice(0, 16)}Z`];
}

/** How many items are through. */
export function endedOf({
  done,
  failed,
  skipped,
}: Pick<Operation, "done" | "failed" | "skipped">): number {
  return done + failed + skippedOf({ skipped });
}

export function skippedOf({ skipped }: Pick<Operation, "skipped">): number {
  return Object.values(skipped).reduce((sum, count) => sum + count, 0);
}

/** The shares of a meter; what is not known yet counts at least as much as is through. */
export function sharesOf(operation: Operation): { done: number; failed: number; skipped: number } {
  const all = Math.max(1, operation.expected, endedOf(operation));
  return {
    done: operation.done / all,
    failed: operation.failed / all,
    skipped: skippedOf(operation) / all,
  };
}
