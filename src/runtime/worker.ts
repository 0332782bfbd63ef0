/**
 * One worker: lanes that run jobs, a heartbeat, and the background duties.
 *
 * Starting: it joins the store, beats, then its lanes ask for work. Stopping, in this order: ask
 * for nothing new, hand back what has not begun, let handlers end within the grace while the heart
 * beats, abort the rest, give them a second chance, return what still runs uncharged, leave. Every
 * step happens even if one before it failed; a handler that would not end is reported last.
 */
import { hostname } from "node:os";
import { newJobOf, type JobDefaults } from "../jobs/new-job.ts";
import { policyOf } from "../jobs/retry-policy.ts";
import { within, type Clock, type Dice } from "../core/clock.ts";
import { durationMs, formatDuration, type Duration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
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
import { NoteSender } from "./notes/note-sender.ts";
import { listenForRejections } from "./run/unhandled-rejections.ts";
import { gatekeeper } from "./maintenance/gatekeeper.ts";
import { promoter } from "./maintenance/promoter.ts";
import { pruners } from "./maintenance/pruner.ts";
import { rescuer } from "./maintenance/rescuer.ts";
import type { WorkerSettings } from "./settings.ts";
import { Settler } from "./run/settler.ts";
import { stopOnSignals } from "./signals.ts";
import { Ticker } from "./ticker.ts";

const OUTDATED =
  "the database was migrated for a newer release of Millrace: this worker takes no new jobs and " +
  "ends those it has; deploy the newer release";
/** After an abort, handlers that listen to their signal get this long to end. */
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
  readonly #running = new Map<string, { execution: Execution; ended: Promise<void> }>();
  readonly #executionParts: ExecutionParts;
  readonly #noteSender: NoteSender;
  readonly #settler: Settler;
  readonly #registration: Registration;
  /** Each fills all lanes. One is enough, unless claims can overlap. */
  readonly #pumps: readonly Ticker[];
  readonly #promoter: Ticker;
  readonly #duties: readonly Ticker[];
  #unwatch = (): void => {};
  #unhear = (): void => {};
  #unlisten = (): void => {};
  #isQuiet = false;
  #isPumpCalled = false;
  #stopping: Promise<void> | null = null;

  constructor(parts: WorkerParts) {
    const { store, clock, dice, logger, jobDefaults, settings } = parts;
    this.id = jobDefaults.newId();
    this.#parts = parts;
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
    const duty = { store, clock, random, logger, policyOf: policies, ...timing };
    const isStopping = (): boolean => this.#stopping !== null;
    const sweeping = pruners({ ...duty, retention, isStopping });
    this.#promoter = promoter(duty);
    this.#duties = [this.#promoter, gatekeeper(duty), rescuer(duty), ...sweeping];
    if (settings.signals) this.#unhear = stopOnSignals(() => this.stop(), logger);
    this.ready = this.#start();
    this.ready.catch((error) => logger.error("the worker could not start", { error }));
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
    this.#unlisten = listenForRejections();
    this.#unwatch = this.#parts.store.watch((wakeUp) => {
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
      failed: (error) => logger.error("jobs could not be claimed; trying again", { error }),
    });
  }

  /** What ended runs had is free when the store has heard of them, and others wait for it. */
  #makeSettler(): Settler {
    const { store, clock, logger } = this.#parts;
    return new Settler({
      store,
      clock,
      logger,
      told: () => this.#wakePumps(),
      ended: (run) => this.#noteSender.line.ended(run),
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
      heard: (renewal) => this.#heard(renewal),
      lost: () => this.#interruptAll("store"),
      regained: () => this.#wakePumps(),
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

  #heard(renewal: Renewal & { status: "renewed" }): void {
    const { logger } = this.#parts;
    if (renewal.outdated && !this.#isQuiet) logger.error(OUTDATED, { worker_id: this.id });
    // At every beat, in case a buffer could not be handed back at the last one.
    if (renewal.quiet || renewal.outdated || this.#isQuiet) {
      this.quiet().catch((error) =>
        logger.error("the buffers could not be handed back", { error }),
      );
    }
    for (const { key, n, reason } of renewal.cancel) {
      this.#running.get(runName({ key, n }))?.execution.interrupt({ type: "cancelled", reason });
    }
    for (const { key, n } of renewal.ended) {
      const why = { type: "interrupted", by: "store" } as const;
      this.#running.get(runName({ key, n }))?.execution.interrupt(why);
    }
  }

  #interruptAll(by: "stop" | "store"): void {
    for (const { execution } of this.#running.values()) {
      execution.interrupt({ type: "interrupted", by });
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
      begin: (lane, lease, job) => this.#begin(lane, lease, job),
      lost: () => this.#registration.doubt(),
      isOpen: () => this.#isOpen(),
      hasRoom: () => this.#settler.hasRoom,
    });
  }

  /** Whether new jobs may begin here. */
  #isOpen(): boolean {
    return !this.#isQuiet && this.#registration.stands && this.#stopping === null;
  }

  /** Lanes take turns: a backlog of quick jobs in one must not keep the others waiting. */
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

  #begin(lane: Lane, lease: Lease, job: ClaimedJob): void {
    const { clock } = this.#parts;
    const execution = this.#makeExecution(lease, job);
    const began = clock.monotonic();
    const ended = execution.run().then((outcome) => {
      this.#settle(execution, outcome);
      this.#running.delete(runName(job));
      return this.#freed(lane, clock.monotonic() - began);
    });
    this.#running.set(runName(job), { execution, ended });
  }

  #freed(lane: Lane, ms: number): void {
    lane.ended(ms);
    if (lane.isHungry) this.#wakePumpSoon();
  }

  /** Runs that end in the same turn free their slots together: one start for all of them. */
  #wakePumpSoon(): void {
    if (this.#isPumpCalled) return;
    this.#isPumpCalled = true;
    soon(() => {
      this.#isPumpCalled = false;
      this.#wakePumps();
    });
  }

  #settle(execution: Execution, outcome: Outcome): void {
    const { dice } = this.#parts;
    const { job, lease, children, note } = execution;
    const context = { policy: this.#policyOf(job.type), random: dice.random() };
    const settlement = settle(job, outcome, context);
    const end = { lease, key: job.key, n: job.n, settlement, children };
    this.#noteSender.line.ending(job, execution.names);
    this.#settler.add(note === undefined ? end : { ...end, note });
  }

  #policyOf(type: string): RetryPolicy {
    const { preset, definitions } = this.#parts.settings;
    return policyOf(preset.retry, definitions.get(type)?.settings ?? {});
  }

  #makeExecution(lease: Lease, job: ClaimedJob): Execution {
    const definition = this.#parts.settings.definitions.get(job.type);
    if (definition === undefined)
      throw new Error(`a job of the unknown type ${job.type} was claimed`);
    return new Execution(this.#executionParts, definition, lease, job);
  }

  #makeExecutionParts(): ExecutionParts {
    const { clock, logger, jobDefaults, settings } = this.#parts;
    return {
      clock,
      preset: settings.preset,
      logger,
      deps: settings.deps,
      desk: this.#noteSender,
      // Its own job, not the one that the async context names: callbacks of pools lose that.
      newChild: async (running, contract, ...[payload, options = {}]) =>
        newJobOf({ contract, payload, options }, { ...jobDefaults, running }),
    };
  }

  async #stop(graceMs: number): Promise<void> {
    const { clock, logger } = this.#parts;
    this.#registration.giveUp();
    const begun = this.ready.catch(() => {});
    await within(clock, graceMs, begun);
    this.#unwatch();
    await Promise.all(this.#pumps.map((pump) => pump.stop()));
    await attempt(logger, () => this.#returnPrefetched());
    if (this.#running.size > 0) {
      logger.info(`stopping: waiting for ${this.#running.size} running job(s)`, {});
    }
    await this.#drain(graceMs);
    this.#interruptAll("stop");
    await this.#drain(Math.min(SECOND_DRAIN_MS, graceMs));
    await this.#noteSender.close(SECOND_DRAIN_MS);
    // Runs that waited for their last note end without it.
    await new Promise<void>((resolve) => soon(resolve));
    const stuck = [...this.#running.values()];
    for (const { execution } of stuck) this.#settle(execution, { type: "interrupted" });
    const untold = await this.#settler.close(SECOND_DRAIN_MS);
    // What removes old things may wait for an answer for a minute; nobody else has to.
    const duties = Promise.all(this.#duties.map((duty) => duty.stop()));
    await within(clock, SECOND_DRAIN_MS, duties);
    await attempt(logger, () => this.#registration.end());
    this.#unhear();
    this.#unlisten();
    if (untold > 0) throw endsUntold(untold, stuck.length);
    if (stuck.length > 0) throw stopTimedOut(stuck.length, graceMs);
  }

  /** Resolves when no job runs here any more, or the time is up. */
  async #drain(ms: number): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map((run) => run.ended));
    if (this.#running.size === 0) return;
    await within(this.#parts.clock, ms, ended);
  }
}

async function attempt(
  logger: { warn(message: string, fields?: object): void },
  step: () => Promise<unknown>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    logger.warn("a step of the stop failed; the others go on", { error });
  }
}

function stopTimedOut(count: number, graceMs: number): MillraceError {
  const message = `${count} handler(s) did not end within ${formatDuration(graceMs)}`;
  return new MillraceError("STOP_TIMED_OUT", `${message}; their jobs were given back`);
}

function endsUntold(count: number, stuck: number): MillraceError {
  const message = `the store did not take the ends of ${count} run(s)`;
  const deaf = stuck > 0 ? `, ${stuck} of handler(s) that did not end` : "";
  return new MillraceError("STOP_TIMED_OUT", `${message}${deaf}; others will take their jobs back`);
}

function runName({ key, n }: { readonly key: number; readonly n: number }): string {
  return `${key}.${n}`;
}

/** Processes that poll in step would all ask at the same moment. */
function jittered(ms: number, random: number): number {
  return ms * (0.8 + 0.4 * random);
}
