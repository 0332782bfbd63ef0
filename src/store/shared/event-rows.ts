/** Groups the events of an outbox into rows of the feed. */
import type { JobId, JsonText } from "../../core/job.ts";
import type { EventKind } from "../types/records.ts";
import type { WakeUp } from "../store.ts";
import type { JobKey } from "../types/jobs-and-runs.ts";

/** The maximum of jobs in one row of the feed. */
const ROW_JOBS_MAX = 1_000;

/** Kinds of events that carry details. */
type DetailedKind = "job:progress" | "job:unit" | "job:phase:completed";

/** An event of one or more jobs. Deleted jobs are named by id, because their keys are gone. */
export type OutboxEvent =
  | {
      readonly kind: Exclude<EventKind, "job:deleted" | DetailedKind>;
      readonly jobs: readonly JobKey[];
    }
  | {
      readonly kind: DetailedKind;
      readonly jobs: readonly JobKey[];
      /** One per job. */
      readonly details: readonly JsonText[];
    }
  | {
      readonly kind: "job:deleted";
      readonly jobs: readonly JobId[];
      readonly details: readonly JsonText[];
    };

export interface FeedRow {
  readonly kind: EventKind;
  readonly jobs: readonly (JobKey | JobId)[];
  readonly details: readonly JsonText[] | null;
}

/** Jobs are final after these events. */
const FINAL_KINDS: ReadonlySet<EventKind> = new Set<EventKind>([
  "job:completed",
  "job:failed",
  "job:cancelled",
]);

/** The wake-up of a transaction that adds an event. `work` includes all others. */
export function wakeUpAfter(wakeUp: WakeUp | null, { kind }: OutboxEvent): WakeUp {
  if (wakeUp === "work") return wakeUp;
  return FINAL_KINDS.has(kind) ? "final" : (wakeUp ?? "events");
}

/** Joins adjacent events of one kind into rows of bounded length. The order of events is kept. */
export function feedRows(events: readonly OutboxEvent[]): FeedRow[] {
  const groups: { kind: EventKind; jobs: (JobKey | JobId)[]; details: JsonText[] }[] = [];
  for (const event of events) {
    const { kind, jobs } = event;
    const details = "details" in event ? event.details : [];
    const last = groups.at(-1);
    if (last?.kind !== kind) groups.push({ kind, jobs: [...jobs], details: [...details] });
    else {
      last.jobs.push(...jobs);
      last.details.push(...details);
    }
  }
  return groups.flatMap(({ kind, jobs, details }) => {
    const rows = Math.ceil(jobs.length / ROW_JOBS_MAX);
    return Array.from({ length: rows }, (_, row) => {
      const [from, to] = [row * ROW_JOBS_MAX, (row + 1) * ROW_JOBS_MAX];
      const rowDetails = details.length === 0 ? null : details.slice(from, to);
      return { kind, jobs: jobs.slice(from, to), details: rowDetails };
    });
  });
}
