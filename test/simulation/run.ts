/**
 * One simulation from its plan to its verdict. The plan runs with all its faults; then all faults
 * end. Within a bound of virtual time every job must be final, and every worker must stop and leave
 * no lease.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { act, openGates } from "./plan/actions.ts";
import { textOf } from "./checks/answers.ts";
import { Fleet } from "./fleet/fleet.ts";
import { contractFor, contracts, PRESET } from "./fleet/jobs.ts";
import type { Rules } from "./checks/invariants.ts";
import type { Plan } from "./plan/plan.ts";
import { punctuality } from "./checks/punctuality.ts";
import { closeInPeace, resetBreakers, runInPeace } from "./checks/control/peace.ts";
import { tickInPeace } from "./checks/schedule-peace.ts";
import { RetentionRules } from "./fleet/retention.ts";
import { finalState, hexOf } from "./checks/snapshot.ts";
import type { ActionContext } from "./plan/action-context.ts";
import { installHooks } from "./fleet/sqlite-hooks.ts";
import { Watch } from "./checks/watch.ts";
import { takeOverTime, World } from "./fleet/world.ts";

export interface Verdict {
  readonly seed: number;
  readonly hash: string;
  readonly steps: number;
  readonly virtualMs: number;
  readonly violations: readonly string[];
  readonly counters: ReadonlyMap<string, number>;
}

/** Beyond ten leases: longest delays, timeouts and attempts of a job. */
const HEAL_MS = 120_000;
/** How often an operator looks after the gates. */
const OPERATOR_MS = 5_000;
/** More than the slowest step takes. */
const LAST_OPERATIONS_MS = 20_000;
/** Jobs that are enqueued after the faults have ended. */
const CALM_OPERATIONS = 6;
const CALM_MS = 4_000;
/** A poll, a claim, a run and its end. */
const ROLL_CALL_MS = 5_000;
const IDLE_MS = 1_500;
/** The maximum of store calls by an idle worker. */
const IDLE_VERBS_PER_SECOND = 40;
/** Beyond its grace: more than the steps of a stop take. */
const STOP_MS = 4_000;
const VIOLATIONS_MAX = 20;
/** Faults that make clocks tell another time than the one that has passed. */
const CLOCK_FAULTS: ReadonlySet<string> = new Set(["jump", "leap", "skew", "lateRescue"]);

const RULES: Omit<Rules, "leaseMs" | "retention"> = {
  crashCap: PRESET.retry.crashCap,
  deadLetterMs: PRESET.retention.deadLetterMs,
  idempotencyMs: PRESET.retention.idempotencyMs,
};

