/** How the model shows a job. */
import { idUuid } from "../../../src/core/ids.ts";
import type { CrashFacts } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobRecord } from "../../../src/store/types/records.ts";
import { heldBy } from "./gates.ts";
import { endOf, leaseOf, stateOf, type ModelJob, type World } from "./world.ts";

/** What was asked for, in words. */
export function specOf({ asked, createdAt, scheduledAt }: ModelJob) {
  const { due: _due, after: _after, onFailed: _onFailed, ...rest } = asked;
  const { ignoreCheckpoints: _ignoreCheckpoints, ...lasting } = rest;
  const { idempotency, dedup, correlationId, ...same } = lasting;
  return {
    ...same,
    correlationId: correlationId ?? idUuid(asked.id),
    idempotencyKey: idempotency?.key ?? null,
    dedupKey: dedup?.key ?? null,
    createdAt,
    scheduledAt,
  };
}

export function recordOf(world: World, job: ModelJob): JobRecord {
  const state = stateOf(job);
  const last = endOf(job);
  const isOver = last !== undefined && last.state !== null;
  return {
    ...specOf(job),
    key: job.key,
    state,
    runAt: job.place?.runAt ?? null,
    attempts: last?.tries ?? 0,
    crashes: last?.crashes ?? 0,
    outcome: last?.outcome ?? null,
    startedAt: state === "running" ? startOf(world, job) : (last?.startedAt ?? null),
    finishedAt: isOver ? last.finishedAt : null,
    result: last?.result ?? null,
    fault: last?.fault ?? null,
    phase: job.notes.progress?.progress.phase ?? null,
    overall: job.notes.progress?.progress.overall ?? null,
    cancelReason: last?.reason ?? null,
    heldBy: heldBy(world, job),
    isStale: false,
    cancelRequested: job.cancelRequest !== null,
  };
}

function startOf(world: World, job: ModelJob): number | null {
  return leaseOf(world, job)?.runs.find((run) => run.job === job)?.startedAt ?? null;
}

/** What a decision about a run may look at. */
export function factsOf(job: ModelJob): CrashFacts {
  const { id, type, maxAttempts, onOrphan, retryOwner } = job.asked;
  const { tries = 0, crashes = 0 } = endOf(job) ?? {};
  return { id, type, maxAttempts, onOrphan, retryOwner, tries, crashes };
}
