/** Starts the runs of a worker, and settles them when they have ended. */
import type { Clock, Dice } from "../../core/clock.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import { settle } from "../../core/settle.ts";
import type { Logger } from "../../api/context.ts";
import { newJobOf, type JobDefaults } from "../../jobs/new-job.ts";
import { policyOf } from "../../jobs/retry-policy.ts";
import type { ClaimedJob, Lease } from "../../store/types/jobs-and-runs.ts";
import type { NoteSender } from "../notes/note-sender.ts";
import type { WorkerSettings } from "../settings.ts";
import type { CodeReports } from "./code-reports.ts";
import { Execution, type ExecutionParts } from "./execution.ts";
import type { RunningJobs } from "./running-jobs.ts";
import type { Settler } from "./settler.ts";
import type { ServiceCalls } from "../services/service-calls.ts";

export interface RunLauncherParts {
  readonly store: ExecutionParts["store"];
  readonly clock: Clock;
  readonly dice: Pick<Dice, "random">;
  readonly logger: Logger;
  /** For children of the jobs that run here. */
  readonly jobDefaults: JobDefaults;
  readonly settings: WorkerSettings;
  readonly noteSender: NoteSender;
  readonly settler: Settler;
  readonly serviceCalls: ServiceCalls;
  readonly running: RunningJobs;
  readonly codeReports: CodeReports;
  /** Whether the lease of the worker is in force, as far as the worker knows. */
  readonly holdsLease: () => boolean;
}

export class RunLauncher {
  readonly #parts: RunLauncherParts;
  readonly #executionParts: ExecutionParts;

  constructor(parts: RunLauncherParts) {
    this.#parts = parts;
    this.#executionParts = executionPartsOf(parts);
  }

  /**
   * Runs a job. Resolves when its settlement is queued; null: this worker does not know the type.
   * `onEnded` is called right then, with the duration of the run.
   */
  launch(lease: Lease, job: ClaimedJob, onEnded: (ms: number) => void): Promise<Outcome | null> {
    const { clock, running } = this.#parts;
    const execution = this.#makeExecution(lease, job);
    if (execution === null) {
      this.#failUnknown(lease, job);
      onEnded(0);
      return Promise.resolve(null);
    }
    const began = clock.monotonic();
    const end = (outcome: Outcome): Outcome => {
      this.settle(execution, outcome);
      running.remove(execution);
      onEnded(clock.monotonic() - began);
      return outcome;
    };
    const ended = this.#run(execution).then((outcome) => {
      // Breakers know of a failure before the store does: it may cost no attempt.
      const judged = execution.judge(outcome);
      const left = execution.codeLeft;
      if (left !== null)
        return this.#leave(execution, left)
          .then(() => judged)
          .then(end);
      return judged instanceof Promise ? judged.then(end) : end(judged);
    });
    running.add(execution, ended);
    return ended;
  }

  /** The store knows of code that goes on before the run ends there. */
  async #leave({ job }: Execution, codeLeft: Promise<unknown>): Promise<void> {
    const { codeReports } = this.#parts;
    await codeReports.leave(job);
    void codeLeft.then(() => codeReports.ended(job));
  }

  settle(execution: Execution, outcome: Outcome): void {
    const { dice, noteSender, settler } = this.#parts;
    const { job, lease, children, note } = execution;
    const context = { policy: this.policyOf(job.type), random: dice.random() };
    const settlement = settle(job, outcome, context);
    const end = { lease, id: job.id, key: job.key, n: job.n, settlement, children };
    noteSender.lockQueue.runEnding(job, execution.lockNames);
    settler.add(note === undefined ? end : { ...end, note });
  }

  /** Settles a run whose handler was not called. */
  settleUnbegun(lease: Lease, job: ClaimedJob, outcome: Outcome): void {
    const { dice, settler } = this.#parts;
    const context = { policy: this.policyOf(job.type), random: dice.random() };
    const { id, key, n } = job;
    settler.add({ lease, id, key, n, settlement: settle(job, outcome, context) });
  }

  policyOf(type: string): RetryPolicy {
    const { preset, definitions } = this.#parts.settings;
    return policyOf(preset.retry, definitions.get(type)?.settings ?? {});
  }

  /** Without an await where possible, because every await costs time. */
  #run(execution: Execution): Promise<Outcome> {
    const earlier = this.#parts.running.endEarlier(execution.job);
    return earlier === null ? this.#begin(execution) : earlier.then(() => this.#begin(execution));
  }

  /** A claim may be answered after the lease has expired: the job goes back without a run. */
  #begin(execution: Execution): Promise<Outcome> {
    const asked = execution.askServices();
    if (asked === null) return this.#runNow(execution);
    return asked.then((refusal) => refusal ?? this.#runNow(execution));
  }

  #runNow(execution: Execution): Promise<Outcome> {
    return this.#parts.holdsLease() ? execution.run() : Promise.resolve({ type: "interrupted" });
  }

  /**
   * The place of the job names a type of this worker, and the job itself names another type, after
   * a change by hand. The other jobs of the claim start nevertheless.
   */
  #failUnknown(lease: Lease, job: ClaimedJob): void {
    const { logger } = this.#parts;
    const { id, type } = job;
    const message = `The place of the job names another type than "${type}"; run millrace doctor.`;
    logger.error(message, { job_id: id, type });
    const fault = { class: "non_retryable", name: "UnknownTypeError", message } as const;
    this.settleUnbegun(lease, job, { type: "failed", fault });
  }

  /** Null: this worker does not know the type. */
  #makeExecution(lease: Lease, job: ClaimedJob): Execution | null {
    const definition = this.#parts.settings.definitions.get(job.type);
    if (definition === undefined) return null;
    return new Execution(this.#executionParts, definition, lease, job);
  }
}

function executionPartsOf(parts: RunLauncherParts): ExecutionParts {
  const { store, clock, logger, jobDefaults, settings, noteSender, serviceCalls } = parts;
  return {
    store,
    functions: settings.functions,
    clock,
    preset: settings.preset,
    logger,
    deps: settings.deps,
    runStore: noteSender,
    serviceCalls,
    // The job is passed explicitly: callbacks of connection pools lose the async context.
    newChild: async (running, contract, ...[payload, options = {}]) => {
      await jobDefaults.payloads?.refresh();
      return newJobOf({ contract, payload, options }, { ...jobDefaults, running });
    },
  };
}
