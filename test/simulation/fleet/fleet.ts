/** The simulated fleet: processes that start, die and restart, each with its own store. */
import { Client } from "../../../src/client/client.ts";
import type { Context, Logger } from "../../../src/api/context.ts";
import { settingsOf } from "../../../src/runtime/settings.ts";
import { HostProcess } from "../../../src/runtime/crashes/host-process.ts";
import { CANNOT_EMPTY } from "../../../src/runtime/crashes/lone-runs.ts";
import { JobWorker } from "../../../src/runtime/worker.ts";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { VERBS } from "../../../src/store/verbs.ts";
import { Answers, textOf } from "../checks/answers.ts";
import { checkFamily } from "../checks/families.ts";
import { Effects, type Actor } from "./effects.ts";
import type { Report } from "../checks/invariants.ts";
import { MarkedRuns } from "../checks/marked-runs.ts";
import { contractFor, contracts, ENDLESS, PRESET, type Payload } from "./jobs.ts";
import { declared } from "./schedules.ts";
import { SideBySide } from "./side-by-side.ts";
import { narrowContract } from "./limits.ts";
import { serviceContracts, Services } from "./services.ts";
import { carryOut, carryOutPhase, PHASES, pipelines, type Bench } from "./pipelines.ts";
import type { Behaviour, Plan } from "../plan/plan.ts";
import type { RetentionRules } from "./retention.ts";
import { hexOf } from "../checks/snapshot.ts";
import type { Watch } from "../checks/watch.ts";
import type { Process, World } from "./world.ts";

const POLL_MS = 1_000;
const RESTART_MS = 300;
/** The slots of the lane `fast`. */
const FAST_SLOTS = 1;

/** A worker, and the role whose jobs only this worker takes. */
export interface RoleWorker {
  readonly role: string;
  readonly worker: JobWorker;
}

/** One living process of the fleet. */
export interface Member {
  readonly role: string;
  readonly process: Process;
  readonly client: Client;
  /** None: a process that only asks. */
  readonly workers: readonly RoleWorker[];
  isStopping: boolean;
  hasStopped: boolean;
}

interface FleetParts {
  readonly world: World;
  readonly watch: Watch;
  readonly plan: Plan;
  readonly path: string;
  readonly retention: RetentionRules;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** The context of any handler. */
type Ctx = Context<unknown, unknown>;

/** Where a worker lives: the simulated process, and the engine's notion of it. */
interface Home {
  readonly process: Process;
  readonly host: HostProcess;
}

export class Fleet {
  readonly members = new Map<string, Member>();
  readonly answers: Answers;
  readonly effects: Effects;
  readonly marked: MarkedRuns;
  readonly services: Services;
  readonly #parts: FleetParts;
  /** How runs of pipelines go, by job and fence. */
  readonly #courses = new Map<string, Behaviour>();
  readonly #starting = new Set<string>();
  readonly #sideBySide: SideBySide;
  /** Handlers that have not ended, and their signals. */
  readonly underWay = new Map<string, { readonly actor: Actor; readonly signal: AbortSignal }>();
  /** Processes whose log says that a job cannot run alone there before a restart. */
  readonly hindered = new Set<Process>();
  restart: (role: string, ms: number) => void = () => {};
  slow = { untilMs: 0, share: 0 };
  /** No rescue by this process reaches the store before then. */
  lateRescues: { readonly process: Process | null; readonly untilMs: number } = {
    process: null,
    untilMs: 0,
  };
  /** Infinity as long as there are faults. */
  healedAtMs = Infinity;
  readonly #healed = Promise.withResolvers<void>();
  #generation = 0;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.answers = new Answers(parts);
    const isStopping = (process: Process): boolean =>
      this.#memberOf(process).some((member) => member.isStopping);
    this.effects = new Effects({ ...parts, isStopping });
    this.marked = new MarkedRuns(parts);
    this.#sideBySide = new SideBySide(parts);
    const checks = this.answers.services;
    this.services = new Services({
      world: parts.world,
      calls: (actor, service) => checks.calls(actor, service),
      failed: (actor, service) => checks.failed(actor, service),
    });
  }

