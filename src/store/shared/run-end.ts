/** How a run ends: what the ledger keeps of a settlement, and what the feed says about it. */
import type { FinalState, JobId, JsonText } from "../../core/job.ts";
import type { Fault, OutcomeName, Settlement } from "../../core/outcome.ts";
import type { OutboxEvent } from "./event-rows.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

/** How a run ended, and what becomes of its job: it is over, or it waits again. */
export interface End {
  readonly outcome: OutcomeName;
  /** Null when the job goes on. */
  readonly state: FinalState | null;
  readonly fault: Fault | null;
  readonly result: JsonText | null;
  readonly reason: string | null;
  /** Null when the job is over. */
  readonly delayMs: number | null;
}

/**
 * A job that somebody asked to cancel never goes back to waiting; an end of its own stands.
 * `asked` is the reason they gave, null for none; undefined: nobody asked.
 */
export function endOf(settlement: Settlement, asked: string | null | undefined): End {
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
      if (asked !== undefined) return { ...end, state: "cancelled", fault, reason: asked };
      return { ...end, state: null, fault, delayMs: Math.max(0, Math.round(delayMs)) };
    }
  }
}

/**
 * When a run began that somebody ends in its worker's place. One that lay in a prefetch never did;
 * but what is interrupted has begun, and so it counts from the moment at which it was claimed.
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

/** Why a job is cancelled that was to run after another. Null: that one is gone. */
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

/** What the feed is told about these ends, kind by kind. */
export function outboxEventsOf(
  ends: readonly { readonly key: JobKey; readonly state: FinalState | null }[],
): readonly OutboxEvent[] {
  const byKind = Map.groupBy(ends, ({ state }) =>
    state === null ? "job:retrying" : EVENT_OF[state],
  );
  return [...byKind].map(([kind, jobs]) => ({ kind, jobs: jobs.map(({ key }) => key) }));
}
