/**
 * One worker: lanes that run jobs, a heartbeat, and the background duties.
 *
 * Starting: it joins the store, beats, then its lanes ask for work. Stopping, in this order: ask
 * for nothing new, hand back what has not begun, let handlers end within the grace while the heart
 * beats, abort the rest, give them a second chance, return what still runs uncharged, leave. Every
 * step happens even if one before it failed; a handler that would not end is reported last.
 */
import { hostname } from "node:os";
import type { Client } from "../client/client.ts";
import { runningHere } from "../client/ambient.ts";
import { newJobOf } from "../client/new-job.ts";
import { within } from "../core/clock.ts";
import { durationMs, formatDuration, type Duration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { claimPlan } from "../core/lanes.ts";
import { settle } from "../core/settle.ts";
import type { Outcome } from "../core/outcome.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { Worker } from "../face/worker.ts";
import type { ClaimedJob, Lease, Renewal, WorkerId } from "../store/store.ts";
import { Execution } from "./execution.ts";
import { startHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { Lane } from "./lane.ts";
import { policyOf } from "./policy.ts";
import { gatekeeper, promoter, pruner, rescuer } from "./services.ts";
import type { WorkerSettings } from "./settings.ts";
import { Settler } from "./settler.ts";
import { stopOnSignals } from "./signals.ts";
import { Ticker } from "./ticker.ts";

const PROTOCOL = 1;
/** After an abort, handlers that listen to their signal get this long to end. */
const SECOND_DRAIN_MS = 5_000;

export interface WorkerParts {
  readonly client: Client;
  readonly settings: WorkerSettings;
  readonly version: string;
}

export class JobWorker implements Worker {
  readonly id: WorkerId;
  readonly ready: Promise<void>;
  readonly #parts: WorkerParts;
  readonly #lanes: ReadonlyMap<string, Lane>;
  readonly #running = new Map<string, { execution: Execution; ended: Promise<void> }>();
  readonly #settler: Settler;
  readonly #pump: Ticker;
  readonly #duties: readonly Ticker[];
  #heartbeat: Heartbeat | null = null;
  #unwatch = (): void => {};
  #unhear = (): void => {};
  #isQuiet = false;
  #isLost = false;
  #joining = false;
  #stopping: Promise<void> | null = null;

  constructor(parts: WorkerParts) {
    const { client, settings } = parts;
    const { store, clock, dice, logger } = client.parts;
    this.id = client.newId();
    this.#parts = parts;
    this.#settler = new Settler({ store, clock, logger });
    this.#lanes = new Map(
      Object.entries(settings.lanes).map(([name, slots]) => [name, this.#makeLane(name, slots)]),
    );
    this.#pump = new Ticker({
      clock,
      retryMs: settings.pollMs,
      tick: () => this.#fillLanes(),
      failed: (error) => logger.error("jobs could not be claimed; trying again", { error }),
    });
    const { preset, leaseMs, pollMs } = settings;
    const random = (): number => dice.random();
    const policies = (type: string): RetryPolicy => this.#policyOf(type);
    const duty = { store, clock, random, logger, preset, policyOf: policies, leaseMs, pollMs };
    this.#duties = [promoter(duty), gatekeeper(duty), rescuer(duty), pruner(duty)];
    if (settings.signals) this.#unhear = stopOnSignals(() => this.stop(), logger);
    this.ready = this.#start();
    // Whoever does not await `ready` hears of a failed start when it stops the worker.
    this.ready.catch((error) => logger.error("the worker could not start", { error }));
  }

  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await this.#handBack();
  }

  async #handBack(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.handBack()));
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
    await this.#join();
    this.#heartbeat = this.#beat();
    this.#unwatch = this.#parts.client.parts.store.watch(() => {
      this.#pump.wake();
      this.#duties[0]?.wake();
    });
    for (const duty of this.#duties) duty.wake();
    this.#pump.wake();
  }

  async #join(): Promise<void> {
    const { client, settings, version } = this.#parts;
    await client.parts.store.join({
      id: this.id,
      host: hostname(),
      pid: process.pid,
      version,
      protocol: PROTOCOL,
      leaseMs: settings.leaseMs,
    });
    this.#isLost = false;
  }

  #beat(): Heartbeat {
    const { client, settings } = this.#parts;
    const { store, clock, logger } = client.parts;
    const { leaseMs, beatMs, preset, definitions } = settings;
    const policies = [...definitions.keys()].map((type) => [type, this.#policyOf(type)]);
    return startHeartbeat({
      store,
      clock,
      worker: this.id,
      leaseMs,
      beatMs,
      policy: preset.retry,
      policies: Object.fromEntries(policies),
      heard: (renewal) => this.#heard(renewal),
      failed: (error) => logger.error("the heartbeat failed; trying again", { error }),
    });
  }

  #heard(renewal: Renewal): void {
    if (renewal.status === "lost") {
      this.#lost();
      return;
    }
    if (renewal.quiet && !this.#isQuiet) {
      const { logger } = this.#parts.client.parts;
      this.quiet().catch((error) =>
        logger.error("the buffers could not be handed back", { error }),
      );
    }
    for (const { key, n, reason } of renewal.cancel) {
      this.#running.get(runName(key, n))?.execution.interrupt({ type: "cancelled", reason });
    }
    for (const { key, n } of renewal.ended) {
      this.#running.get(runName(key, n))?.execution.interrupt({ type: "interrupted" });
    }
  }

  /** Others have taken our jobs back. What still runs is a zombie: it stops, and we join anew. */
  #lost(): void {
    const { logger } = this.#parts.client.parts;
    if (!this.#isLost) {
      logger.error("the lease of this worker was lost; its runs are stopped", {
        worker_id: this.id,
      });
      for (const { execution } of this.#running.values()) {
        execution.interrupt({ type: "interrupted" });
      }
    }
    this.#isLost = true;
    if (this.#stopping !== null || this.#joining) return;
    // If it fails, the next heartbeat finds us lost again.
    this.#joining = true;
    this.#join()
      .then(() => this.#pump.wake())
      .catch((error) => logger.error("the worker could not join again", { error }))
      .finally(() => {
        this.#joining = false;
      });
  }

  #makeLane(name: string, slots: number): Lane {
    const { client, settings } = this.#parts;
    const { tenant, batch } = settings;
    return new Lane({
      store: client.parts.store,
      name,
      slots,
      batch,
      request: {
        worker: this.id,
        types: [...settings.definitions.keys()],
        ...(tenant === undefined ? {} : { tenants: [tenant] }),
      },
      begin: (lane, lease, job) => this.#begin(lane, lease, job),
      lost: () => this.#lost(),
      isOpen: () => this.#isOpen(),
    });
  }

  /** Whether new jobs may begin here. */
  #isOpen(): boolean {
    return !this.#isQuiet && !this.#isLost && this.#stopping === null;
  }

  async #fillLanes(): Promise<number> {
    const loads = [...this.#lanes.values()].map((lane) => lane.load);
    for (const claim of claimPlan(loads, { batchMax: this.#parts.settings.batch })) {
      if (this.#isOpen()) await this.#lanes.get(claim.lane)?.fill(claim);
    }
    return jittered(this.#parts.settings.pollMs, this.#parts.client.parts.dice.random());
  }

  #begin(lane: Lane, lease: Lease, job: ClaimedJob): void {
    const { clock } = this.#parts.client.parts;
    const execution = this.#makeExecution(lease, job);
    const name = runName(job.key, job.n);
    const began = clock.monotonic();
    const ended = this.#run(execution).finally(() => {
      this.#running.delete(name);
      lane.ended(clock.monotonic() - began);
      this.#pump.wake();
    });
    this.#running.set(name, { execution, ended });
  }

  async #run(execution: Execution): Promise<void> {
    this.#settle(execution, await execution.run());
  }

  #settle(execution: Execution, outcome: Outcome): void {
    const { client } = this.#parts;
    const { job, lease, children } = execution;
    const context = { policy: this.#policyOf(job.type), random: client.parts.dice.random() };
    const settlement = settle(job, outcome, context);
    this.#settler.add({ lease, key: job.key, n: job.n, settlement, children });
  }

  #policyOf(type: string): RetryPolicy {
    const { preset, definitions } = this.#parts.settings;
    return policyOf(preset.retry, definitions.get(type)?.settings ?? {});
  }

  #makeExecution(lease: Lease, job: ClaimedJob): Execution {
    const { client, settings } = this.#parts;
    const { clock, logger, tenant, preset } = client.parts;
    const definition = settings.definitions.get(job.type);
    if (definition === undefined)
      throw new Error(`a job of the unknown type ${job.type} was claimed`);
    const execution: Execution = new Execution({
      definition,
      job,
      lease,
      clock,
      preset: settings.preset,
      context: {
        logger,
        deps: settings.deps,
        async enqueueChild(contract, ...[payload, options = {}]) {
          const around = { newId: client.newId, tenant, preset, running: runningHere() };
          const child = await newJobOf({ contract, payload, options }, around);
          execution.addChild(child);
          return { id: child.id, type: child.type };
        },
      },
    });
    return execution;
  }

  async #stop(graceMs: number): Promise<void> {
    const { store, logger } = this.#parts.client.parts;
    await this.ready.catch(() => {});
    this.#unwatch();
    await this.#pump.stop();
    await attempt(logger, () => this.#handBack());
    if (this.#running.size > 0) {
      logger.info(`stopping: waiting for ${this.#running.size} running job(s)`, {});
    }
    await this.#drain(graceMs);
    for (const { execution } of this.#running.values())
      execution.interrupt({ type: "interrupted" });
    await this.#drain(Math.min(SECOND_DRAIN_MS, graceMs));
    const stuck = [...this.#running.values()];
    for (const { execution } of stuck) this.#settle(execution, { type: "interrupted" });
    await this.#settler.close();
    await Promise.all(this.#duties.map((duty) => duty.stop()));
    await attempt(logger, async () => this.#heartbeat?.stop());
    await attempt(logger, () => store.leave(this.id));
    this.#unhear();
    if (stuck.length > 0) throw stopTimedOut(stuck.length, graceMs);
  }

  /** Resolves when no job runs here any more, or the time is up. */
  async #drain(ms: number): Promise<void> {
    const ended = Promise.all([...this.#running.values()].map((run) => run.ended));
    if (this.#running.size === 0) return;
    const { clock } = this.#parts.client.parts;
    await within(clock, ms, ended);
    await this.#settler.drained();
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

function runName(key: number, n: number): string {
  return `${key}.${n}`;
}

/** Processes that poll in step would all ask at the same moment. */
function jittered(ms: number, random: number): number {
  return ms * (0.8 + 0.4 * random);
}