  /** Whether there is such a process, or will be in a moment. */
  has(role: string): boolean {
    return this.members.has(role) || this.#starting.has(role);
  }

  /** Starts a process: a worker, or one that only asks. */
  start(role: string): void {
    const { world, plan, path } = this.#parts;
    this.#generation += 1;
    this.#starting.add(role);
    const process = world.process(`${role}#${this.#generation}`);
    process.later(0, "process begins", () => {
      const { dice } = process;
      const real = makeSqliteStore({ path }, { clock: this.#storeClock(process), dice });
      const begin = async (): Promise<void> => {
        await real.open();
        this.#starting.delete(role);
        const store = this.#through(real, process);
        const logger = this.#logger(process);
        const { clock } = process;
        const parts = { store, clock, dice, logger, tenant: "default", preset: PRESET };
        const client = new Client(parts);
        const host = new HostProcess(client.jobDefaults.newId());
        const workers = rolesOf(role, plan).map((each) => ({
          role: each,
          worker: this.#work(client, { process, host }, each),
        }));
        const state = { isStopping: false, hasStopped: false };
        this.members.set(role, { role, process, client, workers, ...state });
      };
      begin().catch((error: unknown) => this.#parts.report("I18", `cannot open: ${textOf(error)}`));
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

  /** An operator restarts processes that need it. */
  restartHindered(): void {
    const { world } = this.#parts;
    for (const process of this.hindered) if (world.living.includes(process)) this.#kill(process);
    this.hindered.clear();
  }

  /** A handler or an operator kills a process; the plan starts another one. */
  #kill(process: Process): void {
    const role = process.name.split("#")[0] ?? "";
    this.crash(process);
    this.restart(role, RESTART_MS);
  }

  violate(invariant: string, what: string): void {
    this.#parts.report(invariant, what);
  }

  #work(client: Client, { process, host }: Home, role: string): JobWorker {
    const { leaseMs, slots, batch, graceMs, hasSchedules = false } = this.#parts.plan;
    const { hasServices = false, hasLimits = false } = this.#parts.plan;
    const limited = hasLimits ? [narrowContract(this.#generation)] : [];
    const plain = [...contracts, contractFor(role), ...limited].map((contract) =>
      contract.run((payload, ctx) =>
        this.#told(process, ctx, () => this.#handle(process, payload, ctx)),
      ),
    );
    const [fetch, units, publish] = PHASES;
    const phase = (of: Process, payload: Payload, ctx: Ctx, name: string): Promise<string> =>
      this.#told(of, ctx, () => this.#handlePhase(of, payload, ctx, name));
    const phased = pipelines.map((contract) =>
      contract
        .phase(fetch, (payload, ctx) => phase(process, payload, ctx, fetch))
        .phase(units, (payload, ctx) => phase(process, payload, ctx, units))
        .phase(publish, (payload, ctx) => phase(process, payload, ctx, publish)),
    );
    const calling = serviceContracts.map((contract) =>
      contract.run((payload, ctx) =>
        this.#told(process, ctx, () => this.#handleCalls(process, payload, ctx)),
      ),
    );
    const jobs = [...plain, ...phased, ...(hasServices ? calling : [])];
    const lanes = { fast: FAST_SLOTS, general: slots };
    const times = { lease: leaseMs, poll: POLL_MS, grace: graceMs };
    const retention = this.#parts.retention.options;
    const schedules = hasSchedules ? declared(this.#generation) : [];
    const options = { jobs, lanes, batch, ...times, preset: PRESET, retention, schedules };
    const settings = settingsOf(options);
    client.learn(settings.definitions.values(), settings.preset.retry);
    const worker = new JobWorker({
      ...client.parts,
      jobDefaults: client.jobDefaults,
      settings,
      version: "simulated",
      process: host,
    });
    this.#parts.watch.workers.set(hexOf(worker.id), process);
    return worker;
  }

  /** The signal of a run must be aborted when its lease has expired; a lone run has no company. */
  #told(process: Process, ctx: Ctx, work: () => Promise<string>): Promise<string> {
    const { job, lease, signal } = ctx;
    const handler = { process, id: hexOf(job.id), fence: lease.fence, signal };
    const { outages, loneRuns } = this.#parts.watch;
    return outages.watch(handler, () => loneRuns.watch(handler, work));
  }

  /** Polls for changes of other processes come later, or never. */
  #storeClock(process: Process): Process["clock"] {
    const { pollMs: lookMs } = this.#parts.plan;
    const { clock } = process;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (ms, wake) => clock.after(ms === 25 ? (lookMs ?? Infinity) : ms, wake),
    };
  }

  #logger(process: Process): Logger {
    const { world } = this.#parts;
    const at =
      (level: string) =>
      (message: string, fields: object = {}): void => {
        const error = "error" in fields ? `: ${textOf(fields.error)}` : "";
        world.note(`${level} ${message}${error}`);
        if (message === CANNOT_EMPTY) this.hindered.add(process);
      };
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }

  /** Makes every verb two steps of its process: before the call and before the answer. */
  #through(real: JobStore, process: Process): JobStore {
    return new Proxy(real, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        const call = (args: readonly unknown[]): any => Reflect.apply(member, target, args);
        const verb = VERBS.find((each) => each === name);
        if (verb === undefined) return (...args: readonly unknown[]) => call(args);
        if (verb === "close" || verb === "enqueueInTransaction") {
          return (...args: readonly unknown[]) => {
            this.answers.asking(verb, args);
            return call(args);
          };
        }
        return async (...args: readonly unknown[]) => {
          this.answers.asking(verb, args);
          process.verbs += 1;
          await process.sleep(this.#delay() + this.#lateness(process, verb), verb);
          try {
            const answer: unknown = await call(args);
            this.answers.answered(process, verb, args, answer);
            await process.sleep(this.#delay(), `${verb} answers`);
            this.marked.delivered(verb, args, answer);
            return answer;
          } catch (error) {
            this.answers.refused(process, verb, args, error);
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
    const { untilMs, share } = this.slow;
    if (world.elapsedMs < untilMs && chance < share) {
      // No call may be delayed beyond the end of the faults.
      return Math.min(plan.leaseMs * 1.5 * (chance / share), plan.lengthMs - world.elapsedMs);
    }
    if (chance < 0.7) return 0;
    return chance < 0.95 ? Math.floor((chance - 0.7) * 80) : Math.floor((chance - 0.95) * 6_000);
  }

  #lateness(process: Process, verb: string): number {
    const { world, plan } = this.#parts;
    const { process: late, untilMs } = this.lateRescues;
    if (verb !== "rescue" || process !== late) return 0;
    return Math.max(0, Math.min(untilMs, plan.lengthMs) - world.elapsedMs);
  }

  async #handle(process: Process, payload: Payload, ctx: Ctx): Promise<string> {
    const bench = this.#bench(process, payload, ctx, "");
    const behaviour = this.#begin(bench);
    const end = this.#sideBySide.begin(process);
    try {
      await this.#underKey(bench, () => carryOut(behaviour, bench));
    } finally {
      end();
    }
    return `done ${ctx.lease.fence}`;
  }

  /** The run of a job that calls services. */
  async #handleCalls(process: Process, payload: Payload, ctx: Ctx): Promise<string> {
    const bench = this.#bench(process, payload, ctx, "");
    const behaviour = this.#begin(bench);
    await this.#underKey(bench, () => this.services.carryOut(ctx.job.type, behaviour, bench));
    return `done ${ctx.lease.fence}`;
  }

  async #handlePhase(process: Process, payload: Payload, ctx: Ctx, phase: string): Promise<string> {
    const bench = this.#bench(process, payload, ctx, phase);
    const run = `${bench.actor.id}.${bench.actor.fence}`;
    const behaviour = this.#courses.get(run) ?? this.#begin(bench);
    this.#courses.set(run, behaviour);
    bench.turns("ok");
    await this.#underKey(bench, () => carryOutPhase(behaviour, bench));
    return `${phase} by ${ctx.lease.fence}`;
  }

  #bench(process: Process, payload: Payload, ctx: Ctx, phase: string): Bench {
    const { count } = this.#parts;
    const { effects } = this;
    const actor: Actor = { process, id: hexOf(ctx.job.id), fence: ctx.lease.fence };
    return {
      actor,
      effects,
      payload,
      ctx,
      phase,
      count,
      leaseMs: this.#parts.plan.leaseMs,
      healed: this.#healed.promise,
      sleep: (ms) => process.sleep(ms, "handler"),
      kill: () => this.#kill(process),
      turns: (behaviour) => this.answers.turns(actor, behaviour),
    };
  }

  /** A run begins. Answers how it goes. */
  #begin({ actor, payload }: Bench): Behaviour {
    const { world, count } = this.#parts;
    const { id, fence, process } = actor;
    const earlier = this.answers.starts.get(id)?.length ?? 0;
    const planned = payload.runs[Math.min(earlier, payload.runs.length - 1)] ?? "ok";
    const isHealed = world.elapsedMs >= this.healedAtMs;
    const isEndless = ENDLESS.has(planned) && payload.isCalm !== true;
    const behaviour = isHealed && isEndless ? "ok" : planned;
    const hasStopped = this.#memberOf(process).some((member) => member.hasStopped);
    this.answers.began({ id, fence, hasStopped }, behaviour, payload);
    this.marked.began(id, fence);
    this.#checkSlots(process);
    world.note(`handler ${payload.token} ${behaviour} fence ${fence}`);
    count(`handler: ${behaviour}`);
    return behaviour;
  }

  /** The member that runs as this process, if it has not been replaced. */
  #memberOf(process: Process): readonly Member[] {
    return [...this.members.values()].filter((member) => member.process === process);
  }

