/** Workers, claims, buffers, settlements and rescues. */
import type {
  Claim,
  ClaimRequest,
  JobKey,
  Lease,
  LoneClaim,
  LoneClaimRequest,
  OverdueRun,
  StoreRefusal,
  Renewal,
  RescueAnswer,
  RescueRequest,
  SettleAnswer,
  SettleItem,
  SilentWorker,
  WorkerId,
  WorkerInfo,
} from "../../../src/store/types/jobs-and-runs.ts";
import type { AcquiredLocks, OpenRun } from "../../../src/store/types/notes.ts";
import type { WorkerRecord, WorkerResumed } from "../../../src/store/types/records.ts";
import {
  byClaimOrder,
  countDeath,
  crashesOf,
  diedWith,
  isLeft,
  takeLone,
  withinLimits,
} from "./crashes.ts";
import { enqueueChildren } from "./enqueue.ts";
import { isRefused, keepNote } from "./notes.ts";
import { endRun, endUnstarted, keepOpen, putBack } from "./ends.ts";
import { factsOf, specOf } from "./records.ts";
import {
  atMost,
  copyOf,
  heldRun,
  inOrder,
  isKeyTaken,
  isOpen,
  leasesOf,
  nextRun,
  slotOf,
  stateOf,
  tell,
  type ModelJob,
  type ModelLease,
  type ModelRun,
  type ModelWorker,
  type World,
} from "./world.ts";
import { removeWorker } from "./code.ts";
import { isHeldBack } from "./waiting.ts";

export function register(world: World, info: WorkerInfo): void {
  const now = world.clock.now();
  const until = now + info.leaseMs;
  const known = world.workers.get(info.id);
  if (known === undefined) {
    const life = { joinedAt: now, until, renewedAt: now, beats: 0, stopping: false };
    world.workers.set(info.id, { info, ...life, quiet: info.quiet, diedWith: null, ended: [] });
    return;
  }
  known.until = until;
  known.renewedAt = now;
  known.beats += 1;
  known.diedWith = null;
}

export function deregister(world: World, worker: WorkerId): void {
  if (leasesOf(world, worker).length === 0) removeWorker(world, worker);
  const known = world.workers.get(worker);
  if (known !== undefined) known.until = world.clock.now();
}

export function renew(world: World, worker: WorkerId, leaseMs: number): Renewal {
  const known = world.workers.get(worker);
  if (known === undefined) return { status: "lost" };
  const now = world.clock.now();
  known.until = now + leaseMs;
  known.renewedAt = now;
  known.beats += 1;
  known.diedWith = null;
  const runs = leasesOf(world, worker).flatMap((lease) => lease.runs);
  const cancel = runs
    .filter((run) => isOpen(run) && run.job.cancelRequest !== null)
    .map(({ job, n }) => ({ key: job.key, n, reason: job.cancelRequest?.reason ?? null }));
  const ended = known.ended
    .map(({ key, n }) => ({ key, n }))
    .toSorted((one, other) => one.key - other.key || one.n - other.n);
  const busy = runs.some(isOpen);
  const { quiet: isQuiet, stopping: stop } = known;
  return { status: "renewed", now, cancel, busy, quiet: isQuiet, stop, outdated: false, ended };
}

export function quiet(world: World, worker: WorkerId): boolean {
  const known = world.workers.get(worker);
  if (known !== undefined) known.quiet = true;
  return known !== undefined;
}

export function resumeWorker(world: World, worker: WorkerId): WorkerResumed {
  const known = world.workers.get(worker);
  if (known === undefined) return "unknown";
  if (known.stopping) return "stopping";
  known.quiet = false;
  return "resumed";
}

export function stopWorker(world: World, worker: WorkerId): boolean {
  const known = world.workers.get(worker);
  if (known !== undefined) known.stopping = true;
  return quiet(world, worker);
}

