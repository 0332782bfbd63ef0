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
import type { JobDefaults } from "../jobs/new-job.ts";
import { within, type Clock, type Dice } from "../core/clock.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import { claimPlan, GENERAL_LANE } from "../core/lanes.ts";
import type { Outcome } from "../core/outcome.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Logger } from "../api/context.ts";
import type { Worker } from "../api/worker.ts";
import { soon } from "../lib/system.ts";
import { PROTOCOL, type JobStore } from "../store/store.ts";
import type {
  ClaimedJob,
  ClaimRequest,
  Lease,
  LoneClaim,
  Renewal,
  WorkerId,
  WorkerInfo,
} from "../store/types/jobs-and-runs.ts";
import { crashLoopEnded } from "./crashes/crash-loop.ts";
import { LoneRuns } from "./crashes/lone-runs.ts";
import type { ProcessMember, HostProcess } from "./crashes/host-process.ts";
import { Lane } from "./lane.ts";
import { LaneGroup } from "./lane-group.ts";
import { Registration } from "./lease/registration.ts";
import type { SteadySpan } from "./lease/steadiness.ts";
import { NoteSender } from "./notes/note-sender.ts";
import { listenForRejections } from "./run/unhandled-rejections.ts";
import { jittered, REST_MS } from "./maintenance/duty.ts";
import { gatekeeper } from "./maintenance/gatekeeper.ts";
import { promoter } from "./maintenance/promoter.ts";
import { pruners } from "./maintenance/pruner.ts";
import { rescuer } from "./maintenance/rescuer.ts";
import type { WorkerSettings } from "./settings.ts";
import type { RunName } from "./run/lock-queue.ts";
import { RunningJobs } from "./run/running-jobs.ts";
import { RunLauncher } from "./run/run-launcher.ts";
import { Settler } from "./run/settler.ts";
import { stopOnSignals } from "./signals.ts";
import { resultsNotStored, stopTimedOut, tryStep } from "./stop-errors.ts";
import { Ticker } from "./ticker.ts";

const OUTDATED =
  "the database was migrated for a newer release of Millrace: this worker claims no more jobs " +
  "and finishes those it has; deploy the newer release";
const CANNOT_RETURN = "cannot return prefetched jobs";
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
  /** The process that the worker shares with other workers. */
  readonly process: HostProcess;
}

export class JobWorker implements Worker, ProcessMember {
  readonly id: WorkerId;
  readonly ready: Promise<void>;
  readonly #parts: WorkerParts;
  readonly #lanes: LaneGroup;
  readonly #running: RunningJobs;
  readonly #launcher: RunLauncher;
  readonly #noteSender: NoteSender;
  readonly #settler: Settler;
  readonly #registration: Registration;
  readonly #loneRuns: LoneRuns;
  /** Each pump fills all lanes. There is more than one if the store overlaps claims. */
  readonly #pumps: readonly Ticker[];
  /** Marks prefetched jobs as started, also while a claim is under way. */
  readonly #marker: Ticker;
  readonly #promoter: Ticker;
  readonly #duties: readonly Ticker[];
  #leaveProcess = (): void => {};
  #stopWatching = (): void => {};
  #stopSignals = (): void => {};
  #stopRejections = (): void => {};
  #isQuiet = false;
  #isPumpScheduled = false;
  /** A claim of this pass has found a job that must run alone. */
  #awaitsAlone = false;
  #hasBegun = false;
  #stopping: Promise<void> | null = null;

