/** With healthy workers, which poll at least once a second, no job waits long when it is due. */
import type { Fleet } from "../fleet/fleet.ts";
import { GATE_AFTER, GATE_KEY } from "./flows.ts";
import type { Report } from "./invariants.ts";
import type { NoteAnswers } from "./note-answers.ts";
import { isLimitGate, isServiceGateClosed, limitOfGate } from "./control/barriers.ts";
import { hexOf, isOver, type Snapshot } from "./snapshot.ts";
import type { Watch } from "./watch.ts";
import type { World } from "../fleet/world.ts";

/** A few ticks of the promoter. */
const LATE_MS_MAX = 3_500;
/** A heartbeat, and the grace for a handler that ignores its signal. */
const CANCEL_MS_MAX = 1_000 + 5_000 + 3_000;

interface PunctualityParts {
  readonly world: World;
  readonly watch: Watch;
  readonly fleet: Fleet;
  readonly report: Report;
}

/** Answers a check that is called now and then. */
export function punctuality({ world, watch, fleet, report }: PunctualityParts): () => void {
  const asked = new Map<number, number>();
  const idle = waits(world, () => idleJobs(watch.committed), LATE_MS_MAX);
  // A run that was asked to end waits for nothing any more, and takes as long as others to end.
  const unasked = waits(world, () => freeNames(watch, fleet.answers.notes), CANCEL_MS_MAX);
  const open = waits(world, () => openGates(watch.committed, nowOf(fleet)), LATE_MS_MAX);
  const untold = waits(world, () => untoldRuns(fleet), LATE_MS_MAX);
  return () => {
    const { committed } = watch;
    const { pauses } = fleet.answers;
    const asker = fleet.members.get("asker1");
    const healthyMs = world.elapsedMs - fleet.healedAtMs;
    if (asker === undefined || healthyMs < LATE_MS_MAX) return;
    const now = asker.process.clock.now();
    for (const what of [...idle(), ...open(), ...unasked()]) report("I21", what);
    for (const what of untold()) report("I5", what);
    for (const { place, key, rank, gate } of [...committed.places.values()].flat()) {
      const isLate = place === "scheduled" && rank / 1_000 < now - LATE_MS_MAX;
      if (isLate) report("I21", `job ${key} is due and no worker has noticed`);
      const gateName = committed.names.get(gate ?? 0) ?? "";
      const isPause = gate !== null && gate > 0 && !isOfService(committed, gate);
      const isFree = isPause && pauses.wasOpenSince(gateName, now - LATE_MS_MAX);
      if (isFree) report("I21", `job ${key} is held by gate ${gateName}, which is open`);
    }
    for (const { workers, process } of fleet.members.values()) {
      const isYoung = world.elapsedMs - process.bornAtMs < LATE_MS_MAX;
      for (const { role, worker } of workers) {
        const row = committed.workers.get(hexOf(worker.id));
        const isHeard = row !== undefined && row.until > process.clock.now();
        if (!isHeard && !isYoung) report("I22", `${role} lives, and its lease has run out`);
      }
    }
    for (const key of asked.keys()) if (!committed.asked.has(key)) asked.delete(key);
    for (const key of committed.asked) {
      const since = asked.get(key) ?? world.elapsedMs;
      asked.set(key, since);
      const isLate = world.elapsedMs - since > CANCEL_MS_MAX;
      const run = committed.held.get(key)?.[0];
      // One in a prefetch has not begun, and never will.
      const isRunning = run !== undefined && run.start !== null;
      const isHealthy = isRunning && watch.workers.get(run.worker)?.isAlive === true;
      if (isLate && isHealthy) report("I21", `job ${key} was to be cancelled and still runs`);
    }
  };
}

/** Findings that lasted longer than allowed. */
function waits(
  world: World,
  find: () => ReadonlyMap<string, string>,
  maxMs: number,
): () => readonly string[] {
  const since = new Map<string, number>();
  return () => {
    const found = find();
    for (const wait of since.keys()) if (!found.has(wait)) since.delete(wait);
    for (const wait of found.keys()) since.set(wait, since.get(wait) ?? world.elapsedMs);
    return [...found]
      .filter(([wait]) => world.elapsedMs - (since.get(wait) ?? 0) > maxMs)
      .map(([, what]) => what);
  };
}

/** Jobs that wait for a free key, or for dependencies that are all final. */
function idleJobs(now: Snapshot): ReadonlyMap<string, string> {
  const idle = new Map<string, string>();
  const places = [...now.places.values()].flat();
  const next = new Set(
    places
      .filter(({ place }) => place === "ready")
      .map(({ tenant, concurrency }) => `${tenant}.${concurrency}`),
  );
  for (const { key, gate, tenant, concurrency } of places) {
    const name = `${tenant}.${concurrency}`;
    const isFree = gate === GATE_KEY && !now.locks.has(name) && !next.has(name);
    if (isFree) idle.set(`key ${key}`, `job ${key} waits for ${concurrency}, which is free`);
    const dependencies = now.dependencies.get(key) ?? [];
    const areOver = dependencies.every((dependency) => isOver(now, dependency.depends_on));
    if (gate === GATE_AFTER && areOver) idle.set(`after ${key}`, `job ${key} waits for ended jobs`);
  }
  return idle;
}

/** Jobs behind a service that works, or in the queue of a limit that was removed. */
function openGates(committed: Snapshot, nowMs: number): ReadonlyMap<string, string> {
  const open = new Map<string, string>();
  for (const { key, gate } of [...committed.places.values()].flat()) {
    const isGone = isLimitGate(gate) && limitOfGate(committed, gate) === null;
    if (isGone) open.set(`limit ${key}`, `job ${key} waits for a limit that was removed`);
    const isService = gate !== null && gate > 0 && isOfService(committed, gate);
    if (isService && !isServiceGateClosed(committed, gate, nowMs)) {
      open.set(`service ${key}`, `job ${key} is held by service ${gate}, which is open`);
    }
  }
  return open;
}

function isOfService({ parks, uses, names }: Snapshot, gate: number): boolean {
  const isUsed = [...uses.values()].flat().some(({ service }) => service === gate);
  return isUsed || parks.has(gate) || /^\d+\.(bank|mail)$/.test(names.get(gate) ?? "");
}

function nowOf({ members }: Fleet): number {
  return members.get("asker1")?.process.clock.now() ?? 0;
}

/** Handlers that go on without a word, although the store has ended their runs. */
function untoldRuns({ underWay, effects }: Fleet): ReadonlyMap<string, string> {
  const untold = new Map<string, string>();
  for (const [run, { actor, signal }] of underWay) {
    const hasEnded = actor.process.isAlive && effects.standing(actor) === null;
    if (!hasEnded || signal.aborted) continue;
    untold.set(run, `job ${actor.id} was taken from its run ${actor.fence}, which is not told`);
  }
  return untold;
}

/** Free locks that a run of a living worker still waits for. */
function freeNames(watch: Watch, { refused }: NoteAnswers): ReadonlyMap<string, string> {
  const now = watch.committed;
  const free = new Map<string, string>();
  for (const [wait, { key, n, tenant, name }] of refused) {
    const run = now.held.get(key)?.[0];
    const isOpen = run?.n === n && watch.workers.get(run.worker)?.isAlive === true;
    const isFree = isOpen && !now.locks.has(`${tenant}.${name}`);
    if (isFree) free.set(wait, `a unit of job ${key} waits for the name ${name}, which is free`);
  }
  return free;
}