  /** Deaf handlers hear their signal from now on. */
  heal(): void {
    this.#healed.resolve();
  }

  /** A process has as many handlers as slots, without those that were told to stop. */
  #checkSlots(process: Process): void {
    const { slots, workersPerProcess } = this.#parts.plan;
    const handlers = [...this.underWay.values()].filter(({ actor, signal }) => {
      return actor.process === process && !signal.aborted;
    });
    const most = (slots + FAST_SLOTS) * workersPerProcess;
    if (handlers.length >= most) {
      this.violate("I22", `${process.name} has ${most} slots, and ${handlers.length + 1} runs`);
    }
  }

  /** Notes that the run works, and works under the key of its job. */
  async #underKey({ actor, ctx }: Bench, work: () => Promise<void>): Promise<void> {
    const run = `${actor.id}.${actor.fence}`;
    this.underWay.set(run, { actor, signal: ctx.signal });
    const { watch } = this.#parts;
    watch.limits.checkRunning(watch.committed, this.underWay.values());
    checkFamily(this.#parts, actor, this.underWay.values());
    const key = this.effects.standing(actor)?.job.concurrency ?? null;
    const leave = key === null ? () => {} : this.effects.enter(key, actor, "job");
    try {
      await work();
    } finally {
      leave();
      this.underWay.delete(run);
    }
  }
}

/** Two calls of `work` on one mill are two workers of one process. */
function rolesOf(role: string, { workersPerProcess }: Plan): readonly string[] {
  if (!role.startsWith("worker")) return [];
  return Array.from({ length: workersPerProcess }, (_, index) =>
    index === 0 ? role : `${role}.${index + 1}`,
  );
}
