/** The simulated fleet: processes that come, die and come again, each with its own store handle. */
import { TransientError, NonRetryableError, defineJob, typed } from "millrace";
import { Client } from "../../src/client/client.ts";
import { idBytes } from "../../src/core/ids.ts";
import { defaults, type Preset } from "../../src/core/presets.ts";
import type { Context, Logger } from "../../src/face/context.ts";
import { settingsOf } from "../../src/runtime/settings.ts";
import { JobWorker } from "../../src/runtime/worker.ts";
import { makeSqliteStore } from "../../src/store/sqlite/make.ts";
import type { JobStore, SettleItem } from "../../src/store/store.ts";
import { isClosed, type Report } from "./invariants.ts";
import type { Behaviour, Plan } from "./plan.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Watch } from "./watch.ts";
import type { Process, World } from "./world.ts";

const SECOND_MS = 1_000;
const BACKOFF = {
  kind: "exponential",
  baseMs: 300,
  factor: 2,
  jitter: 0.2,
  capMs: 4 * SECOND_MS,
  jitterAt: "cap",
} as const;

/** Short waits and short memories, so that retries and retention happen within a simulation. */
export const PRESET: Preset = {
  ...defaults,
  retry: {
    ...defaults.retry,
    backoff: { transient: BACKOFF, retryable: BACKOFF, rate_limited: BACKOFF },
  },
  retention: {
    finishedMs: {
      completed: 15 * SECOND_MS,
      completed_with_errors: 15 * SECOND_MS,
      failed: 25 * SECOND_MS,
      cancelled: 10 * SECOND_MS,
    },
    deadLetterMs: 40 * SECOND_MS,
    idempotencyMs: 30 * SECOND_MS,
    eventMs: 20 * SECOND_MS,
  },
};

/** What nobody does any more once everything has healed. */
const ENDLESS: ReadonlySet<Behaviour> = new Set(["kill", "snooze", "deaf", "hang", "slow"]);

export interface Payload {
  readonly token: number;
  /** How each run goes; the last stands for all that follow. */
  readonly runs: readonly Behaviour[];
  readonly ms: number;
}

export const contracts = [
  defineJob({ type: "alpha", payload: typed<Payload>(), timeout: "4s" }),
  defineJob({ type: "beta", payload: typed<Payload>(), timeout: "4s", lane: "fast" }),
] as const;

/** One living process of the fleet. */
export interface Member {
  readonly role: string;
  readonly process: Process;
  readonly client: Client;
  readonly worker: JobWorker | null;
}

interface HouseParts {
  readonly world: World;
  readonly watch: Watch;
  readonly plan: Plan;
  readonly path: string;
  readonly report: Report;
  readonly count: (name: string) => void;
}

export class House {
  readonly members = new Map<string, Member>();
  /** What was asked of a job that was acknowledged, by the hex of its id. */
  readonly acked = new Map<string, { readonly payload: string | null }>();
  /** Handlers that began: which job, under which fence. */
  starts: readonly { readonly id: string; readonly fence: number }[] = [];
  /** Roles that hold something that nobody but their death gives back. */
  readonly tainted = new Set<string>();
  readonly #parts: HouseParts;
  readonly #settled = new Set<string>();
  slowUntil = 0;
  /** Infinity as long as there are faults. */
  healedAtMs = Infinity;
  #generation = 0;

  constructor(parts: HouseParts) {
    this.#parts = parts;
  }

  /** Starts a process: a worker, or one that only asks. */
  async start(role: string): Promise<void> {
    const { world, plan, path } = this.#parts;
    this.#generation += 1;
    const process = world.process(`${role}#${this.#generation}`);
    this.tainted.delete(role);
    process.later(0, "process begins", () => {
      const { dice } = process;
      const real = makeSqliteStore({ path }, { clock: this.#storeClock(process), dice });
      const begin = async (): Promise<void> => {
        await real.open();
        const store = this.#through(real, process, role);
        const logger = this.#logger();
        const { clock } = process;
        const parts = { store, clock, dice, logger, tenant: "default", preset: PRESET };
        const client = new Client(parts);
        const worker = role.startsWith("worker") ? this.#work(client, process, plan) : null;
        this.members.set(role, { role, process, client, worker });
      };
      begin().catch((error: unknown) => this.#parts.report("I18", `cannot open: ${text(error)}`));
    });
  }

  /** A process dies between two of its steps. */
  crash(process: Process): void {
    process.kill();
    this.#parts.watch.close(process);
    for (const [role, member] of this.members) {
      if (member.process === process) this.members.delete(role);
    }
  }

  /** A start that was not synced is lost with the power, and nobody is charged for it. */
  forgetLostStarts({ held, jobs }: Snapshot): void {
    const unstarted = [...held.values()].flat().filter(({ start }) => start === null);
    const lost = new Set(unstarted.map(({ key, fence }) => `${jobs.get(key)?.id}.${fence}`));
    this.starts = this.starts.filter(({ id, fence }) => !lost.has(`${id}.${fence}`));
  }

  violate(invariant: string, what: string): void {
    this.#parts.report(invariant, what);
  }

  hex(id: string): string {
    return Buffer.from(idBytes(id)).toString("hex").toUpperCase();
  }

  #work(client: Client, process: Process, { leaseMs, slots }: Plan): JobWorker {
    const jobs = contracts.map((contract) =>
      contract.run((payload, ctx) => this.#handle(process, payload, ctx)),
    );
    const lanes = { fast: 1, general: slots };
    const options = { jobs, lanes, lease: leaseMs, poll: 1_000, grace: 2_000, preset: PRESET };
    const settings = settingsOf(options);
    client.learn(settings.definitions.values(), settings.preset.retry);
    const worker = new JobWorker({ client, settings, version: "simulated" });
    this.#parts.watch.workers.set(this.hex(worker.id), process);
    return worker;
  }

  /** The looks for changes of others are stretched, or lost altogether. */
  #storeClock(process: Process): Process["clock"] {
    const { lookMs } = this.#parts.plan;
    const { clock } = process;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, wake) => clock.after(ms === 25 ? (lookMs ?? Infinity) : ms, wake),
    };
  }

