/** The runs of one worker, from the call of a handler to the answer of the store. */
import { within, type Clock, type Dice } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import type { Logger } from "../../api/context.ts";
import type { JobDefaults } from "../../jobs/new-job.ts";
import { soon } from "../../lib/system.ts";
import type { JobStore } from "../../store/store.ts";
import type { ClaimedJob, Lease, WorkerId } from "../../store/types/jobs-and-runs.ts";
import { CodeReports } from "./code-reports.ts";
import { NoteSender } from "../notes/note-sender.ts";
import { ServiceCalls } from "../services/service-calls.ts";
import type { WorkerSettings } from "../settings.ts";
import type { RunName } from "./lock-queue.ts";
import { RunLauncher } from "./run-launcher.ts";
import { RunningJobs } from "./running-jobs.ts";
import { Settler } from "./settler.ts";

/** The time for handlers to end after their signal was aborted, and for their last calls. */
export const LAST_CALLS_MS = 5_000;

export interface WorkerRunsParts {
  readonly worker: WorkerId;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly dice: Pick<Dice, "random">;
  readonly logger: Logger;
  /** For children of the jobs that run here. */
  readonly jobDefaults: JobDefaults;
  readonly settings: WorkerSettings;
  /** Whether the lease of the worker is in force, as far as the worker knows. */
  readonly holdsLease: () => boolean;
  /** `hasRoom` is true again. */
  readonly onRoom: () => void;
}

/** What a stop leaves behind. */
interface Leftovers {
  /** Runs whose end the store has not answered. */
  readonly unsettled: number;
  /** Handlers that have not ended. */
  readonly stuck: number;
}

export class WorkerRuns {
  readonly #parts: WorkerRunsParts;
  readonly running: RunningJobs;
  readonly #noteSender: NoteSender;
  readonly #settler: Settler;
  readonly #codeReports: CodeReports;
  readonly #serviceCalls: ServiceCalls;
  readonly #launcher: RunLauncher;

  constructor(parts: WorkerRunsParts) {
    const { store, clock, logger, onRoom } = parts;
    this.#parts = parts;
    this.running = new RunningJobs(clock);
    this.#noteSender = new NoteSender({ store, clock, logger });
    const { lockQueue } = this.#noteSender;
    // The locks of a run are released when the store has settled it: local waiters are woken.
    const onSettled = lockQueue.runSettled.bind(lockQueue);
    this.#codeReports = new CodeReports(parts);
    // An operator or the thread of the heartbeat has ended the run: its code has ended as well now.
    const onStale = (run: RunName): void => {
      if (!this.running.isHere(run)) this.#codeReports.ended(run);
    };
    this.#settler = new Settler({ store, clock, logger, onRoom, onStale, onSettled });
    const { failures: failuresMax, openMs } = parts.settings.preset.breaker;
    this.#serviceCalls = new ServiceCalls({ ...parts, limits: { failuresMax, openMs } });
    const own = {
      noteSender: this.#noteSender,
      settler: this.#settler,
      serviceCalls: this.#serviceCalls,
      running: this.running,
      codeReports: this.#codeReports,
    };
    this.#launcher = new RunLauncher({ ...parts, ...own });
  }

  /** No run, no code that a run has left behind, and no settlement without an answer. */
  get isIdle(): boolean {
    return this.running.isIdle && this.#settler.isIdle;
  }

  /** False while too many settlements wait for the store: no job should begin. */
  get hasRoom(): boolean {
    return this.#settler.hasRoom;
  }

  /** A heartbeat tells runs that have ended in the store. */
  toldEnded(runs: readonly RunName[]): void {
    this.#codeReports.told(runs, (run) => this.running.isHere(run));
  }

  policyOf(type: string): RetryPolicy {
    return this.#launcher.policyOf(type);
  }

  /** Runs a job, as {@link RunLauncher.launch} says. */
  launch(lease: Lease, job: ClaimedJob, onEnded: (ms: number) => void): Promise<Outcome | null> {
    return this.#launcher.launch(lease, job, onEnded);
  }

  /** Settles a run whose handler was not called. */
  settleUnbegun(lease: Lease, job: ClaimedJob, outcome: Outcome): void {
    this.#launcher.settleUnbegun(lease, job, outcome);
  }

  /** Resolves when the store has answered every settlement. */
  settled(): Promise<void> {
    return this.#settler.drained();
  }

  /** Waits for handlers within the grace period, aborts the others, and returns their jobs. */
  async end(graceMs: number): Promise<Leftovers> {
    await this.running.drain(graceMs);
    const before = this.#settler.returned;
    this.running.interruptAll("stop");
    await this.running.drain(Math.min(LAST_CALLS_MS, graceMs));
    await this.#noteSender.close(LAST_CALLS_MS);
    // Runs that waited for their last note end now.
    await new Promise<void>((resolve) => soon(resolve));
    this.#codeReports.close();
    const stuck = this.running.executions;
    for (const execution of stuck) this.#launcher.settle(execution, execution.outcomeAtStop);
    await within(this.#parts.clock, LAST_CALLS_MS, this.#serviceCalls.close());
    const unsettled = await this.#settler.close(LAST_CALLS_MS);
    const returned = this.#settler.returned - before;
    if (returned > 0) {
      const grace = formatDuration(graceMs);
      this.#parts.logger.info(
        `${returned} run(s) did not end within ${grace}; their jobs were returned to the queue`,
        {},
      );
    }
    return { unsettled, stuck: stuck.length };
  }
}