export function workers(world: World, limit: number): WorkerRecord[] {
  const known = [...world.workers.values()].toSorted(
    (left, right) => left.joinedAt - right.joinedAt || (left.info.id < right.info.id ? -1 : 1),
  );
  return atMost(known, limit).map((worker) => workerRecord(world, worker));
}

function workerRecord(world: World, { info, ended: _ended, ...rest }: ModelWorker): WorkerRecord {
  const { leaseMs: _leaseMs, protocol: _protocol, process: _process, ...same } = info;
  const { diedWith: _diedWith, renewedAt, ...life } = rest;
  const open = leasesOf(world, info.id).flatMap(({ runs }) => runs.filter(isOpen));
  const started = open.filter(({ startedAt }) => startedAt !== null);
  const [now, running] = [world.clock.now(), started.length];
  const ages = { beatAgoMs: now - renewedAt, leaseLeftMs: life.until - now };
  const vitals = { memoryBytes: null, takenBy: null, loopLagMs: null };
  const held = { running, prefetched: open.length - running, ...kindsOf(started) };
  return { ...same, ...life, ...vitals, ...ages, ...held };
}

function kindsOf(
  started: readonly ModelRun[],
): Pick<WorkerRecord, "runningByLane" | "crashedOnce" | "crashedOften"> {
  const byLane = new Map<string, number>();
  for (const { job } of started) {
    const { lane } = job.asked;
    byLane.set(lane, (byLane.get(lane) ?? 0) + 1);
  }
  const crashedOnce = started.filter(({ job }) => crashesOf(job) === 1).length;
  const crashedOften = started.filter(({ job }) => crashesOf(job) > 1).length;
  return { runningByLane: Object.fromEntries(byLane), crashedOnce, crashedOften };
}

export function claim(world: World, request: ClaimRequest): Claim {
  const now = world.clock.now();
  const worker = world.workers.get(request.worker);
  const nothing = { lease: null, jobs: [], lost: false, awaitsAlone: false, tookAll: false };
  if (worker === undefined || worker.until <= now) return { ...nothing, lost: true };
  const due = inOrder(
    [...world.jobs.values()].filter((job) => isWanted(world, job, request)),
    byClaimOrder,
  );
  const mine = oneOfEachKey(withinLimits(due, request.crashed));
  const taken = worker.quiet ? [] : atMost(mine, request.limit);
  if (taken.length === 0) return nothing;
  return { ...nothing, ...leaseOfJobs(world, request, taken) };
}

export function claimAlone(world: World, request: LoneClaimRequest): LoneClaim | null {
  const worker = world.workers.get(request.worker);
  if (worker === undefined || worker.until <= world.clock.now() || worker.quiet) return null;
  const found = takeLone(world, request);
  if (found === null) return null;
  const asPrefetch = { worker: request.worker, prefetch: true };
  const { lease, jobs } = leaseOfJobs(world, asPrefetch, [found.job], true);
  return { lease, job: jobs[0]!, isProbe: found.streak !== null };
}

function leaseOfJobs(
  world: World,
  request: Pick<ClaimRequest, "worker" | "prefetch">,
  taken: readonly ModelJob[],
  isAlone = false,
): { readonly lease: Lease; readonly jobs: Claim["jobs"] } {
  const now = world.clock.now();
  world.last.lease += 1;
  const number = world.last.lease;
  const lease: ModelLease = {
    number,
    secret: `secret ${number}`,
    worker: request.worker,
    claimedAt: now,
    isAlone,
    runs: taken.map((job) => ({
      job,
      n: nextRun(job),
      runAt: job.place?.runAt ?? 0,
      startedAt: request.prefetch ? null : now,
    })),
  };
  world.leases.set(number, lease);
  for (const job of taken) {
    job.place = null;
    const { tenant, concurrencyKey: name } = job.asked;
    if (name !== null) world.slots.push({ tenant, name, job });
    if (!request.prefetch) tell(world, "job:started", job);
  }
  const jobs = lease.runs.map(claimedJob);
  return { lease: { number, secret: lease.secret }, jobs };
}

