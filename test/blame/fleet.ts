/**
 * A fleet in virtual time whose processes can die: real workers on a real store, and only time,
 * chance and death are arranged. A dead process is replaced after a moment, as a supervisor of the
 * operating system would do.
 */
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Client } from "../../src/client/client.ts";
import { wait } from "../../src/core/clock.ts";
import { defaults } from "../../src/core/presets.ts";
import type { Context } from "../../src/api/context.ts";
import { defineJob, typed } from "../../src/api/define.ts";
import { HostProcess } from "../../src/runtime/crashes/host-process.ts";
import { settingsOf } from "../../src/runtime/settings.ts";
import { JobWorker } from "../../src/runtime/worker.ts";
import type { JobStore } from "../../src/store/store.ts";
import { wrapStore, type VerbWrapper } from "../../src/store/wrap-store.ts";
import { Traffic } from "../../src/testing/mortal-store.ts";
import { seededDice } from "../support/seeded-dice.ts";
import type { TestStore } from "../support/stores.ts";

const LEASE_MS = 2_000;
const RESTART_MS = 500;
const STILL_TURNS = 8;

/** The work of one job. It ends after `ms`, or kills its process after `diesAfterMs`. */
export interface Work {
  readonly ms: number;
  readonly diesAfterMs?: number;
  /** The work is a unit, and the handler itself heeds its signal. */
  readonly isUnit?: boolean;
}

const work = typed<Work>();
export const healthy = defineJob({ type: "healthy", payload: work, timeout: false });
export const poison = defineJob({ type: "poison", payload: work, timeout: false });
const contracts = { healthy, poison };

export interface FleetPlan {
  readonly processes: number;
  /** The slots of each `work()` of a process: those of the general lane, or of each lane. */
  readonly workers: readonly (number | Readonly<Record<string, number>>)[];
  /** The most jobs of one rescue; a rescuer asks for 500. */
  readonly rescueChunk?: number;
}

type Ctx = Context<unknown, unknown>;

/** One run of a handler, in virtual milliseconds. */
interface FleetRun {
  readonly id: string;
  readonly from: number;
  until: number;
}

interface Process {
  readonly number: number;
  readonly pid: number;
  isDead: boolean;
}

export class BlameFleet {
  readonly #db: TestStore;
  readonly #plan: FleetPlan;
  readonly #traffic = new Traffic();
  readonly #dice: ReturnType<typeof seededDice>;
  readonly #processes = new Map<number, Process>();
  readonly #pids = new Map<number, Process>();
  readonly client: Client;
  #isClosing = false;
  /** Deaths by a job, and by a kill from outside. */
  readonly deaths = { own: 0, outside: 0 };
  /** Every run of a handler, in the order of their starts. */
  readonly runs: FleetRun[] = [];
  readonly workers: JobWorker[] = [];
  readonly logged: string[] = [];

  constructor(db: TestStore, plan: FleetPlan, seed: number) {
    this.#db = db;
    this.#plan = plan;
    this.#dice = seededDice(seed);
    this.client = this.#clientOn(this.#traffic.through(db.store));
  }

  get nowMs(): number {
    return this.#db.clock.monotonic();
  }

