/** What operators do to jobs, and what holds them back. */
import type { JobId } from "../../../src/core/job.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import { isFinal } from "../../../src/core/job.ts";
import type {
  CancelAnswer,
  Gate,
  GateName,
  HeldBy,
  InterveneAnswer,
  Promotion,
} from "../../../src/store/types/records.ts";
import type { InterveneFacts } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { endRun, endUnstarted } from "./ends.ts";
import { closedGates, gatesBefore } from "./gates.ts";
import { factsOf } from "./records.ts";
import {
  atMost,
  inOrder,
  isKeyTaken,
  isOpen,
  jobNamed,
  leaseOf,
  nextOfKey,
  putWaiting,
  stateOf,
  type ModelJob,
  type World,
} from "./world.ts";

/** The stores need not agree on what else there may be to do: they may say so for nothing. */
const UNKNOWN = { ready: true, released: true, blocked: true, slotDue: true, fair: true };

export function promote(world: World, limit: number): Promotion {
  const now = world.clock.now();
  const scheduled = inOrder(
    [...world.jobs.values()].filter(({ place }) => place?.kind === "scheduled"),
    (job) => [job.place?.runAt ?? 0, job.key],
  );
  const due = atMost(
    scheduled.filter(({ place }) => place !== null && place.runAt <= now),
    limit,
  );
  for (const job of due) job.place = { kind: "ready", runAt: job.place?.runAt ?? 0 };
  const next = scheduled.find((job) => !due.includes(job))?.place?.runAt;
  const nextDueMs = next === undefined ? null : Math.max(0, next - now);
  return { moved: due.length, nextDueMs, probeInMs: null, waiting: UNKNOWN };
}

export function cancel(world: World, id: JobId, reason: string | null): CancelAnswer {
  const job = jobNamed(world, id);
  if (job === undefined) return { status: "unknown" };
  const state = stateOf(job);
  if (isFinal(state)) return { status: "final", state };
  if (job.place !== null) {
    endUnstarted(world, job, reason);
    return { status: "cancelled" };
  }
  job.cancelRequest ??= { reason };
  return { status: "requested" };
}

export function hurry(world: World, id: JobId): InterveneAnswer | { readonly status: "running" } {
  const job = jobNamed(world, id);
  if (job === undefined) return { status: "unknown" };
  const state = stateOf(job);
  if (isFinal(state)) return { status: "final", state };
  if (state === "running") return { status: "running" };
  const isEarly = (job.place?.runAt ?? 0) > world.clock.now();
  if (state === "scheduled" || (job.needs.length > 0 && isEarly)) {
    putWaiting(world, job, world.clock.now());
  }
  return { status: "done", state: stateOf(job) };
}

export function intervene(
  world: World,
  id: JobId,
  decide: (job: InterveneFacts) => Settlement,
): InterveneAnswer {
  const job = jobNamed(world, id);
  if (job === undefined) return { status: "unknown" };
  const state = stateOf(job);
  if (isFinal(state)) return { status: "final", state };
  const lease = job.place === null ? (leaseOf(world, job) ?? null) : null;
  const startedAt = lease?.runs.find((run) => run.job === job)?.startedAt ?? null;
  const until = lease === null ? 0 : (world.workers.get(lease.worker)?.until ?? 0);
  const isHeld = until > world.clock.now();
  const hasStarted = startedAt !== null;
  endRun(world, { job, startedAt }, lease, decide({ ...factsOf(job), isHeld, hasStarted }));
  if (lease !== null) {
    const n = job.ledger.at(-1)?.n ?? 0;
    world.workers.get(lease.worker)?.ended.push({ key: job.key, n });
  }
  if (lease !== null && !lease.runs.some(isOpen)) world.leases.delete(lease.number);
  return { status: "done", state: stateOf(job) };
}

export function pause(
  { gates, names, clock, streaks }: World,
  { kind, name }: GateName,
  { reason, by, forMs }: Parameters<JobStore["pause"]>[1],
): void {
  const gate = `${kind} ${name}`;
  if (!names.includes(gate)) names.push(gate);
  const now = clock.now();
  const until = forMs === undefined ? null : now + forMs;
  const closedAt = closedSince(gates.get(gate), now);
  gates.set(gate, { kind, name, reason, by, closedAt, until });
  if (kind === "type") streaks.delete(name);
}

/** A gate that is closed already stays closed since the same time. */
export function closedSince(known: Gate | undefined, now: number): number {
  if (known === undefined || (known.until !== null && known.until <= now)) return now;
  return known.closedAt;
}

export function resume(world: World, { kind, name }: GateName): boolean {
  const wasClosed = closedGates(world).some((gate) => gate.kind === kind && gate.name === name);
  if (kind === "type") world.streaks.delete(name);
  world.gates.delete(`${kind} ${name}`);
  return wasClosed;
}

export function isHeldBack(world: World, job: ModelJob): boolean {
  return gatesBefore(world, job).length > 0;
}

export function hold(world: World, limit: number): number {
  const behind = [...world.jobs.values()].flatMap((job) => {
    const [gate = keyOf(world, job)] = gatesBefore(world, job);
    return job.place?.kind === "ready" && gate !== null ? [{ job, gate }] : [];
  });
  const moved = atMost(behind, limit);
  for (const { job, gate } of moved) {
    job.place = { kind: "blocked", runAt: job.place?.runAt ?? 0, gate };
  }
  return moved.length;
}

/** What holds a job back whose key is taken; a closed gate comes first. */
function keyOf(world: World, job: ModelJob): HeldBy | null {
  const { concurrencyKey: name } = job.asked;
  return name !== null && isKeyTaken(world, job) ? { kind: "key", name } : null;
}

export function release(world: World, limit: number): number {
  const closed = closedGates(world);
  const free = [...world.jobs.values()].filter((job) => {
    const { place } = job;
    if (place?.kind !== "blocked") return false;
    const { gate } = place;
    if (gate.kind === "after") return false;
    if (gate.kind === "key") return nextOfFreeKey(world, job);
    return !closed.some(({ kind, name }) => kind === gate.kind && name === gate.name);
  });
  const moved = atMost(free, limit);
  for (const job of moved) job.place = { kind: "ready", runAt: job.place?.runAt ?? 0 };
  return moved.length;
}

/** Of each name that is free again, the most urgent who waits for it. */
function nextOfFreeKey(world: World, job: ModelJob): boolean {
  const { tenant, concurrencyKey: name } = job.asked;
  if (name === null || isKeyTaken(world, job)) return false;
  return nextOfKey(world, { tenant, name }) === job;
}
