/**
 * One worker: lanes that run jobs, a heartbeat, and the maintenance duties.
 *
 * Start: register in the store, start the heartbeat, then claim jobs. Stop, in this order: claim no
 * more jobs, return prefetched jobs, wait for handlers within the grace period while the heartbeat
 * continues, abort the remaining runs, wait for them once more, return their jobs uncharged,
 * deregister. Every step happens even if an earlier one failed; handlers that have not ended are
 * reported last.
 */
import { hostname } from "node:os";
import { newJobOf, type JobDefaults } from "../jobs/new-job.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { within, type Clock, type Dice } from "../core/clock.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import { claimPlan } from "../core/lanes.ts";
import { settle } from "../core/settle.ts";
import type { Outcome } from "../core/outcome.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Logger } from "../api/context.ts";
import type { Worker } from "../api/worker.ts";
import { soon } from "../lib/system.ts";
import { PROTOCOL, type JobStore } from "../store/store.ts";
import type {
  ClaimedJob,
  Lease,
  Renewal,
  WorkerId,
  WorkerInfo,
} from "../store/types/jobs-and-runs.ts";
import { Execution, type ExecutionParts } from "./run/execution.ts";
import { Lane } from "./lane.ts";
import { Registration } from "./lease/registration.ts";
import type { SteadySpan } from "./lease/steadiness.ts";
import { NoteSender } from "./notes/note-sender.ts";
import { listenForRejections } from "./run/unhandled-rejections.ts";
import { gatekeeper } from "./maintenance/gatekeeper.ts";
import { promoter } from "./maintenance/promoter.ts";
import { pruners } from "./maintenance/pruner.ts";
import { rescuer } from "./maintenance/rescuer.ts";
import type { WorkerSettings } from "./settings.ts";
import { RunningJobs } from "./run/running-jobs.ts";
import { Settler } from "./run/settler.ts";
import { stopOnSignals } from "./signals.ts";
import { resultsNotStored, stopTimedOut, tryStep } from "./stop-errors.ts";
import { Ticker } from "./ticker.ts";

const OUTDATED =
  "the database was migrated for a newer release of Millrace: this worker claims no more jobs " +
  "and finishes those it has; deploy the newer release";
/** The time for handlers to end after their signal was aborted. */
const SECOND_DRAIN_MS = 5_000;

export interface WorkerParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly logger: Logger;
  /** For children of the jobs that run here. */
  readonly jobDefaults: JobDefaults;
  readonly settings: WorkerSettings;
  readonly version: string;
}

export class JobWorker implements Worker {
  readonly id: WorkerId;
  readonly ready: Promise<void>;
  readonly #parts: WorkerParts;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #running: RunningJobs;
  readonly #executionParts: ExecutionParts;
  readonly #noteSender: NoteSender;
  readonly #settler: Settler;
  readonly #registration: Registration;
  /** Each pump fills all lanes. There is more than one if the store overlaps claims. */
  readonly #pumps: readonly Ticker[];
  readonly #promoter: Ticker;
  readonly #duties: readonly Ticker[];
  #stopWatching = (): void => {};
  #stopSignals = (): void => {};
  #stopRejections = (): void => {};
  #isQuiet = false;
  #isPumpScheduled = false;
  #stopping: Promise<void> | null = null;

  constructor(parts: WorkerParts) {
    const { store, clock, dice, logger, jobDefaults, settings } = parts;
    this.id = jobDefaults.newId();
    this.#parts = parts;
    this.#running = new RunningJobs(clock);
    this.#noteSender = new NoteSender({ store, clock, logger });
    this.#settler = this.#makeSettler();
    this.#executionParts = this.#makeExecutionParts();
    this.#registration = this.#makeRegistration();
    this.#lanes = new Map(
      Object.entries(settings.lanes).map(([name, slots]) => [name, this.#makeLane(name, slots)]),
    );
    this.#pumps = Array.from({ length: store.claimsAtOnce }, () => this.#makePump());
    const { leaseMs, beatMs, pollMs, retention } = settings;
    const random = (): number => dice.random();
    const policies = (type: string): RetryPolicy => this.#policyOf(type);
    const timing = { leaseMs, beatMs, pollMs };
    const steadySpan = (): SteadySpan | null => this.#registration.steadySpan;
    const shared = { store, clock, random, logger, policyOf: policies, ...timing };
    const duty = { ...shared, worker: this.id, steadySpan };
    const isStopping = (): boolean => this.#stopping !== null;
    const sweeping = pruners({ ...duty, retention, isStopping });
    this.#promoter = promoter(duty);
    this.#duties = [this.#promoter, gatekeeper(duty), rescuer(duty), ...sweeping];
    if (settings.signals) this.#stopSignals = stopOnSignals(() => this.stop(), logger);
    this.ready = this.#start();
    this.ready.catch((error) => logger.error("cannot start the worker", { error }));
  }

  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#returnPrefetched();
  }

