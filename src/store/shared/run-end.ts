/** How a run ends: what the ledger stores of a settlement, and which events follow. */
import type { FinalState, JobId, JsonText } from "../../core/job.ts";
import type { Fault, OutcomeName, Settlement } from "../../core/outcome.ts";
import type { OutboxEvent } from "./events/event-rows.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

/** How a run ended, and whether its job is final or waits again. */
export interface End {
  readonly outcome: OutcomeName;
  /** Null when the job waits again. */
  readonly state: FinalState | null;
  readonly fault: Fault | null;
  readonly result: JsonText | null;
  readonly reason: string | null;
  /** Null when the job is final. */
  readonly delayMs: number | null;
}

/**
 * A job with a cancel request never waits again: it is cancelled, unless the run made it final.
 * `request` is the reason given with the request, null if there was none; undefined: no request.
 */
export function endOf(settlement: Settlement, request: string | null | undefined): End {
  const { outcome } = settlement;
  const end = { outcome, fault: null, result: null, reason: null, delayMs: null };
  switch (settlement.to) {
    case "completed":
    case "completed_with_errors": {
      const { to: state, result, fault } = settlement;
      return { ...end, state, result, fault };
    }
    case "failed":
      return { ...end, state: "failed", fault: settlement.fault };
    case "cancelled":
      return { ...end, state: "cancelled", reason: settlement.reason };
    case "scheduled":
    case "queued": {
      const { fault, delayMs } = settlement;
      if (request !== undefined) return { ...end, state: "cancelled", fault, reason: request };
      return { ...end, state: null, fault, delayMs: Math.max(0, Math.round(delayMs)) };
    }
  }
}

/**
 * The start of a run that an operator ends. A prefetched run has no start. If it is ended as
 * interrupted, it counts as started at its claim.
 */
export function startOf(
  { outcome }: Settlement,
  {
    startedAt,
    claimedAt,
  }: { readonly startedAt: number | null; readonly claimedAt: number | null },
): number | null {
  return startedAt ?? (outcome === "interrupted" ? claimedAt : null);
}

/** Why a job is cancelled because of a dependency. Null: the dependency was removed. */
export function afterReason(id: JobId | null, state: "failed" | "cancelled"): string {
  if (id === null) return "a job that it was to run after is gone";
  const end = state === "failed" ? "failed" : "was cancelled";
  return `job ${id}, which it was to run after, ${end}`;
}

type EndEvent = "job:completed" | "job:failed" | "job:cancelled";

const EVENT_OF: Readonly<Record<FinalState, EndEvent>> = {
  completed: "job:completed",
  completed_with_errors: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
};

/** The events of these ends, one per kind. */
export function outboxEventsOf(
  ends: readonly { readonly key: JobKey; readonly state: FinalState | null }[],
): readonly OutboxEvent[] {
  const byKind = Map.groupBy(ends, ({ state }) =>
    state === null ? "job:retrying" : EVENT_OF[state],
  );
  return [...byKind].map(([kind, jobs]) => ({ kind, jobs: jobs.map(({ key }) => key) }));
}