  async start(): Promise<void> {
    for (let number = 0; number < this.#plan.processes; number += 1) await this.#begin(number);
  }

  /** Moves virtual time in steps until the condition holds, but at most `maxMs`. */
  async runUntil(isDone: () => Promise<boolean>, maxMs: number): Promise<boolean> {
    for (const end = this.nowMs + maxMs; this.nowMs < end;) {
      await this.#db.clock.move(500, () => this.#still());
      if (await isDone()) return true;
    }
    return false;
  }

  async advance(ms: number): Promise<void> {
    await this.#db.clock.move(ms, () => this.#still());
  }

  /** The most runs at one moment. */
  get mostAtOnce(): number {
    const beside = ({ from }: FleetRun): FleetRun[] =>
      this.runs.filter((other) => other.from <= from && other.until > from);
    return Math.max(0, ...this.runs.map((run) => beside(run).length));
  }

  /** Kills a process from outside. */
  kill(number: number): void {
    const process = this.#processes.get(number);
    if (process === undefined || process.isDead) return;
    this.deaths.outside += 1;
    this.#die(process);
  }

  /** Every process dies at the same moment. */
  killAll(): void {
    for (const number of this.#processes.keys()) this.kill(number);
  }

  close(): void {
    this.#isClosing = true;
    for (const process of this.#processes.values()) process.isDead = true;
  }

  #die(process: Process): void {
    process.isDead = true;
    if (this.#isClosing) return;
    this.#db.clock.after(RESTART_MS, () => void this.#begin(process.number));
  }

  async #begin(number: number): Promise<void> {
    if (this.#isClosing) return;
    const process: Process = { number, pid: this.#pids.size + 1, isDead: false };
    this.#pids.set(process.pid, process);
    this.#processes.set(number, process);
    const unopened = inChunks(this.#db.unopened(), this.#plan.rescueChunk);
    const store = this.#mortal(process, this.#traffic.through(unopened));
    await store.open();
    const client = this.#clientOn(store);
    const isAlive = (pid: number): boolean => this.#pids.get(pid)?.isDead === false;
    const shared = new HostProcess(client.jobDefaults.newId(), { pid: process.pid, isAlive });
    for (const slots of this.#plan.workers) this.#work(process, client, shared, slots);
  }

  #work(
    process: Process,
    client: Client,
    shared: HostProcess,
    slots: FleetPlan["workers"][number],
  ): void {
    const lanes = typeof slots === "number" ? { general: slots } : slots;
    const jobs = Object.values(contracts).map((contract) =>
      contract.run((payload, ctx) => this.#handle(process, payload, ctx)),
    );
    const settings = settingsOf({ jobs, lanes, lease: LEASE_MS });
    client.learn(settings.definitions.values(), settings.preset.retry);
    const { jobDefaults } = client;
    const parts = { ...client.parts, jobDefaults, settings, version: "blame", process: shared };
    this.workers.push(new JobWorker(parts));
  }

  async #handle(process: Process, given: Work, ctx: Ctx): Promise<void> {
    if (given.isUnit !== true) return this.#carryOut(process, given, ctx);
    void ctx.step("unit", () => this.#carryOut(process, given, ctx));
    await once(ctx.signal, "abort");
  }

  async #carryOut(process: Process, { ms, diesAfterMs }: Work, ctx: Ctx): Promise<void> {
    const run: FleetRun = { id: ctx.job.id, from: this.nowMs, until: Infinity };
    this.runs.push(run);
    await wait(this.#db.clock, diesAfterMs ?? ms);
    if (!process.isDead) run.until = this.nowMs;
    if (diesAfterMs === undefined || process.isDead) return;
    this.deaths.own += 1;
    this.#die(process);
  }

  #clientOn(store: JobStore): Client {
    const dice = this.#dice;
    const log = (message: string): void => void this.logged.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const { clock } = this.#db;
    return new Client({ store, clock, dice, logger, tenant: "default", preset: defaults });
  }

  /** After death no call has an effect or an answer. A call under way may still have its effect. */
  #mortal(process: Process, store: JobStore): JobStore {
    return wrapStore(
      store,
      () => async (call) => {
        if (process.isDead) return silence();
        const answer: unknown = await call();
        return process.isDead ? silence() : answer;
      },
      { watch: (listener) => store.watch((wakeUp) => void (process.isDead || listener(wakeUp))) },
    );
  }

  async #still(): Promise<void> {
    for (let still = 0; still < STILL_TURNS;) {
      const { calls } = this.#traffic;
      await setImmediate();
      still = this.#traffic.open === 0 && this.#traffic.calls === calls ? still + 1 : 0;
    }
  }
}

/** A dead process with more runs than a chunk needs several rescues. */
function inChunks(store: JobStore, chunk = Infinity): JobStore {
  const rescue: VerbWrapper = (_, [request]) =>
    store.rescue({ ...request, limit: Math.min(request.limit, chunk) });
  return wrapStore(store, (verb) => (verb === "rescue" ? rescue : null));
}

function silence(): Promise<never> {
  return new Promise(() => {});
}