  constructor(parts: WorkerParts) {
    const { store, clock, dice, logger, jobDefaults, settings } = parts;
    this.id = jobDefaults.newId();
    this.#parts = parts;
    this.#running = new RunningJobs(clock);
    this.#noteSender = new NoteSender({ store, clock, logger });
    this.#settler = this.#makeSettler();
    this.#launcher = this.#makeLauncher();
    this.#registration = this.#makeRegistration();
    this.#lanes = new LaneGroup(
      Object.entries(settings.lanes).map(([name, slots]) => this.#makeLane(name, slots)),
    );
    this.#loneRuns = this.#makeLoneRuns();
    this.#pumps = Array.from({ length: store.claimsAtOnce }, () => this.#makePump());
    this.#marker = this.#makeMarker();
    const { leaseMs, beatMs, pollMs, retention } = settings;
    const random = (): number => dice.random();
    const policies = (type: string): RetryPolicy => this.#launcher.policyOf(type);
    const timing = { leaseMs, beatMs, pollMs };
    const steadySpan = (): SteadySpan | null => this.#registration.steadySpan;
    const shared = { store, clock, random, logger, policyOf: policies, ...timing };
    const duty = { ...shared, worker: this.id, steadySpan };
    const isStopping = (): boolean => this.#stopping !== null;
    const sweeping = pruners({ ...duty, retention, isStopping });
    const gates = gatekeeper(duty);
    this.#promoter = promoter(duty, {
      claim: () => this.#hintLanes(),
      keepGates: () => gates.wake(),
    });
    this.#duties = [this.#promoter, gates, rescuer(duty), ...sweeping];
    if (settings.signals) this.#stopSignals = stopOnSignals(() => this.stop(), logger);
    this.ready = this.#start();
    this.ready.catch((error) => logger.error("cannot start the worker", { error }));
  }

  async quiet(): Promise<void> {
    this.#isQuiet = true;
    this.#loneRuns.cancel();
    await this.#lanes.returnPrefetched();
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

  /** How many jobs run here at the same time, over all lanes. */
  get slots(): number {
    return Object.values(this.#parts.settings.lanes).reduce((total, slots) => total + slots, 0);
  }

  get isIdle(): boolean {
    return this.#lanes.isIdle && this.#running.isIdle && this.#settler.isIdle;
  }

  async empty(): Promise<void> {
    await tryStep(this.#parts.logger, () => this.#lanes.returnPrefetched());
    await Promise.all([this.#marker, ...this.#pumps].map((ticker) => ticker.tickEnded()));
    await this.#running.emptied();
    await this.#settler.drained();
  }

  wake(): void {
    this.#hintLanes();
  }

  async #start(): Promise<void> {
    if (!(await this.#registration.begin())) return;
    this.#leaveProcess = this.#parts.process.join(this);
    this.#stopRejections = listenForRejections();
    this.#stopWatching = this.#parts.store.watch((wakeUp) => {
      if (wakeUp === "work" || wakeUp === "ready") this.#hintLanes();
      if (wakeUp === "work") this.#promoter.wake();
    });
    for (const duty of this.#duties) duty.wake();
    void this.#begin();
  }

  /** Before its first claim, a worker looks for what may have killed other processes. */
  async #begin(): Promise<void> {
    const { store, clock, logger, process, settings } = this.#parts;
    const { leaseMs } = settings;
    const isOver = (): boolean => !this.#isOpen();
    await crashLoopEnded({ store, clock, logger, process, host: hostname(), leaseMs, isOver });
    if (this.#isOpen()) await this.#loneRuns.begin();
    this.#hasBegun = true;
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

  #makeMarker(): Ticker {
    const { clock, logger, settings } = this.#parts;
    return new Ticker({
      clock,
      retryMs: settings.pollMs,
      tick: () => this.#markAhead(),
      failed: (error) => logger.error("cannot start prefetched jobs; trying again", { error }),
    });
  }

  async #markAhead(): Promise<number> {
    if (await this.#lanes.mark()) this.#wakePumpSoon();
    return this.#parts.settings.pollMs;
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

  #makeLauncher(): RunLauncher {
    const { clock, dice, logger, jobDefaults, settings } = this.#parts;
    return new RunLauncher({
      clock,
      dice,
      logger,
      jobDefaults,
      settings,
      noteSender: this.#noteSender,
      settler: this.#settler,
      running: this.#running,
      holdsLease: () => this.#registration.holdsLease,
    });
  }

  /** A job may have become claimable: also lanes that are dry claim again. */
  #hintLanes(): void {
    this.#lanes.hint();
    this.#wakePumps();
  }

  #wakePumps(): void {
    for (const pump of this.#pumps) pump.wake();
    this.#wakeMarker();
  }

  #wakeMarker(): void {
    if (this.#lanes.wantsMarks) this.#marker.wake();
  }

  #makeRegistration(): Registration {
    const { store, clock, logger, settings } = this.#parts;
    const { beatMs, pollMs, preset, definitions } = settings;
    const policies = [...definitions.keys()].map((type) => [type, this.#launcher.policyOf(type)]);
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
      onEnded: (runs) => this.#interruptEnded(runs),
      onLost: () => {
        this.#running.interruptAll("store");
        this.#lanes.returnMarked();
      },
      onExpired: () => {
        this.#running.interruptAll("expiry");
        this.#lanes.returnMarked();
        return this.#running.size;
      },
      onRegained: () => {
        this.#running.leaseRenewed();
        this.#hintLanes();
      },
    });
  }

  #info(): WorkerInfo {
    const { settings, version } = this.#parts;
    const lanes = Object.entries(settings.lanes).filter(([, slots]) => slots > 0);
    return {
      id: this.id,
      process: this.#parts.process.id,
      host: hostname(),
      pid: this.#parts.process.pid,
      version,
      protocol: PROTOCOL,
      leaseMs: settings.leaseMs,
      beatMs: settings.beatMs,
      types: [...settings.definitions.keys()],
      lanes: lanes.map(([lane]) => lane),
      slots: this.slots,
      tenant: settings.tenant ?? null,
    };
  }

  #onRenewal(renewal: Renewal & { status: "renewed" }): void {
    const { logger } = this.#parts;
    if (renewal.outdated && !this.#isQuiet) logger.error(OUTDATED, { worker_id: this.id });
    // At every heartbeat, because the last return of prefetched jobs may have failed.
    if (renewal.quiet || renewal.outdated || this.#isQuiet) {
      this.quiet().catch((error) => logger.error(CANNOT_RETURN, { error }));
    }
    for (const { key, n, reason } of renewal.cancel) {
      const outcome = { type: "cancelled", reason } as const;
      this.#running.interrupt({ key, n }, outcome);
      this.#lanes.dropMarked({ key, n }, outcome);
    }
    this.#lanes.returnOverdue().catch((error) => logger.error(CANNOT_RETURN, { error }));
    this.#loneRuns.cancelRuns([...renewal.cancel, ...renewal.ended]);
    this.#interruptEnded(renewal.ended);
  }

  /** The store has ended these runs: their handlers are to stop. */
  #interruptEnded(runs: readonly RunName[]): void {
    for (const run of runs) {
      this.#running.interrupt(run, { type: "interrupted", by: "store" });
      this.#lanes.dropMarked(run, null);
    }
  }

  #makeLane(name: string, slots: number): Lane {
    const { store, clock, settings } = this.#parts;
    const { batch, pollMs } = settings;
    return new Lane({
      store,
      clock,
      name,
      slots,
      batch,
      // No poll comes sooner.
      dryMs: jittered(pollMs, 0),
      request: this.#request,
      process: this.#parts.process,
      crashCap: settings.preset.retry.crashCap,
      start: (lane, lease, job) => void this.#startRun(lane, lease, job),
      settleUnbegun: (...run) => this.#launcher.settleUnbegun(...run),
      onLost: () => this.#registration.checkLease(),
      onClaimed: (awaitsAlone) => void (this.#awaitsAlone ||= awaitsAlone),
      isOpen: () => this.#mayClaim(),
      hasRoom: () => this.#settler.hasRoom,
    });
  }

  /** The worker, and the jobs it takes. */
  get #request(): Pick<ClaimRequest, "worker" | "types" | "tenants"> {
    const { definitions, tenant } = this.#parts.settings;
    const tenants = tenant === undefined ? {} : { tenants: [tenant] };
    return { worker: this.id, types: [...definitions.keys()], ...tenants };
  }

  #makeLoneRuns(): LoneRuns {
    const { store, clock, logger, process, settings } = this.#parts;
    const { preset, pollMs } = settings;
    const lanes = Object.keys(settings.lanes).filter((lane) => (settings.lanes[lane] ?? 0) > 0);
    const cap = preset.retry.crashCap;
    return new LoneRuns({
      store,
      clock,
      logger,
      process,
      pollMs,
      request: { ...this.#request, lanes: lanes.includes(GENERAL_LANE) ? "any" : lanes, cap },
      isOpen: () => this.#isOpen(),
      run: (claim) => this.#runAlone(claim),
    });
  }

  /** The job takes a slot of its lane, or of the general lane. */
  async #runAlone({ lease, job }: LoneClaim): Promise<boolean> {
    const lane = this.#lanes.get(job.lane) ?? this.#lanes.get(GENERAL_LANE);
    if (lane === undefined) throw new Error(`claimed a job of the unknown lane ${job.lane}`);
    lane.takeSlot();
    const outcome = await this.#startRun(lane, lease, job);
    await this.#settler.drained();
    return outcome?.type === "succeeded";
  }

  /** Whether jobs may start here. */
  #isOpen(): boolean {
    return !this.#isQuiet && this.#registration.isRegistered && this.#stopping === null;
  }

  /** The same for jobs that do not run alone. */
  #mayClaim(): boolean {
    return this.#hasBegun && this.#isOpen() && !this.#parts.process.isReserved;
  }

  /** Lanes take turns, so that a backlog of short jobs in one does not block the others. */
  async #fillLanes(): Promise<number> {
    const lanes = this.#lanes.all;
    const asked = new Set<string>();
    let isComplete = true;
    for (let isMore = true; isMore;) {
      isMore = false;
      isComplete &&= lanes.every(({ load: { lane, slots, running }, isDry }) => {
        return slots === 0 || (slots > running && (!isDry || asked.has(lane)));
      });
      const wet = lanes.filter(({ isDry }) => !isDry).map(({ load }) => load);
      for (const claim of claimPlan(wet)) {
        if (!this.#mayClaim()) continue;
        asked.add(claim.lane);
        if ((await this.#lanes.get(claim.lane)?.fill(claim)) === true) isMore = true;
        this.#wakeMarker();
      }
    }
    // A pass that did not ask for all lanes does not know that no job waits.
    if (this.#isOpen() && (this.#awaitsAlone || isComplete)) {
      this.#loneRuns.report(this.#awaitsAlone);
    }
    this.#awaitsAlone = false;
    return REST_MS;
  }

  /** Resolves when the run has ended and left its slot. Null: the type has no handler here. */
  #startRun(lane: Lane, lease: Lease, job: ClaimedJob): Promise<Outcome | null> {
    return this.#launcher.launch(lease, job, (ms) => this.#slotFreed(lane, job, ms));
  }

  #slotFreed(lane: Lane, job: ClaimedJob, ms: number): void {
    lane.runEnded(job, ms);
    if (!lane.isDry && lane.free > 0) this.#wakePumpSoon();
    else this.#wakeMarker();
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

  async #stop(graceMs: number): Promise<void> {
    const { clock, logger } = this.#parts;
    this.#registration.stopRetrying();
    const begun = this.ready.catch(() => {});
    await within(clock, graceMs, begun);
    this.#stopWatching();
    const loneRunsEnded = this.#loneRuns.stop();
    await Promise.all([...this.#pumps, this.#marker].map((ticker) => ticker.stop()));
    await tryStep(logger, () => this.#lanes.returnPrefetched());
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
    for (const execution of stuck) this.#launcher.settle(execution, execution.outcomeAtStop);
    const unsettled = await this.#settler.close(SECOND_DRAIN_MS);
    await within(clock, SECOND_DRAIN_MS, loneRunsEnded);
    this.#loneRuns.end();
    this.#leaveProcess();
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
