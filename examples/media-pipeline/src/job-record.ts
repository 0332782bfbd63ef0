/** A job in the words of this queue. */
import type { Json, JobFault, JobView, Millrace, PhaseView, ProgressView } from "millrace";

export type JobStatus = "pending" | "active" | "completed" | "failed" | "cancelled" | "stale";

export interface JobRecord {
  readonly id: string;
  readonly status: JobStatus;
  readonly data: Json;
  readonly attempts: number;
  /** While it is pending. */
  readonly scheduledAt: Date | null;
  /** The phase that its last run was in, also after it was interrupted there. */
  readonly phase: string | null;
  readonly phaseProgress: number;
  readonly overallProgress: number;
  readonly phases: readonly Pick<PhaseView, "name" | "state">[];
  /** What finished phases returned. */
  readonly phaseResults: Readonly<Record<string, Json>>;
  readonly error: JobFault | null;
  /** The failed job that this one repeats. */
  readonly retryOf: string | null;
}

export async function readJob(mill: Millrace, id: string): Promise<JobRecord> {
  const job = await mill.jobs.get(id);
  const progress = await mill.jobs.progress(id);
  const finished = progress.phases.filter(({ state }) => state === "completed");
  return {
    id,
    status: statusOf(progress.state, job.stale),
    data: job.payload,
    attempts: job.attempts,
    scheduledAt: job.runAt,
    phase: progress.phase,
    phaseProgress: progress.phasePercent,
    overallProgress: progress.percent,
    phases: progress.phases.map(({ name, state }) => ({ name, state })),
    phaseResults: Object.fromEntries(finished.map(({ name, result }) => [name, result])),
    error: job.error,
    retryOf: job.retryOf,
  };
}

export function statusOf(state: ProgressView["state"], isStale: JobView["stale"]): JobStatus {
  if (isStale) return "stale";
  switch (state) {
    case "scheduled":
    case "queued":
      return "pending";
    case "running":
      return "active";
    case "completed":
    case "failed":
    case "cancelled":
      return state;
    case "completed_with_errors":
      // Only jobs with units end like this; the phases here have none.
      return "completed";
  }
}
