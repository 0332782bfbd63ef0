/**
 * One simulation from its plan to its verdict: the plan unfolds with all its faults, then
 * everything heals, and within a bound of virtual time every job must be over and every worker must
 * stop and leave nothing behind.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSqliteStore } from "../../src/store/sqlite/make.ts";
import { act, type Stage } from "./actions.ts";
import { House, PRESET } from "./house.ts";
import type { Rules } from "./invariants.ts";
import type { Plan } from "./plan.ts";
import { finalState } from "./snapshot.ts";
import { tap } from "./taps.ts";
import { Watch } from "./watch.ts";
import { takeOverTime, World } from "./world.ts";

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
/** More than the slowest step takes. */
const LAST_OPERATIONS_MS = 16_000;
/** A few looks of the promoter. */
const LATE_MS_MAX = 5_000;
const STOP_MS = 2_000 + 5_000 + 5_000 + 2_000;
const VIOLATIONS_MAX = 20;

const RULES: Omit<Rules, "leaseMs"> = {
  crashCap: PRESET.retry.crashCap,
  finishedMs: {
    4: PRESET.retention.finishedMs.completed,
    5: PRESET.retention.finishedMs.completed_with_errors,
    6: PRESET.retention.finishedMs.failed,
    7: PRESET.retention.finishedMs.cancelled,
  },
  deadLetterMs: PRESET.retention.deadLetterMs,
  idempotencyMs: PRESET.retention.idempotencyMs,
};

export async function simulate(plan: Plan, tell?: (line: string) => void): Promise<Verdict> {
  const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = mkdtempSync(join(root, "millrace-simulation-"));
  try {
    const path = join(folder, "jobs.db");
    const store = makeSqliteStore({ path });
    await store.open();
    await store.close();
    return await unfold(plan, path, tell ?? null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
  const rules = { ...RULES, leaseMs: plan.leaseMs };
  const watch = new Watch({ world, path, rules, report, count });
  const house = new House({ world, watch, plan, path, report, count });
  const rejected = (error: unknown): void => report("I22", `a rejection: ${String(error)}`);
  const untap = tap(watch);
  const giveBack = takeOverTime(world, (what) => report("determinism", what));
  process.on("unhandledRejection", rejected);
  try {
    await live({ world, watch, house, plan, path, count, report }, () => violations.length > 0);
  } finally {
    giveBack();
    untap();
    process.off("unhandledRejection", rejected);
    for (const member of world.living) watch.close(member);
  }
  const { hash, steps, elapsedMs: virtualMs } = world;
  return { seed: plan.seed, hash, steps, virtualMs, violations, counters };
}

interface Life extends Omit<Stage, "restart"> {
  readonly report: (invariant: string, what: string) => void;
}

async function live(life: Life, isBroken: () => boolean): Promise<void> {
  const { world, house, plan } = life;
  const driver = world.process("plan");
  const restart = (role: string, ms: number): void => {
    driver.later(ms, `${role} comes again`, () => {
      if (!house.members.has(role)) void house.start(role);
    });
  };
  const roles = [
    "asker1",
    "asker2",
    ...Array.from({ length: plan.workers }, (_, index) => `worker${index + 1}`),
  ];
  for (const role of roles) await house.start(role);
  for (const action of plan.actions) {
    driver.later(action.atMs, "plan", () => act({ ...life, restart }, action));
  }
  await world.run(plan.lengthMs, isBroken);
  if (isBroken()) return;
  await heal(life, roles, isBroken);
  if (isBroken()) return;
  await stopAll(life, isBroken);
  if (!isBroken()) lastLook(life);
}

/** No more faults: whoever is dead comes again, whoever sleeps wakes, and every gate opens. */
async function heal(life: Life, roles: readonly string[], isBroken: () => boolean) {
  const { world, watch, house, plan, report } = life;
  world.note("heals");
  house.healedAtMs = world.elapsedMs;
  house.slowUntil = 0;
  watch.heal();
  for (const process of world.living) Object.assign(process, { pausedUntil: 0, skewMs: 0 });
  // Operations that were held up go through first: what they leave behind is healed as well.
  await world.run(world.elapsedMs + LAST_OPERATIONS_MS, isBroken);
  house.healedAtMs = world.elapsedMs;
  for (const role of house.tainted) {
    const member = house.members.get(role);
    if (member !== undefined) house.crash(member.process);
  }
  for (const role of roles) if (!house.members.has(role)) await house.start(role);
  await world.run(world.elapsedMs + 1_000, isBroken);
  const asker = house.members.get("asker1");
  asker?.process.later(0, "opens all gates", () => {
    for (const gate of [{ type: "alpha" }, { lane: "fast" }, { tenant: "default" }]) {
      asker.client.resume(gate).catch(() => {});
    }
  });
  const backMs = plan.actions.filter(({ kind }) => kind === "jump" || kind === "skew").length;
  const untilMs = world.elapsedMs + 10 * plan.leaseMs + HEAL_MS + backMs * 20_000;
  const isOver = (): boolean => {
    if (isBroken() || world.steps % 20 !== 0) return isBroken();
    checkPunctual(life);
    return unfinished(life) === 0;
  };
  await world.run(untilMs, isOver);
  if (!isBroken() && unfinished(life) > 0) {
    report("I21", `${unfinished(life)} job(s) are not over long after everything healed`);
  }
}

/** Where a healthy worker looks at least once a second, nothing waits long beyond its time. */
function checkPunctual({ world, watch: { committed }, house, report }: Life): void {
  const asker = house.members.get("asker1");
  if (asker === undefined || world.elapsedMs < house.healedAtMs + LATE_MS_MAX) return;
  const lateMs = asker.process.clock.now() - LATE_MS_MAX;
  for (const { place, key, rank } of [...committed.places.values()].flat()) {
    const isLate = place === "scheduled" && rank / 1_000 < lateMs;
    if (isLate) report("I21", `job ${key} is due and nobody has noticed`);
  }
}

function unfinished({ watch: { committed } }: Life): number {
  return [...committed.jobs.keys()].filter((key) => finalState(committed, key) === null).length;
}

async function stopAll({ world, watch, house, report }: Life, isBroken: () => boolean) {
  let open = 0;
  for (const { worker, process } of house.members.values()) {
    if (worker === null) continue;
    open += 1;
    process.later(0, "stops", () => {
      worker.stop().then(
        () => (open -= 1),
        (error: unknown) => report("I24", `a worker did not stop well: ${String(error)}`),
      );
    });
  }
  const startedAt = world.elapsedMs;
  await world.run(startedAt + STOP_MS, () => open === 0 || isBroken());
  if (open > 0 && !isBroken()) report("I24", `${open} worker(s) did not stop in time`);
  // One of a worker that died before is for the next rescue.
  const stopped = new Set(
    [...house.members.values()].flatMap(({ worker }) => (worker ? [house.hex(worker.id)] : [])),
  );
  const left = [...watch.committed.leases.values()].filter((lease) => stopped.has(lease.worker));
  if (left.length > 0 && !isBroken()) report("I24", `${left.length} lease(s) are left behind`);
}

/** Each run that began is in the ledger, and what was acknowledged was not lost. */
function lastLook({ watch, house, report }: Life): void {
  const jobs = new Map([...watch.committed.jobs.values()].map((job) => [job.id, job]));
  for (const { id, fence } of house.starts) {
    const job = jobs.get(id);
    if (job === undefined) continue;
    const rows = watch.committed.attempts.get(job.key) ?? [];
    if (!rows.some((row) => row.fence === fence)) {
      report("I7", `a run of job ${job.key} under fence ${fence} is not in the ledger`);
    }
  }
}
