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
import { scheduleSpecOf } from "../jobs/schedule-spec.ts";
import { wait, within, type Clock, type Dice } from "../core/clock.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import type { MillraceError } from "../core/errors.ts";
import type { Logger } from "../api/context.ts";
import type { Worker } from "../api/worker.ts";
import { hintOf } from "../store/types/wake-ups.ts";
import type { JobStore } from "../store/store.ts";
import type { LoneClaim, Renewal, WorkerId } from "../store/types/jobs-and-runs.ts";
import { sayingMovedOnce } from "./closed-store.ts";
import { crashLoopEnded } from "./crashes/crash-loop.ts";
import { LoneRuns } from "./crashes/lone-runs.ts";
import type { ProcessMember, HostProcess } from "./crashes/host-process.ts";
import { ClaimLoop } from "./lanes/claim-loop.ts";
import type { LaneGroup } from "./lanes/lane-group.ts";
import { declareFairness } from "./lanes/declare-fairness.ts";
import { declareLimits } from "./lanes/declare-limits.ts";
import { Permits } from "./lanes/permits.ts";
import { Registration } from "./lease/registration.ts";
import { Duties } from "./maintenance/duties.ts";
import type { WorkerSettings } from "./settings.ts";
import type { RunName } from "./run/lock-queue.ts";
import type { RunningJobs } from "./run/running-jobs.ts";
import { listenForRejections } from "./run/unhandled-rejections.ts";
import { LAST_CALLS_MS, WorkerRuns } from "./run/worker-runs.ts";
import { Probes } from "./services/probes.ts";
import { stopOnSignals } from "./signals.ts";
import { resultsNotStored, stopTimedOut, tryStep } from "./stop-errors.ts";
import { declarationsOf } from "./type-declarations.ts";
import { infoOf, loneRequestOf, probeRequestOf, requestOf, slotsOf } from "./worker-info.ts";

const OUTDATED =
  "the database was migrated for a newer release of Millrace: this worker claims no more jobs " +
  "and finishes those it has; deploy the newer release";