  #logger(): Logger {
    const { world } = this.#parts;
    const at =
      (level: string) =>
      (message: string, fields: object = {}): void => {
        const error = "error" in fields ? `: ${text(fields.error)}` : "";
        world.note(`${level} ${message}${error}`);
      };
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }

  /** Every verb is a step of its process, before it is done and before its answer arrives. */
  #through(real: JobStore, process: Process, role: string): JobStore {
    return new Proxy(real, {
      get: (target, verb) => {
        const member: unknown = Reflect.get(target, verb, target);
        if (typeof member !== "function" || typeof verb !== "string") return member;
        const call = (args: readonly unknown[]): any => Reflect.apply(member, target, args);
        if (["watch", "close", "onNotice", "enqueueInside"].includes(verb)) {
          return (...args: readonly unknown[]) => call(args);
        }
        return async (...args: readonly unknown[]) => {
          await process.sleep(this.#delay(), verb);
          try {
            const answer: unknown = await call(args);
            this.#heard(process, verb, args, answer);
            await process.sleep(this.#delay(), `${verb} answers`);
            return answer;
          } catch (error) {
            this.#refused(verb, args, error, role);
            await process.sleep(this.#delay(), `${verb} fails`);
            throw error;
          }
        };
      },
    });
  }

  #delay(): number {
    const { world, plan } = this.#parts;
    const chance = world.chance.random();
    if (world.elapsedMs < this.slowUntil && chance < 0.1) return plan.leaseMs * 12 * chance;
    if (chance < 0.7) return 0;
    return chance < 0.95 ? Math.floor((chance - 0.7) * 80) : Math.floor((chance - 0.95) * 6_000);
  }

  #heard(process: Process, verb: string, args: readonly any[], answer: any): void {
    if (verb === "settle") this.#heardSettle(args[0], answer);
    if (verb === "claim" && answer.lost) this.#parts.count("claim of a worker without a lease");
    if (verb === "renew" && answer.status === "lost")
      this.#parts.count("heartbeat of a lost worker");
    if (verb === "cancel" && answer.status === "requested") {
      this.#parts.count("running job asked to be cancelled");
    }
    if (verb === "start" && answer.status === "stale") this.#parts.count("stale start refused");
    if (verb === "rescue" && !answer.done) this.#parts.count("rescue came too late");
    if (verb === "enqueue") this.#heardEnqueue(args[0], answer);
    if (verb === "pause") this.#checkGate(args[0], process);
  }

  /** Once a pause is acknowledged, its gate is closed. */
  #checkGate({ name }: { readonly name: string }, process: Process): void {
    const { watch, report } = this.#parts;
    const ids = [...watch.committed.names].filter(([, known]) => known === name);
    const nowMs = process.clock.now();
    if (ids.some(([id]) => isClosed(watch.committed, id, nowMs))) return;
    report("I8", `the gate ${name} was closed, and stands open`);
  }

  #heardEnqueue(jobs: readonly any[], answers: readonly any[]): void {
    const { watch, report, count } = this.#parts;
    answers.forEach((answer, index) => {
      if (answer.status === "existing") count(`existing by ${answer.by}`);
      if (answer.status === "refused") count("key conflict refused");
      if (answer.status !== "created") return;
      const id = this.hex(answer.id);
      const row = [...watch.committed.jobs.values()].find((job) => job.id === id);
      if (row === undefined) report("I1", `job ${id} was acknowledged and is not there`);
      else if (row.payload !== jobs[index].payload) report("I17", `job ${id} has another payload`);
      this.acked.set(id, { payload: jobs[index].payload });
    });
  }

  #heardSettle(items: readonly SettleItem[], answers: readonly string[]): void {
    const { watch, report, count } = this.#parts;
    items.forEach(({ key, n, lease, settlement }, index) => {
      const row = watch.committed.attempts.get(key)?.find((attempt) => attempt.n === n);
      if (answers[index] === "stale") count("stale settlement refused");
      if (answers[index] === "stale" && row?.outcome === 4) count("late settlement after a rescue");
      if (answers[index] === "refused") report("I17", `the end of job ${key} was refused`);
      if (answers[index] !== "settled") return;
      if (this.#settled.has(`${key}.${n}`)) report("I4", `job ${key} ended run ${n} twice`);
      this.#settled.add(`${key}.${n}`);
      const isGone = !watch.committed.jobs.has(key);
      const isTold = row?.fence === lease.number || isGone;
      if (!isTold) report("I1", `the end of job ${key} was acknowledged, not kept`);
      if (row !== undefined && settlement.to === "completed" && row.state !== 4) {
        report("I4", `job ${key} has completed, and the ledger says otherwise`);
      }
    });
  }

  #refused(verb: string, args: readonly any[], error: unknown, role: string): void {
    const { watch, report } = this.#parts;
    const isPlanted = text(error).includes("planted:");
    const isDone = text(error).includes("all is written");
    // Nobody knows of these jobs, and their lease stands as long as the worker beats.
    if (verb === "claim" && isDone) this.tainted.add(role);
    if (verb !== "enqueue" || !isPlanted || isDone) return;
    const ids = new Set(args[0].map((job: { id: string }) => this.hex(job.id)));
    for (const job of watch.committed.jobs.values()) {
      if (ids.has(job.id) && !this.acked.has(job.id)) {
        report("I2", `job ${job.key} was refused and is there`);
      }
    }
  }

  async #handle(process: Process, payload: Payload, ctx: Context<unknown, unknown>) {
    const { world, count } = this.#parts;
    const { fence } = ctx.lease;
    const id = this.hex(ctx.job.id);
    const earlier = this.starts.filter((start) => start.id === id).length;
    const behaviour = payload.runs[Math.min(earlier, payload.runs.length - 1)] ?? "ok";
    this.starts = [...this.starts, { id, fence }];
    this.#checkStart(id, fence, payload);
    world.note(`handler ${payload.token} ${behaviour} fence ${fence}`);
    count(`handler: ${behaviour}`);
    const isHealed = world.elapsedMs >= this.healedAtMs;
    await behave(isHealed && ENDLESS.has(behaviour) ? "ok" : behaviour, {
      sleep: (ms) => process.sleep(ms, "handler"),
      kill: () => this.crash(process),
      payload,
      ctx,
    });
    return `done ${fence}`;
  }

  #checkStart(id: string, fence: number, payload: Payload): void {
    const { watch, report, count } = this.#parts;
    const { committed } = watch;
    const accepted = this.acked.get(id)?.payload;
    if (accepted !== undefined && accepted !== JSON.stringify(payload)) {
      report("I17", `a handler of job ${id} was given another payload`);
    }
    const job = [...committed.jobs.values()].find((row) => row.id === id);
    if (job === undefined) return;
    const held = committed.held.get(job.key)?.find((run) => run.fence === fence);
    if (held?.start === null) report("I7", `job ${job.key} began, and the store does not know`);
    if (held !== undefined) return;
    const isEnded = committed.attempts.get(job.key)?.some((row) => row.fence === fence);
    if (isEnded) count("zombie began a run that was already ended");
    else report("I8", `job ${job.key} began without a lease on it`);
  }
}

interface Stage {
  readonly sleep: (ms: number) => Promise<void>;
  readonly kill: () => void;
  readonly payload: Payload;
  readonly ctx: Context<unknown, unknown>;
}

/** How a handler spends its run. */
async function behave(behaviour: Behaviour, { sleep, kill, payload, ctx }: Stage): Promise<void> {
  switch (behaviour) {
    case "ok":
      return sleep(payload.ms % 50);
    case "slow":
      return sleep(payload.ms);
    case "throw":
      await sleep(payload.ms % 200);
      throw new Error("planted");
    case "transient":
      throw new TransientError("planted");
    case "fatal":
      throw new NonRetryableError("planted");
    case "hang":
      return untilAborted(ctx.signal);
    case "deaf":
      return new Promise(() => {});
    case "snooze":
      return ctx.snooze(200 + (payload.ms % 2_000));
    case "kill":
      await sleep(payload.ms % 100);
      kill();
      return new Promise(() => {});
    case "child":
      await ctx.enqueue(contracts[0], { token: payload.token + 1_000, runs: ["ok"], ms: 5 });
      return sleep(payload.ms % 50);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** What an error says, without the folder of this run. */
export function text(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/\S*millrace-simulation-\w+\//g, "");
}
