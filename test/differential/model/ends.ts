/** How runs and waits end. */
import { causeOf } from "../../../src/core/failures/fingerprint.ts";
import type { FinalState } from "../../../src/core/job.ts";
import { isSuccess, type Settlement } from "../../../src/core/outcome.ts";
import type { EventKind } from "../../../src/store/types/records.ts";
import type { JobKey } from "../../../src/store/types/jobs-and-runs.ts";
import { specOf } from "./records.ts";
import {
  nextRun,
  endOf,
  isOpen,
  nextOfKey,
  putWaiting,
  tell,
  type LedgerRow,
  type ModelJob,
  type ModelLease,
  type ModelRun,
  type ModelSlot,
  type World,
} from "./world.ts";

const EVENT_OF: Readonly<Record<FinalState, EventKind>> = {
  completed: "job:completed",
  completed_with_errors: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
};

/** The one door: writes the ledger row and moves the job on. */
export function endRun(
  world: World,
  { job, startedAt }: Pick<ModelRun, "job" | "startedAt">,
  lease: ModelLease | null,
  settlement: Settlement,
): void {
  const now = world.clock.now();
  const request = job.cancelRequest;
  const goesOn = settlement.to === "scheduled" || settlement.to === "queued";
  const nextRunAt = goesOn && request === null ? now + settlement.delayMs : null;
  const fault = "fault" in settlement ? settlement.fault : null;
  const state = goesOn ? (request === null ? null : "cancelled") : settlement.to;
  const row: LedgerRow = {
    n: nextRun(job),
    tries: settlement.tries,
    crashes: settlement.crashes,
    fence: lease?.number ?? null,
    worker: lease?.worker ?? null,
    claimedAt: lease?.claimedAt ?? null,
    startedAt,
    finishedAt: now,
    outcome: settlement.outcome,
    errorClass: fault?.class ?? null,
    fault,
    reason: reasonOf(settlement, request),
    nextRunAt,
    state,
    result: "result" in settlement ? settlement.result : null,
  };
  job.ledger.push(row);
  const streak = world.streaks.get(job.asked.type);
  if (streak !== undefined && isSuccess(settlement)) streak.ended = 0;
  job.place = null;
  job.cancelRequest = null;
  releaseRunLocks(world, job);
  if (state !== null) {
    job.needs = [];
    world.ended.add(job.key);
  }
  if (nextRunAt !== null) putWaiting(world, job, nextRunAt);
  if (state === "failed") bury(world, job, row);
  tell(world, state === null ? "job:retrying" : EVENT_OF[state], job);
}

/** The run gives up what it had. */
function releaseRunLocks(world: World, job: ModelJob): void {
  releaseSlots(world, (slot) => slot.job === job);
}

/** Of each name that is given up the most urgent who waits for it is next. */
export function releaseSlots(world: World, isGivenUp: (slot: ModelSlot) => boolean): void {
  const freed = world.slots.filter(isGivenUp);
  world.slots = world.slots.filter((slot) => !freed.includes(slot));
  for (const slot of freed) {
    const next = nextOfKey(world, slot);
    if (next !== undefined) next.place = { kind: "ready", runAt: next.place?.runAt ?? 0 };
  }
}

/** Tells those who wait for jobs that are over, and those who wait for them, until all know. */
export function resolveDependencies(world: World): void {
  for (const key of world.ended) {
    world.ended.delete(key);
    const parent = world.jobs.get(key);
    for (const job of world.jobs.values()) hear(world, job, { key, parent });
  }
}

/** A job hears that one is over, for which it may have waited. */
function hear(
  world: World,
  job: ModelJob,
  { key, parent }: { readonly key: JobKey; readonly parent: ModelJob | undefined },
): void {
  const need = job.needs.find((each) => each.key === key);
  if (need === undefined || job.place === null) return;
  job.needs = job.needs.filter((each) => each !== need);
  const state = parent === undefined ? "cancelled" : endOf(parent)?.state;
  const isBad = state === "failed" || state === "cancelled";
  if (isBad && !need.isTolerant) {
    endUnstarted(world, job, `job ${parent?.asked.id}, which it was to run after, failed`);
    return;
  }
  if (job.needs.length === 0) putWaiting(world, job, job.place.runAt);
}

function reasonOf(settlement: Settlement, request: ModelJob["cancelRequest"]): string | null {
  if (settlement.to === "cancelled") return settlement.reason;
  const goesOn = settlement.to === "scheduled" || settlement.to === "queued";
  return goesOn ? (request?.reason ?? null) : null;
}

function bury(world: World, job: ModelJob, { fault, tries, finishedAt }: LedgerRow): void {
  if (fault === null) throw new Error("a failed job says why");
  world.letters.set(job.asked.id, {
    id: job.asked.id,
    type: job.asked.type,
    tenant: job.asked.tenant,
    status: "pending_review",
    fault,
    attempts: tries,
    diedAt: finishedAt,
    reviewedBy: null,
    reviewedAt: null,
    notes: null,
    successor: null,
    spec: JSON.stringify(specOf(job)),
    cause: causeOf(fault),
    assignedTo: null,
    history: [],
    reviews: [],
  });
}

/** Ends a job that was cancelled before it began. */
export function endUnstarted(world: World, job: ModelJob, reason: string | null): void {
  const { tries = 0, crashes = 0 } = endOf(job) ?? {};
  const settlement = { to: "cancelled", outcome: "cancelled", tries, crashes, reason } as const;
  endRun(world, { job, startedAt: null }, null, settlement);
}

/** Puts an unstarted run back as it lay, unless it has a cancel request. Answers whether. */
export function putBack(world: World, { job, runAt }: ModelRun): boolean {
  if (job.cancelRequest !== null) {
    endUnstarted(world, job, job.cancelRequest.reason);
    return false;
  }
  job.place = { kind: "ready", runAt };
  // A job that is to run alone has its key already.
  releaseRunLocks(world, job);
  return true;
}

/** Keeps in a lease what is open and stays; an empty one goes. */
export function keepOpen(world: World, lease: ModelLease, leaving: readonly ModelRun[]): void {
  lease.runs = lease.runs.filter((run) => isOpen(run) && !leaving.includes(run));
  if (lease.runs.length === 0) world.leases.delete(lease.number);
}