const ASKED_TO_STOP = "an operator has asked this worker to stop";
const CANNOT_RETURN = "cannot return prefetched jobs";

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
  readonly ended: Promise<MillraceError | null>;
  readonly #ended = Promise.withResolvers<MillraceError | null>();
  readonly #parts: WorkerParts;
  readonly #runs: WorkerRuns;
  readonly #registration: Registration;
  readonly #permits: Permits;
  readonly #claimLoop: ClaimLoop;
  readonly #loneRuns: LoneRuns;
  readonly #probes: Probes;
  readonly #duties: Duties;
  #leaveProcess = (): void => {};
  #stopWatching = (): void => {};
  #stopSignals = (): void => {};
  #stopRejections = (): void => {};
  #isQuiet = false;
  /** An operator has asked the worker to be quiet. */
  #isAskedQuiet = false;
  /** Its release is too old for the store. */
  #isOutdated = false;
  #hasBegun = false;
  #stopping: Promise<void> | null = null;
  #movedError: MillraceError | null = null;

  constructor(given: WorkerParts) {
    const logger = sayingMovedOnce(given.logger, (error) => this.#stopMoved(error));
    const parts = { ...given, logger };
    const { jobDefaults, settings } = parts;
    this.id = jobDefaults.newId();
    this.ended = this.#ended.promise;
    this.#parts = parts;
    this.#runs = new WorkerRuns({
      ...parts,
      worker: this.id,
      holdsLease: () => this.#registration.holdsLease,
      onRoom: () => this.#claimLoop.wake(),
    });
    this.#registration = this.#makeRegistration();
    const onRoom = (): void => this.#claimLoop.hint();
    this.#permits = new Permits({ ...parts, worker: this.id, onRoom });
    this.#claimLoop = this.#makeClaimLoop();
    this.#loneRuns = this.#makeLoneRuns();
    this.#probes = this.#makeProbes();
    this.#duties = this.#makeDuties();
    this.ready = this.#start();
    this.ready.catch((error) => logger.error("cannot start the worker", { error }));
    this.#stopSignals = stopOnSignals(settings.signals, this, logger);
  }

  get #lanes(): LaneGroup {
    return this.#claimLoop.lanes;
  }

  get #running(): RunningJobs {
    return this.#runs.running;
  }

  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#beQuiet();
  }

  async #beQuiet(): Promise<void> {
    this.#loneRuns.cancel();
    await this.#lanes.returnPrefetched();
  }

  stop(options: { grace?: Duration } = {}): Promise<void> {
    const { graceMs } = this.#parts.settings;
    this.#stopping ??= this.#stop(
      options.grace === undefined ? graceMs : durationMs(options.grace, "grace"),
    ).finally(() => this.#ended.resolve(this.#movedError));
    return this.#stopping;
  }

  #stopMoved(reason: MillraceError): void {
    this.#movedError = reason;
    this.#stopItself();
  }

  /** No caller waits for this stop, so an error of it is logged. */
  #stopItself(): void {
    const { logger } = this.#parts;
    this.stop().catch((error) => logger.error("cannot stop the worker", { error }));
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
    return slotsOf(this.#parts.settings);
  }

  get isIdle(): boolean {
    return this.#lanes.isIdle && this.#runs.isIdle;
  }

  get hasCodeLeft(): boolean {
    return this.#running.hasCodeLeft;
  }

  async empty(): Promise<void> {
    const { clock, logger, settings } = this.#parts;
    const returned = await tryStep(logger, () => this.#lanes.returnPrefetched());
    // The store may know jobs as started that wait here: the process is not empty before.
    if (!returned) await wait(clock, settings.pollMs);
    await this.#claimLoop.passEnded();
    await this.#running.ended();
    await this.#runs.settled();
  }

  wake(): void {
    this.#claimLoop.hint();
  }

  async #start(): Promise<void> {
    if (!(await this.#registration.begin())) return;
    this.#leaveProcess = this.#parts.process.join(this);
    this.#stopRejections = listenForRejections();
    this.#stopWatching = this.#parts.store.watch((wakeUp) => {
      const hint = hintOf(wakeUp);
      if (hint !== null) {
        this.#duties.turns.hint();
        this.#claimLoop.hint(hint.lane);
      }
      if (wakeUp === "work") this.#duties.wakePromoter();
    });
    this.#duties.start();
    void this.#begin();
  }

  /** Before its first claim, a worker looks for what may have killed other processes. */
  async #begin(): Promise<void> {
    const { store, clock, logger, process, settings } = this.#parts;
    const { leaseMs } = settings;
    const isOver = (): boolean => this.#stopping !== null;
    await this.#parts.jobDefaults.payloads?.declare(settings.preset.payloadRules);
    await declareLimits({ store, clock, logger, settings, isOver });
    if (await declareFairness({ store, clock, logger, settings, isOver }))
      this.#duties.turns.wake();
    await crashLoopEnded({ store, clock, logger, process, host: hostname(), leaseMs, isOver });
    if (this.#isOpen()) await this.#loneRuns.begin();
    this.#hasBegun = true;
    this.#claimLoop.wake();
  }

  #makeRegistration(): Registration {
    const { store, clock, logger, settings } = this.#parts;
    const { beatMs, pollMs, preset, definitions } = settings;
    const policies = [...definitions.keys()].map((type) => [type, this.#runs.policyOf(type)]);
    return new Registration({
      store,
      clock,
      logger,
      info: infoOf({ ...this.#parts, id: this.id }),
      isAskedQuiet: () => this.#isAskedQuiet,
      declarations: declarationsOf(settings),
      beatMs,
      retryMs: pollMs,
      policy: preset.retry,
      policies: Object.fromEntries(policies),
      onRenewal: (renewal) => this.#onRenewal(renewal),
      onEnded: (runs) => this.#interruptEnded(runs),
      onLost: () => {
        this.#permits.lost();
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
        this.#claimLoop.hint();
      },
    });
  }

  #onRenewal(renewal: Renewal & { status: "renewed" }): void {
    const { logger } = this.#parts;
    const wasQuiet = this.#isQuietNow();
    if (renewal.outdated && !wasQuiet) logger.error(OUTDATED, { worker_id: this.id });
    this.#isAskedQuiet = renewal.quiet;
    this.#isOutdated = renewal.outdated;
    // At every heartbeat, because the last return of prefetched jobs may have failed.
    if (this.#isQuietNow()) {
      this.#beQuiet().catch((error) => logger.error(CANNOT_RETURN, { error }));
    } else if (wasQuiet) this.#claimLoop.hint();
    // Heartbeats go on during a stop, and each of them reports the request.
    if (renewal.stop && this.#stopping === null) {
      logger.info(ASKED_TO_STOP, { worker_id: this.id });
      this.#stopItself();
    }
    for (const { key, n, reason } of renewal.cancel) {
      const outcome = { type: "cancelled", reason } as const;
      this.#running.interrupt({ key, n }, outcome);
      this.#lanes.dropMarked({ key, n }, outcome);
    }
    this.#lanes.returnOverdue().catch((error) => logger.error(CANNOT_RETURN, { error }));
    this.#loneRuns.cancelRuns([...renewal.cancel, ...renewal.ended]);
    this.#interruptEnded(renewal.ended);
    this.#runs.toldEnded(renewal.ended);
  }

  /** The store has ended these runs: their handlers are to stop. */
  #interruptEnded(runs: readonly RunName[]): void {
    for (const run of runs) {
      this.#running.interrupt(run, { type: "interrupted", by: "store" });
      this.#lanes.dropMarked(run, null);
    }
  }

  #makeClaimLoop(): ClaimLoop {
    return new ClaimLoop({
      ...this.#parts,
      request: requestOf(this.id, this.#parts.settings),
      permits: this.#permits,
      runs: this.#runs,
      mayClaim: () => this.#mayClaim(),
      isFair: () => this.#duties.turns.isKnown,
      onLost: () => this.#registration.checkLease(),
      onSlotFree: (lane) => this.#probes.slotFreed(lane),
      report: (awaitsAlone) => {
        if (this.#isOpen()) this.#loneRuns.report(awaitsAlone);
      },
    });
  }

  #makeLoneRuns(): LoneRuns {
    const { store, clock, logger, process, settings } = this.#parts;
    return new LoneRuns({
      store: { ...this.#permits.store, endCrashStreak: (type) => store.endCrashStreak(type) },
      clock,
      logger,
      process,
      pollMs: settings.pollMs,
      request: loneRequestOf(this.id, settings),
      isOpen: () => this.#isOpen(),
      settleUnbegun: (lease, job, outcome) => {
        this.#permits.jobEnded(job);
        this.#runs.settleUnbegun(lease, job, outcome);
      },
      run: (claim) => this.#runAlone(claim),
    });
  }

  async #runAlone(claim: LoneClaim): Promise<boolean> {
    const outcome = await this.#claimLoop.start(claim);
    await this.#runs.settled();
    return outcome?.type === "succeeded";
  }

  #makeProbes(): Probes {
    const { clock, logger, settings } = this.#parts;
    return new Probes({
      store: this.#permits.store,
      clock,
      logger,
      pollMs: settings.pollMs,
      request: probeRequestOf(this.id, settings),
      lanes: () => this.#lanes.all,
      isOpen: () => this.#mayClaim(),
      start: (lane, claim) => this.#claimLoop.startIn(lane, claim),
      giveBack: (lane) => this.#claimLoop.giveBack(lane),
    });
  }

  #makeDuties(): Duties {
    const { dice, jobDefaults, settings } = this.#parts;
    const parts = {
      ...this.#parts,
      ...settings,
      // The rules are not read yet: every slot asks for them.
      schedules: settings.schedules.map((schedule) =>
        scheduleSpecOf(schedule, { ...jobDefaults, payloads: null }),
      ),
      payloads: jobDefaults.payloads,
      newId: jobDefaults.newId,
      restarts: settings.preset.onRetry === "restart",
      idempotencyMs: settings.retention.removed.idempotencyMs,
      worker: this.id,
      random: () => dice.random(),
      policyOf: (type: string) => this.#runs.policyOf(type),
      steadySpan: () => this.#registration.steadySpan,
      isStopping: () => this.#stopping !== null,
    };
    return new Duties(parts, {
      claim: () => this.#claimLoop.hint(),
      probe: () => this.#probes.look(),
    });
  }

  #isQuietNow(): boolean {
    return this.#isQuiet || this.#isAskedQuiet || this.#isOutdated;
  }

  /** Whether jobs may start here. */
  #isOpen(): boolean {
    return !this.#isQuietNow() && this.#registration.isRegistered && this.#stopping === null;
  }

  /** The same for jobs that do not run alone. */
  #mayClaim(): boolean {
    return this.#hasBegun && this.#isOpen() && !this.#parts.process.isReserved;
  }

  async #stop(graceMs: number): Promise<void> {
    const { clock, logger } = this.#parts;
    this.#registration.stopRetrying();
    const begun = this.ready.catch(() => {});
    await within(clock, graceMs, begun);
    this.#stopWatching();
    const loneRunsEnded = this.#loneRuns.stop();
    this.#permits.stop();
    await this.#claimLoop.stop();
    await this.#probes.ended();
    await tryStep(logger, () => this.#lanes.returnPrefetched());
    const { unsettled, stuck } = await this.#runs.end(graceMs);
    await within(clock, LAST_CALLS_MS, loneRunsEnded);
    this.#loneRuns.end();
    this.#leaveProcess();
    // A removal or a retention hook may take a minute: the stop does not wait for either.
    await within(clock, LAST_CALLS_MS, this.#duties.stop());
    await tryStep(logger, () => this.#registration.end());
    this.#stopSignals();
    this.#stopRejections();
    if (unsettled > 0) throw resultsNotStored(unsettled, stuck);
    if (stuck > 0) throw stopTimedOut(stuck, graceMs);
  }
}
