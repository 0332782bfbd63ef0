/** Jobs that have crashed before, jobs that run alone, and types whose jobs die alone. */
import {
  crashGateReason,
  LONE_DEATHS_MAX,
  nextProbeMs,
  PROBE_MS_MIN,
} from "../../../src/core/crashes.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { ClaimRequest, LoneClaimRequest } from "../../../src/store/types/jobs-and-runs.ts";
import { gatesBefore } from "./gates.ts";
import { closedSince } from "./waiting.ts";
import {
  atMost,
  byUrgency,
  endOf,
  inOrder,
  isKeyTaken,
  isOpen,
  leasesOf,
  type ModelJob,
  type ModelStreak,
  type ModelWorker,
  type World,
} from "./world.ts";

export function crashesOf(job: ModelJob): number {
  return endOf(job)?.crashes ?? 0;
}

/** Those of the jobs that take part in a claim, in the same order. */
export function withinLimits(
  due: readonly ModelJob[],
  limits: ClaimRequest["crashed"],
): readonly ModelJob[] {
  if (limits === undefined) return due;
  const { once, often, cap } = limits;
  const below = due.filter((job) => crashesOf(job) < cap);
  const taking = new Set([
    ...due.filter((job) => crashesOf(job) === 0),
    ...atMost(
      below.filter((job) => crashesOf(job) === 1),
      once,
    ),
    ...atMost(
      below.filter((job) => crashesOf(job) > 1),
      often,
    ),
  ]);
  return due.filter((job) => taking.has(job));
}

/** How many runs the workers of a process had begun, when the first of them was found dead. */
export function diedWith(world: World, worker: ModelWorker): number {
  if (worker.diedWith !== null) return worker.diedWith;
  const { process } = worker.info;
  const workers = [...world.workers.values()].filter(({ info }) => info.process === process);
  const begun = workers
    .flatMap(({ info }) => leasesOf(world, info.id))
    .flatMap(({ runs }) => runs.filter((run) => isOpen(run) && run.startedAt !== null)).length;
  for (const each of workers) each.diedWith ??= begun;
  return begun;
}

/** A run of a dead worker has ended: if the job has died alone, it counts against its type. */
export function countDeath(world: World, { asked }: ModelJob, settlement: Settlement): void {
  if (settlement.to !== "failed" || settlement.hasDiedAlone !== true) return;
  const now = world.clock.now();
  const { type: name } = asked;
  const gate = `type ${name}`;
  const before = world.streaks.get(name);
  const ended = (before?.ended ?? 0) + 1;
  const streak: ModelStreak = { probeAt: null, probeMs: 0, ...before, ended };
  world.streaks.set(name, streak);
  const until = world.gates.get(gate)?.until;
  const isPaused = until === null || (until !== undefined && until > now);
  if (ended < LONE_DEATHS_MAX || (streak.probeAt === null && isPaused)) return;
  if (streak.probeAt === null) {
    streak.probeAt = now + PROBE_MS_MIN;
    streak.probeMs = PROBE_MS_MIN;
  }
  const reason = crashGateReason(ended);
  const closedAt = closedSince(world.gates.get(gate), now);
  world.gates.set(gate, { kind: "type", name, reason, by: "millrace", closedAt, until: null });
}

export function endCrashStreak({ streaks, gates }: World, type: string): void {
  const isClosed = streaks.get(type)?.probeAt != null;
  streaks.delete(type);
  if (isClosed) gates.delete(`type ${type}`);
}

/** The job that is to run alone, and the streak of its type if the job is a probe. */
interface Lone {
  readonly job: ModelJob;
  readonly streak: ModelStreak | null;
}

/** Within a priority, jobs that have crashed before are claimed first. For `inOrder`. */
export function byClaimOrder(job: ModelJob): number[] {
  const [priority = 0, ...others] = byUrgency(job);
  return [priority, crashesOf(job) === 0 ? 1 : 0, ...others];
}

/** The next one, whose streak, if it is a probe, waits from now on. Null: there is none. */
export function takeLone(world: World, request: LoneClaimRequest): Lone | null {
  const found = findLone(world, request);
  if (found?.streak != null) {
    found.streak.probeMs = nextProbeMs(found.streak.probeMs);
    found.streak.probeAt = world.clock.now() + found.streak.probeMs;
  }
  return found;
}

/** Whether a claim leaves the key of this job to the job that would run alone next. */
export function isLeft(world: World, { asked }: ModelJob, request: ClaimRequest): boolean {
  const { crashed } = request;
  if (crashed === undefined || asked.concurrencyKey === null) return false;
  const next = findLone(world, { ...request, cap: crashed.cap })?.job.asked;
  return (
    next?.tenant === asked.tenant &&
    next.concurrencyKey === asked.concurrencyKey &&
    next.priority <= asked.priority
  );
}

function findLone(world: World, request: LoneClaimRequest): Lone | null {
  if ([...world.leases.values()].some(({ isAlone }) => isAlone)) return null;
  return findProbe(world, request) ?? findAtCap(world, request);
}

function findProbe(world: World, request: LoneClaimRequest): Lone | null {
  const now = world.clock.now();
  const due = inOrder(
    [...world.streaks].filter(([type, { probeAt }]) => {
      return probeAt !== null && probeAt <= now && (request.types?.includes(type) ?? true);
    }),
    ([type, { probeAt }]) => [probeAt ?? 0, world.names.indexOf(`type ${type}`)],
  );
  for (const [type, streak] of due) {
    const [job] = inOrder(
      [...world.jobs.values()].filter((each) => {
        const { place, asked } = each;
        const isHere =
          place?.kind === "ready" || (place?.kind === "blocked" && place.gate.kind === "type");
        return asked.type === type && isHere && isFree(world, each, request, "type");
      }),
      byUrgency,
    );
    if (job !== undefined) return { job, streak };
  }
  return null;
}

function findAtCap(world: World, request: LoneClaimRequest): Lone | null {
  const [job] = inOrder(
    [...world.jobs.values()].filter(
      (each) =>
        each.place?.kind === "ready" &&
        crashesOf(each) >= Math.max(1, request.cap) &&
        (request.types?.includes(each.asked.type) ?? true) &&
        isFree(world, each, request),
    ),
    byUrgency,
  );
  return job === undefined ? null : { job, streak: null };
}

/** Whether the request wants the job, and nothing blocks it but perhaps a gate of this kind. */
function isFree(
  world: World,
  job: ModelJob,
  { lanes, tenants }: LoneClaimRequest,
  except?: "type",
): boolean {
  const { asked } = job;
  return (
    (lanes === "any" || lanes.includes(asked.lane)) &&
    (tenants?.includes(asked.tenant) ?? true) &&
    !isKeyTaken(world, job) &&
    gatesBefore(world, job).every(({ kind }) => kind === except)
  );
}
