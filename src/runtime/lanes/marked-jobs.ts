/**
 * The jobs of one lane that the store knows as started, and that wait for a slot.
 *
 * A slot that waited for the mark of its next job would be idle for a commit. So one job per slot
 * is marked ahead, and a slot that becomes free takes such a job at once. A marked job that gets no
 * slot goes back uncharged: when the worker stops, when the operator cancels the job, and when no
 * slot was free for {@link MARK_MS_MAX}.
 */
import type { Clock } from "../../core/clock.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { ClaimedJob, Lease } from "../../store/types/jobs-and-runs.ts";
import type { RunName } from "../run/lock-queue.ts";

/** How long a job that is marked as started waits for a slot. A heartbeat or a free slot looks. */
export const MARK_MS_MAX = 2_000;

/** How a run ends whose handler was not called. */
export type UnbegunOutcome = Outcome & { readonly type: "interrupted" | "cancelled" };

/** Settles a run that was marked as started, and whose handler was not called. */
export type SettleUnbegun = (lease: Lease, job: ClaimedJob, outcome: UnbegunOutcome) => void;

export interface MarkedJobsParts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly settleUnbegun: SettleUnbegun;
}

export interface LeasedJob {
  readonly lease: Lease;
  readonly job: ClaimedJob;
}

export interface MarkedJob extends LeasedJob {
  /** When the store may have marked the job at the earliest, by the monotonic clock. */
  readonly at: number;
}

export class MarkedJobs {
  readonly #parts: MarkedJobsParts;
  #jobs: MarkedJob[] = [];

  constructor(parts: MarkedJobsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#jobs.length;
  }

  /** The first job has waited too long for a slot. */
  get isOverdue(): boolean {
    const [first] = this.#jobs;
    return first !== undefined && this.#parts.clock.monotonic() - first.at >= MARK_MS_MAX;
  }

  /** The store has marked these jobs. */
  add(jobs: readonly MarkedJob[]): void {
    this.#jobs.push(...jobs);
  }

  /** The job that has waited longest. */
  take(): LeasedJob | undefined {
    return this.#jobs.shift();
  }

  /** The run was cancelled, or, without an outcome, ended by the store. Answers its job. */
  drop({ key, n }: RunName, outcome: UnbegunOutcome | null): ClaimedJob | null {
    const index = this.#jobs.findIndex(({ job }) => job.key === key && job.n === n);
    const [dropped] = index === -1 ? [] : this.#jobs.splice(index, 1);
    if (dropped === undefined) return null;
    if (outcome !== null) this.#parts.settleUnbegun(dropped.lease, dropped.job, outcome);
    return dropped.job;
  }

  /** The runs have not begun: their jobs go back uncharged. */
  giveBack(): void {
    const marked = this.#jobs;
    this.#jobs = [];
    for (const { lease, job } of marked) {
      this.#parts.settleUnbegun(lease, job, { type: "interrupted" });
    }
  }
}