function oneOfEachKey(due: readonly ModelJob[]): ModelJob[] {
  const isOfKey = (job: ModelJob, { asked }: ModelJob): boolean =>
    job.asked.tenant === asked.tenant && job.asked.concurrencyKey === asked.concurrencyKey;
  return due.filter((job) => {
    return job.asked.concurrencyKey === null || due.find((each) => isOfKey(each, job)) === job;
  });
}

function isWanted(world: World, job: ModelJob, request: ClaimRequest): boolean {
  const { asked, place } = job;
  return (
    place?.kind === "ready" &&
    (request.lanes === "any" || request.lanes.includes(asked.lane)) &&
    (request.types?.includes(asked.type) ?? true) &&
    (request.tenants?.includes(asked.tenant) ?? true) &&
    !(request.prefetch && crashesOf(job) > 0) &&
    !(request.prefetch && asked.concurrencyKey !== null) &&
    !isKeyTaken(world, job) &&
    !isLeft(world, job, request) &&
    !isHeldBack(world, job)
  );
}

function claimedJob({ job, n, runAt }: ModelRun): Claim["jobs"][number] {
  const spec = specOf(job);
  return {
    ...factsOf(job),
    key: job.key,
    n,
    isSuccessor: spec.retryOf !== null,
    runAt,
    tenant: spec.tenant,
    lane: spec.lane,
    priority: spec.priority,
    payload: spec.payload,
    payloadVersion: spec.payloadVersion,
    correlationId: spec.correlationId,
    parentId: spec.parentId,
    timeoutMs: spec.timeoutMs,
    concurrencyKey: spec.concurrencyKey,
    tags: spec.tags,
    createdAt: spec.createdAt,
  };
}

function heldLease({ leases }: World, { number, secret }: Lease): ModelLease | undefined {
  const lease = leases.get(number);
  return lease?.secret === secret ? lease : undefined;
}

export function startPrefetched(
  world: World,
  proof: Lease,
  keys: readonly JobKey[],
): { status: "started" | "stale"; begun: JobKey[] } {
  const lease = heldLease(world, proof);
  if (lease === undefined) return { status: "stale", begun: [] };
  const open = lease.runs.filter((run) => isOpen(run) && keys.includes(run.job.key));
  const waiting = open.filter(({ startedAt }) => startedAt === null);
  const asked = waiting.filter(({ job }) => job.cancelRequest !== null);
  for (const run of waiting.filter((each) => !asked.includes(each))) {
    run.startedAt = world.clock.now();
    tell(world, "job:started", run.job);
  }
  for (const { job } of asked) endUnstarted(world, job, job.cancelRequest?.reason ?? null);
  if (asked.length > 0) keepOpen(world, lease, []);
  const begun = open.filter((run) => !asked.includes(run)).map(({ job }) => job.key);
  return { status: "started", begun };
}

export function returnPrefetched(world: World, proof: Lease, keys: readonly JobKey[]): number {
  const lease = heldLease(world, proof);
  if (lease === undefined) return 0;
  const leaving = lease.runs.filter(
    (run) => isOpen(run) && run.startedAt === null && keys.includes(run.job.key),
  );
  if (leaving.length === 0) return 0;
  const returned = leaving.filter((run) => putBack(world, run)).length;
  keepOpen(world, lease, leaving);
  return returned;
}

/** All of them or, if a child is refused, one half and then the other. */
export function settle(world: World, items: readonly SettleItem[]): SettleAnswer[] {
  const before = copyOf(world);
  const answers = items.map((item) => settleOne(world, item));
  for (const { lease: proof } of items) {
    const lease = heldLease(world, proof);
    if (lease?.runs.some(isOpen) === false) world.leases.delete(lease.number);
  }
  const refused = refusedOf(
    world,
    items.filter((_, index) => answers[index] === "settled"),
  );
  if (refused === null) return answers;
  Object.assign(world, before);
  if (items.length === 1) return [refused];
  const middle = Math.ceil(items.length / 2);
  return [...settle(world, items.slice(0, middle)), ...settle(world, items.slice(middle))];
}

