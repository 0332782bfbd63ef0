/** What a person does about jobs, gates, workers and dead letters. */
import type { JobId } from "../../core/job.ts";
import type { Settlement } from "../../core/outcome.ts";
import type { CrashFacts, NewJob, WorkerId } from "../types/jobs-and-runs.ts";
import type {
  CancelAnswer,
  GateName,
  InterveneAnswer,
  ReprocessAnswer,
  Review,
  ReviewAnswer,
} from "../types/records.ts";

export interface OperatorStore {
  /** Ends a waiting job, or asks the worker of a running one to stop. */
  cancel(id: JobId, by: string | null, reason: string | null): Promise<CancelAnswer>;
  /**
   * Makes a waiting job due now, keeping its priority. `final` and `running` jobs stay as they are.
   */
  hurry(id: JobId): Promise<InterveneAnswer | { readonly status: "running" }>;
  /**
   * An operator ends a run, or a wait, in the worker's place: through the settle door, whoever
   * holds the job. What its worker says later is stale.
   */
  intervene(id: JobId, decide: (job: CrashFacts) => Settlement): Promise<InterveneAnswer>;
  /** Closes a gate: from the next claim on, nothing behind it starts. */
  pause(
    gate: GateName,
    why: { readonly reason: string; readonly by: string | null; readonly forMs?: number },
  ): Promise<void>;
  /** Opens a gate. `release` brings back what `hold` had moved away. */
  resume(gate: GateName): Promise<void>;
  /**
   * Asks a worker to take no new work: its claims give nothing from now on, and its next renewal
   * tells it why. Answers whether it is known.
   */
  quiet(worker: WorkerId): Promise<boolean>;
  review(id: JobId, review: Review): Promise<ReviewAnswer>;
  /** Enqueues the successor and closes the letter, both or neither. */
  reprocess(
    id: JobId,
    successor: NewJob,
    by: string,
    notes: string | null,
  ): Promise<ReprocessAnswer>;
}