export async function simulate(plan: Plan, tell?: (line: string) => void): Promise<Verdict> {
  const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(join(root, "millrace-simulation-"));
  try {
    const path = join(folder, "jobs.db");
    template ??= await emptyStore(path);
    writeFileSync(path, template);
    return await unfold(plan, path, tell ?? null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A store without jobs, made once: every simulation begins with a copy. */
let template: Uint8Array | null = null;

async function emptyStore(path: string): Promise<Uint8Array> {
  const store = makeSqliteStore({ path });
  await store.open();
  await store.close();
  return readFileSync(path);
}

async function unfold(
  plan: Plan,
  path: string,
  tell: ((line: string) => void) | null,
): Promise<Verdict> {
  const world = new World(plan.seed, tell);
  const violations: string[] = [];
  const counters = new Map<string, number>();
  const count = (name: string): void => void counters.set(name, (counters.get(name) ?? 0) + 1);
  const report = (invariant: string, what: string): void => {
    if (violations.length < VIOLATIONS_MAX) violations.push(`${invariant}: ${what}`);
    world.note(`VIOLATION ${invariant}: ${what}`);
  };
  const retention = new RetentionRules(plan.retention, world, count);
  const rules = { ...RULES, leaseMs: plan.leaseMs, retention };
  const mayLosePower = plan.actions.some(({ kind }) => kind === "powerLoss");
  const isPowerAtRisk = (): boolean => mayLosePower && world.elapsedMs < plan.lengthMs;
  const watch = new Watch({ world, path, rules, report, count, isPowerAtRisk });
  watch.limits.isSteady = !plan.actions.some(({ kind }) => CLOCK_FAULTS.has(kind));
  const fleet = new Fleet({ world, watch, plan, path, retention, report, count });
  const rejected = (error: unknown): void => report("I22", `a rejection: ${String(error)}`);
  const removeHooks = installHooks(watch);
  const giveBack = takeOverTime(world, (what) => report("determinism", what));
  process.on("unhandledRejection", rejected);
  try {
    const life = { world, watch, fleet, plan, path, retention, count, report };
    await live(life, () => violations.length > 0);
  } finally {
    giveBack();
    removeHooks();
    process.off("unhandledRejection", rejected);
    for (const member of world.living) watch.close(member);
  }
  const { hash, steps, elapsedMs: virtualMs } = world;
  return { seed: plan.seed, hash, steps, virtualMs, violations, counters };
}

interface Life extends Omit<ActionContext, "restart" | "soon"> {
  readonly report: (invariant: string, what: string) => void;
}

async function live(life: Life, isBroken: () => boolean): Promise<void> {
  const { world, fleet, plan } = life;
  const driver = world.process("plan");
  const restart = (role: string, ms: number): void => {
    driver.later(ms, `${role} comes again`, () => {
      if (!fleet.has(role)) fleet.start(role);
    });
  };
  const soon = (label: string, work: () => void): void => void driver.later(0, label, work);
  fleet.restart = restart;
  const roles = [
    "asker1",
    "asker2",
    ...Array.from({ length: plan.workers }, (_, index) => `worker${index + 1}`),
  ];
  for (const role of roles) fleet.start(role);
  for (const action of plan.actions) {
    driver.later(action.atMs, "plan", () => act({ ...life, restart, soon }, action));
  }
  const phases = [
    () => world.run(plan.lengthMs, isBroken),
    () => heal(life, roles, isBroken),
    () => (plan.hasSchedules === true ? tickInPeace(life, isBroken) : Promise.resolve()),
    () => drain(life, isBroken),
    () => (plan.hasServices === true ? closeInPeace(life, isBroken) : Promise.resolve()),
    () => (plan.hasLimits === true ? runInPeace(life, isBroken) : Promise.resolve()),
    () => callRoll(life, isBroken),
    () => idle(life, isBroken),
    () => stopAll(life, isBroken),
    async () => finalCheck(life),
  ];
  for (const phase of phases) {
    if (isBroken()) return;
    await phase();
  }
}

/** Ends all faults: dead processes restart, frozen ones continue, and all gates are opened. */
async function heal(life: Life, roles: readonly string[], isBroken: () => boolean): Promise<void> {
  const { world, watch, fleet } = life;
  world.note("heals");
  fleet.healedAtMs = world.elapsedMs;
  fleet.slow = { untilMs: 0, share: 0 };
  fleet.services.heal();
  fleet.heal();
  watch.heal();
  for (const process of world.living) {
    process.pausedUntil = Math.min(process.pausedUntil, world.elapsedMs);
    process.skewMs = 0;
  }
  // Delayed operations complete first, so that their effects are healed as well.
  const isThrough = (): boolean => isBroken() || world.living.every(({ pending }) => pending === 0);
  await world.run(world.elapsedMs + LAST_OPERATIONS_MS, isThrough);
  for (const { process, workers } of fleet.members.values()) {
    // A quiet worker takes no new work until it is replaced.
    const isQuiet = workers.some(
      ({ worker }) => watch.committed.workers.get(hexOf(worker.id))?.quiet === 1,
    );
    if (isQuiet || fleet.answers.quieted.has(process)) fleet.crash(process);
  }
  for (const role of roles) if (!fleet.has(role)) fleet.start(role);
  await world.run(world.elapsedMs + 1_000, isBroken);
  fleet.healedAtMs = world.elapsedMs;
  const asker = fleet.members.get("asker1");
  asker?.process.later(0, "opens gates", () => void openGates(asker, fleet.answers.pauses));
  if (life.plan.hasServices !== true) return;
  asker?.process.later(0, "resets breakers", () => void resetBreakers(asker));
}

/** New jobs are enqueued, and every job must be final in time. */
async function drain(life: Life, isBroken: () => boolean): Promise<void> {
  const { world, fleet, plan, report } = life;
  const { chance } = world;
  for (let left = CALM_OPERATIONS; left > 0; left -= 1) {
    const asker = fleet.members.get(`asker${1 + (left % 2)}`);
    const delay = chance.random() < 0.5 ? 0 : Math.floor(chance.random() ** 2 * 9_000);
    const payload = { token: left, runs: ["ok"] as const, ms: 10 };
    const contract = contracts[left % contracts.length] ?? contracts[0];
    asker?.process.later(chance.random() * CALM_MS, "calm", () => {
      const done = asker.client.enqueue(contract, payload, { delay });
      done.catch((error: unknown) => report("I21", `a healthy store refuses: ${textOf(error)}`));
    });
  }
  const startedAt = world.elapsedMs;
  const backMs = plan.actions.filter(({ kind }) => kind === "jump" || kind === "skew").length;
  const drainMs = 10 * plan.leaseMs + HEAL_MS + backMs * 10_000;
  // An operator opens gates that crashes have closed, and does not wait for probes. The operator
  // also restarts processes that cannot be emptied for a job.
  for (let ms = OPERATOR_MS; ms < drainMs; ms += OPERATOR_MS) {
    const asker = fleet.members.get("asker1");
    asker?.process.later(ms, "operator looks", () => {
      void openGates(asker, fleet.answers.pauses);
      fleet.restartHindered();
    });
  }
  const punctual = punctuality(life);
  const isOver = (): boolean => {
    if (isBroken() || world.steps % 20 !== 0) return isBroken();
    punctual();
    return world.elapsedMs > startedAt + CALM_MS + 1_000 && unfinished(life) === 0;
  };
  await world.run(startedAt + drainMs, isOver);
  if (!isBroken() && unfinished(life) > 0) {
    report("I21", `${unfinished(life)} job(s) are not over long after everything healed`);
  }
}

function unfinished({ watch: { committed } }: Life): number {
  let count = 0;
  for (const key of committed.jobs.keys()) if (finalState(committed, key) === null) count += 1;
  return count;
}

/** Every worker runs a job of a type that only it takes. */
async function callRoll(life: Life, isBroken: () => boolean): Promise<void> {
  const { world, fleet, report } = life;
  const asker = fleet.members.get("asker2");
  const workers = [...fleet.members.values()].flatMap((member) => member.workers);
  let asked = 0;
  for (const { role } of workers) {
    asker?.process.later(0, "calls the roll", () => {
      const payload = { token: 0, runs: ["ok"] as const, ms: 1 };
      asker.client.enqueue(contractFor(role), payload).then(
        () => (asked += 1),
        (error: unknown) => report("I21", `a healthy store refuses: ${textOf(error)}`),
      );
    });
  }
  const isOver = (): boolean => isBroken() || (asked === workers.length && unfinished(life) === 0);
  await world.run(world.elapsedMs + ROLL_CALL_MS, isOver);
  if (!isOver()) report("I21", `${unfinished(life)} worker(s) do not take what waits for them`);
}

/** Idle workers seldom call the store, and hold no lease. */
async function idle(
  { world, watch, fleet, plan, report }: Life,
  isBroken: () => boolean,
): Promise<void> {
  await world.run(world.elapsedMs + IDLE_MS, isBroken);
  const before = new Map(
    [...fleet.members.values()].map(({ process }) => [process, process.verbs]),
  );
  await world.run(world.elapsedMs + IDLE_MS, isBroken);
  for (const [process, verbs] of before) {
    const perSecond = (process.verbs - verbs) / (IDLE_MS / 1_000) / plan.workersPerProcess;
    if (perSecond > IDLE_VERBS_PER_SECOND) {
      report("I22", `${process.name} asks the store ${perSecond} times a second for nothing`);
    }
  }
  // The lease of a dead worker waits for the next rescue.
  for (const { number, worker } of watch.committed.leases.values()) {
    const isAlive = watch.workers.get(worker)?.isAlive === true;
    if (isAlive && !isBroken()) report("I22", `lease ${number} holds nothing and stays`);
  }
}

async function stopAll({ world, watch, fleet, plan, report }: Life, isBroken: () => boolean) {
  let open = 0;
  for (const { workers, process } of fleet.members.values()) {
    for (const { worker } of workers) {
      open += 1;
      process.later(0, "stops", () => {
        worker.stop().then(
          () => (open -= 1),
          (error: unknown) => report("I24", `a worker did not stop well: ${String(error)}`),
        );
      });
    }
  }
  const untilMs = world.elapsedMs + plan.graceMs + STOP_MS;
  await world.run(untilMs, () => open === 0 || isBroken());
  if (open > 0 && !isBroken()) report("I24", `${open} worker(s) did not stop in time`);
  for (const { role, worker } of [...fleet.members.values()].flatMap(({ workers }) => workers)) {
    const id = hexOf(worker.id);
    const isLeft = [...watch.committed.leases.values()].some((lease) => lease.worker === id);
    if (isLeft && !isBroken()) report("I24", `${role} has left a lease behind`);
    if (watch.committed.workers.has(id) && !isBroken()) report("I24", `${role} has not left`);
  }
}

/** Each started run is in the ledger, and nothing acknowledged is lost. */
function finalCheck({ watch, fleet, report }: Life): void {
  const { keys, attempts } = watch.committed;
  for (const [id, fences] of fleet.answers.starts) {
    const key = keys.get(id);
    if (key === undefined) continue;
    const known = new Set(attempts.get(key)?.map(({ fence }) => fence));
    for (const fence of fences) {
      if (known.has(fence)) continue;
      report("I7", `a run of job ${key} under fence ${fence} is not in the ledger`);
    }
  }
  fleet.answers.checkSurvived();
  watch.compare();
}