  async #returnPrefetched(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.returnPrefetched()));
  }

  stop(options: { grace?: Duration } = {}): Promise<void> {
    const { graceMs } = this.#parts.settings;
    this.#stopping ??= this.#stop(
      options.grace === undefined ? graceMs : durationMs(options.grace, "grace"),
    );
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Jobs that are running here now. */
  get running(): number {
    return this.#running.size;
  }

  async #start(): Promise<void> {
    if (!(await this.#registration.begin())) return;
    this.#stopRejections = listenForRejections();
    this.#stopWatching = this.#parts.store.watch((wakeUp) => {
      if (wakeUp !== "events") this.#wakePumps();
      if (wakeUp === "work") this.#promoter.wake();
    });
    for (const duty of this.#duties) duty.wake();
    this.#wakePumps();
  }

  #makePump(): Ticker {
    const { clock, logger } = this.#parts;
    return new Ticker({
      clock,
      retryMs: this.#parts.settings.pollMs,
      tick: () => this.#fillLanes(),
      failed: (error) => logger.error("cannot claim jobs; trying again", { error }),
    });
  }

  /** The locks of a run are released when the store has settled it: local waiters are woken. */
  #makeSettler(): Settler {
    const { store, clock, logger } = this.#parts;
    return new Settler({
      store,
      clock,
      logger,
      onRoom: () => this.#wakePumps(),
      onSettled: (run) => this.#noteSender.lockQueue.runSettled(run),
    });
  }

  #wakePumps(): void {
    for (const pump of this.#pumps) pump.wake();
  }

  #makeRegistration(): Registration {
    const { store, clock, logger, settings } = this.#parts;
    const { beatMs, pollMs, preset, definitions } = settings;
    const policies = [...definitions.keys()].map((type) => [type, this.#policyOf(type)]);
    return new Registration({
      store,
      clock,
      logger,
      info: this.#info(),
      beatMs,
      retryMs: pollMs,
      policy: preset.retry,
      policies: Object.fromEntries(policies),
      onRenewal: (renewal) => this.#onRenewal(renewal),
      onLost: () => this.#running.interruptAll("store"),
      onExpired: () => {
        this.#running.interruptAll("expiry");
        return this.#running.size;
      },
      onRegained: () => this.#wakePumps(),
    });
  }

  #info(): WorkerInfo {
    const { settings, version } = this.#parts;
    const lanes = Object.entries(settings.lanes).filter(([, slots]) => slots > 0);
    return {
      id: this.id,
      host: hostname(),
      pid: process.pid,
      version,
      protocol: PROTOCOL,
      leaseMs: settings.leaseMs,
      types: [...settings.definitions.keys()],
      lanes: lanes.map(([lane]) => lane),
      slots: lanes.reduce((total, [, slots]) => total + slots, 0),
      tenant: settings.tenant ?? null,
    };
  }

  #onRenewal(renewal: Renewal & { status: "renewed" }): void {
    const { logger } = this.#parts;
    if (renewal.outdated && !this.#isQuiet) logger.error(OUTDATED, { worker_id: this.id });
    // At every heartbeat, because the last return of prefetched jobs may have failed.
    if (renewal.quiet || renewal.outdated || this.#isQuiet) {
      this.quiet().catch((error) => logger.error("cannot return prefetched jobs", { error }));
    }
    for (const { key, n, reason } of renewal.cancel) {
      this.#running.interrupt({ key, n }, { type: "cancelled", reason });
    }
    for (const { key, n } of renewal.ended) {
      this.#running.interrupt({ key, n }, { type: "interrupted", by: "store" });
    }
  }

  #makeLane(name: string, slots: number): Lane {
    const { store, settings } = this.#parts;
    const { tenant, batch } = settings;
    return new Lane({
      store,
      name,
      slots,
      batch,
      request: {
        worker: this.id,
        types: [...settings.definitions.keys()],
        ...(tenant === undefined ? {} : { tenants: [tenant] }),
      },
      start: (lane, lease, job) => this.#startRun(lane, lease, job),
      onLost: () => this.#registration.checkLease(),
      isOpen: () => this.#isOpen(),
      hasRoom: () => this.#settler.hasRoom,
    });
  }

  /** Whether jobs may start here. */
  #isOpen(): boolean {
    return !this.#isQuiet && this.#registration.isRegistered && this.#stopping === null;
  }

  /** Lanes take turns, so that a backlog of short jobs in one does not block the others. */
  async #fillLanes(): Promise<number> {
    const { pollMs } = this.#parts.settings;
    for (let isMore = true; isMore;) {
      isMore = false;
      const loads = [...this.#lanes.values()].map((lane) => lane.load);
      for (const claim of claimPlan(loads)) {
        if (!this.#isOpen()) continue;
        if ((await this.#lanes.get(claim.lane)?.fill(claim)) === true) isMore = true;
      }
    }
    return jittered(pollMs, this.#parts.dice.random());
  }

  #startRun(lane: Lane, lease: Lease, job: ClaimedJob): void {
    const { clock } = this.#parts;
    const execution = this.#makeExecution(lease, job);
    const began = clock.monotonic();
    const ended = this.#run(execution).then((outcome) => {
      this.#settle(execution, outcome);
      this.#running.remove(job);
      return this.#slotFreed(lane, clock.monotonic() - began);
    });
    this.#running.add(execution, ended);
  }

  /** A claim may be answered after the lease has expired: the job goes back without a run. */
  #run(execution: Execution): Promise<Outcome> {
    if (this.#registration.holdsLease) return execution.run();
    return Promise.resolve({ type: "interrupted" });
  }

  #slotFreed(lane: Lane, ms: number): void {
    lane.runEnded(ms);
    if (lane.mayHaveWork) this.#wakePumpSoon();
  }

  /** One wake-up for all runs that end in the same turn of the event loop. */
  #wakePumpSoon(): void {
    if (this.#isPumpScheduled) return;
    this.#isPumpScheduled = true;
    soon(() => {
      this.#isPumpScheduled = false;
      this.#wakePumps();
    });
  }

  #settle(execution: Execution, outcome: Outcome): void {
    const { dice } = this.#parts;
    const { job, lease, children, note } = execution;
    const context = { policy: this.#policyOf(job.type), random: dice.random() };
    const settlement = settle(job, outcome, context);
    const end = { lease, key: job.key, n: job.n, settlement, children };
    this.#noteSender.lockQueue.runEnding(job, execution.lockNames);
    this.#settler.add(note === undefined ? end : { ...end, note });
  }

  #policyOf(type: string): RetryPolicy {
    const { preset, definitions } = this.#parts.settings;
    return policyOf(preset.retry, definitions.get(type)?.settings ?? {});
  }

  #makeExecution(lease: Lease, job: ClaimedJob): Execution {
    const definition = this.#parts.settings.definitions.get(job.type);
    if (definition === undefined) throw new Error(`claimed a job of the unknown type ${job.type}`);
    return new Execution(this.#executionParts, definition, lease, job);
  }

  #makeExecutionParts(): ExecutionParts {
    const { clock, logger, jobDefaults, settings } = this.#parts;
    return {
      clock,
      preset: settings.preset,
      logger,
      deps: settings.deps,
      runStore: this.#noteSender,
      // The job is passed explicitly: callbacks of connection pools lose the async context.
      newChild: async (running, contract, ...[payload, options = {}]) =>
        newJobOf({ contract, payload, options }, { ...jobDefaults, running }),
    };
  }

  async #stop(graceMs: number): Promise<void> {
    const { clock, logger } = this.#parts;
    this.#registration.stopRetrying();
    const begun = this.ready.catch(() => {});
    await within(clock, graceMs, begun);
    this.#stopWatching();
    await Promise.all(this.#pumps.map((pump) => pump.stop()));
    await tryStep(logger, () => this.#returnPrefetched());
    if (this.#running.size > 0) {
      logger.info(`stopping: waiting for ${this.#running.size} running job(s)`, {});
    }
    await this.#running.drain(graceMs);
    this.#running.interruptAll("stop");
    await this.#running.drain(Math.min(SECOND_DRAIN_MS, graceMs));
    await this.#noteSender.close(SECOND_DRAIN_MS);
    // Runs that waited for their last note end now.
    await new Promise<void>((resolve) => soon(resolve));
    const stuck = this.#running.executions;
    for (const execution of stuck) this.#settle(execution, { type: "interrupted" });
    const unsettled = await this.#settler.close(SECOND_DRAIN_MS);
    // A removal or a retention hook may take a minute: the stop does not wait for either.
    const duties = Promise.all(this.#duties.map((duty) => duty.stop()));
    await within(clock, SECOND_DRAIN_MS, duties);
    await tryStep(logger, () => this.#registration.end());
    this.#stopSignals();
    this.#stopRejections();
    if (unsettled > 0) throw resultsNotStored(unsettled, stuck.length);
    if (stuck.length > 0) throw stopTimedOut(stuck.length, graceMs);
  }
}

/** Spreads the polls of processes that started at the same time. */
function jittered(ms: number, random: number): number {
  return ms * (0.8 + 0.4 * random);
}
