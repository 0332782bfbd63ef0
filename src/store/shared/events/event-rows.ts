/** Groups the events of an outbox into rows of the feed. */
import type { JobId, JsonText } from "../../../core/job.ts";
import type { EventKind } from "../../types/records.ts";
import type { WakeUp } from "../../store.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";

/** The maximum of jobs in one row of the feed. */
const ROW_JOBS_MAX = 1_000;
/** The maximum of characters of details in one row. The detail of a single job may exceed it. */
const ROW_DETAILS_MAX = 500_000;

/** Kinds of events that carry details. */
type DetailedKind = "job:progress" | "job:unit" | "job:phase:completed";

/** An event of one or more jobs. Deleted jobs are named by id, because their keys are gone. */
export type OutboxEvent = {
  /** Called after the commit, with the time of the row. For stores that write their own rows. */
  readonly onCommit?: (at: number) => void;
} & (
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
    }
);

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

/** Adjacent events of one kind. */
interface EventGroup {
  readonly kind: EventKind;
  readonly jobs: (JobKey | JobId)[];
  readonly details: JsonText[];
}

/** Joins adjacent events of one kind into rows of bounded length. The order of events is kept. */
export function feedRows(events: readonly OutboxEvent[]): FeedRow[] {
  const groups: EventGroup[] = [];
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
  return groups.flatMap(rowsOf);
}

function rowsOf({ kind, jobs, details }: EventGroup): FeedRow[] {
  const rows: FeedRow[] = [];
  for (let from = 0; from < jobs.length;) {
    const to = rowEnd(jobs.length, details, from);
    const rowDetails = details.length === 0 ? null : details.slice(from, to);
    rows.push({ kind, jobs: jobs.slice(from, to), details: rowDetails });
    from = to;
  }
  return rows;
}

/** The index after the last job of the row that begins at `from`. */
function rowEnd(jobs: number, details: readonly JsonText[], from: number): number {
  const most = Math.min(jobs, from + ROW_JOBS_MAX);
  let chars = details[from]?.length ?? 0;
  for (let to = from + 1; to < most; to += 1) {
    chars += details[to]?.length ?? 0;
    if (chars > ROW_DETAILS_MAX) return to;
  }
  return most;
}