/** Makes the children of successes. The answer to the first that is refused. */
function refusedOf(world: World, ended: readonly SettleItem[]): StoreRefusal | null {
  const children = ended.flatMap(({ settlement: { to }, children: born = [] }) =>
    to === "completed" || to === "completed_with_errors" ? born : [],
  );
  return enqueueChildren(world, children);
}

function settleOne(world: World, item: SettleItem): SettleAnswer {
  const { lease: proof, key, n, settlement, note = {} } = item;
  const lease = heldLease(world, proof);
  const run = lease?.runs.find(({ job }) => job.key === key);
  if (lease === undefined || run === undefined) return "stale";
  if (run.n !== n || !isOpen(run) || run.startedAt === null) return "stale";
  if (settlement.tries > n || isRefused(note)) return "refused";
  keepNote(world, run.job, note);
  endRun(world, run, lease, settlement);
  return "settled";
}

export function acquireLocks(world: World, held: OpenRun, names: readonly string[]): AcquiredLocks {
  const run = heldRun(world, held);
  if (run === undefined) return { status: "stale" };
  const { job } = run;
  const { tenant } = job.asked;
  for (const name of names) {
    if (slotOf(world, tenant, name) === undefined) world.slots.push({ tenant, name, job });
  }
  const had = names.filter((name) => slotOf(world, tenant, name)?.job === job);
  return { status: "done", names: had };
}

export function overdue(world: World, worker: WorkerId, slackMs: number): OverdueRun[] {
  return leasesOf(world, worker).flatMap(({ number, secret, runs }) =>
    runs.filter(isOpen).flatMap(({ job, n, startedAt }) => {
      const limitMs = job.asked.timeoutMs;
      const ranMs = world.clock.now() - (startedAt ?? world.clock.now());
      if (limitMs === null || ranMs <= limitMs + slackMs) return [];
      const lease = { number, secret };
      return [{ lease, key: job.key, n, limitMs, ranMs, facts: factsOf(job) }];
    }),
  );
}

export function silent(world: World, limit: number): SilentWorker[] {
  const now = world.clock.now();
  const found = [...world.workers.values()]
    .filter(({ until }) => until <= now)
    .toSorted((left, right) => left.until - right.until || (left.info.id < right.info.id ? -1 : 1));
  return atMost(found, limit).map(({ info, beats, until }) => {
    return { id: info.id, beats, silentMs: now - until };
  });
}

export function rescue(
  world: World,
  { worker, beats, limit, decide }: RescueRequest,
): RescueAnswer {
  const known = world.workers.get(worker);
  const isSilent = known?.beats === beats && known.until <= world.clock.now();
  if (!isSilent) return { returned: 0, settled: [], missing: [], done: false };
  const leases = leasesOf(world, worker);
  const open = leases.flatMap((lease) => lease.runs.filter(isOpen).map((run) => ({ lease, run })));
  const isAlone = diedWith(world, known) === 1;
  const moved = atMost(open, limit);
  const unstarted = moved.filter(({ run }) => run.startedAt === null);
  const returned = unstarted.filter(({ run }) => putBack(world, run)).length;
  const settled = moved
    .filter(({ run }) => run.startedAt !== null)
    .map(({ run, lease }) => {
      const settlement = decide(factsOf(run.job), isAlone);
      endRun(world, run, lease, settlement);
      countDeath(world, run.job, settlement);
      return { id: run.job.asked.id, to: stateOf(run.job) };
    });
  for (const lease of leases) {
    keepOpen(
      world,
      lease,
      moved.map(({ run }) => run),
    );
  }
  const done = leasesOf(world, worker).length === 0;
  if (done) removeWorker(world, worker);
  return { returned, settled, missing: [], done };
}
