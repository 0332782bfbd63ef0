/** Records of the store as users see them: with Dates and parsed JSON. */
import { MillraceError } from "../core/errors.ts";
import { formatDuration } from "../core/duration.ts";
import { listedFault } from "../core/fault.ts";
import { withCause } from "../core/failures/fingerprint.ts";
import { idTime, idUuid, parseId } from "../core/ids.ts";
import type { JobId } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import { decode, type Json } from "../core/payload.ts";
import { shownPercent } from "../core/progress.ts";
import { shown } from "../core/text.ts";
import type { AttemptView, DeadLetter, JobView, Pause, WorkerView } from "../api/client.ts";
import type * as store from "../store/types/records.ts";

/** A damaged payload or result is left out and named, so that its job can be found and ended. */
export function jobView(job: store.JobRecord): JobView {
  const [payload, result] = [readable(job.payload), readable(job.result)];
  const damaged = [
    ...(payload === undefined ? (["payload"] as const) : []),
    ...(result === undefined ? (["result"] as const) : []),
  ];
  return {
    id: job.id,
    type: job.type,
    state: job.state,
    tenant: job.tenant,
    lane: job.lane,
    category: job.category,
    priority: job.priority,
    payload: payload ?? null,
    payloadVersion: job.payloadVersion,
    result: result ?? null,
    ...(damaged.length > 0 ? { damaged } : {}),
    outcome: job.outcome,
    error: job.fault && withCause(job.fault),
    progress: shownPercent(job.state, job.overall),
    phase: job.phase,
    attempts: job.attempts,
    maxAttempts: job.maxAttempts,
    correlationId: job.correlationId,
    parentId: job.parentId,
    retryOf: job.retryOf,
    idempotencyKey: job.idempotencyKey,
    dedupKey: job.dedupKey,
    concurrencyKey: job.concurrencyKey,
    tags: job.tags,
    createdBy: job.createdBy,
    createdAt: new Date(job.createdAt),
    scheduledAt: new Date(job.scheduledAt),
    runAt: dateOf(job.runAt),
    startedAt: dateOf(job.startedAt),
    finishedAt: dateOf(job.finishedAt),
    cancelReason: job.cancelReason,
    heldBy: job.heldBy,
    stale: job.isStale,
  };
}

/** The view as lists show it: a long error is cut, because a page has many of them. */
export function listed<View extends { readonly error: Fault | null }>(view: View): View {
  return { ...view, error: view.error && listedFault(view.error) };
}

/** The value of a stored text; undefined: the text is damaged. */
function readable(text: string | null): Json | undefined {
  try {
    return decode(text) ?? null;
  } catch {
    return undefined;
  }
}

export function attemptView(attempt: store.AttemptRecord): AttemptView {
  return {
    number: attempt.n,
    attempts: attempt.tries,
    crashes: attempt.crashes,
    outcome: attempt.outcome,
    fence: attempt.fence,
    worker: attempt.worker,
    startedAt: dateOf(attempt.startedAt),
    finishedAt: new Date(attempt.finishedAt),
    error: attempt.fault && withCause(attempt.fault),
    nextRunAt: dateOf(attempt.nextRunAt),
  };
}

export function deadLetterView(letter: store.DeadLetterRecord): DeadLetter {
  const payload = payloadOf(letter);
  return {
    id: letter.id,
    jobId: letter.id,
    status: letter.status,
    error: { ...letter.fault, cause: letter.cause },
    cause: letter.cause,
    type: letter.type,
    tenant: letter.tenant,
    attempts: letter.attempts,
    diedAt: new Date(letter.diedAt),
    reviewedBy: letter.reviewedBy,
    reviewedAt: dateOf(letter.reviewedAt),
    notes: letter.notes,
    assignedTo: letter.assignedTo,
    reviews: letter.reviews.map(({ at, to = null, changes = [], ...entry }) => ({
      ...entry,
      at: new Date(at),
      to,
      changes,
    })),
    ...copiedRequest(letter),
    history: letter.history.map(({ n, finishedAt, outcome, fault }) => ({
      number: n,
      outcome,
      finishedAt: new Date(finishedAt),
      error: withCause(fault),
    })),
    successorId: letter.successor,
    payload: payload ?? null,
    ...(payload === undefined ? { damaged: ["payload"] as const } : {}),
  };
}

/** What a list of dead letters shows of the request. All are null if the copy is damaged. */
function copiedRequest({
  spec,
}: store.DeadLetterRecord): Pick<
  DeadLetter,
  | "category"
  | "correlationId"
  | "idempotencyKey"
  | "dedupKey"
  | "concurrencyKey"
  | "originalCreatedAt"
> {
  const request: any = readable(spec) ?? {};
  return {
    category: request.category ?? null,
    correlationId: request.correlationId ?? null,
    idempotencyKey: request.idempotencyKey ?? null,
    dedupKey: request.dedupKey ?? null,
    concurrencyKey: request.concurrencyKey ?? null,
    originalCreatedAt: typeof request.createdAt === "number" ? new Date(request.createdAt) : null,
  };
}

/** Undefined: the copy of the request or its payload is damaged. */
function payloadOf({ spec }: store.DeadLetterRecord): Json | undefined {
  const request = readable(spec);
  if (typeof request !== "object" || request === null || !("payload" in request)) return undefined;
  const { payload } = request;
  return typeof payload === "string" || payload === null ? readable(payload) : undefined;
}

export function pauseView(gate: store.Gate, count: store.CountBehind): Pause {
  const { kind, name, reason, by, closedAt, until } = gate;
  return {
    kind,
    name,
    reason,
    pausedBy: by,
    pausedAt: new Date(closedAt),
    until: dateOf(until),
    queued: count.jobs,
    atLeast: !count.isExact,
    shared: count.shared,
    sharedAtLeast: !count.isSharedExact,
  };
}

/** A worker that misses more heartbeats is silent. */
const BEATS_MISSED_MAX = 2;

/** Whether heartbeats of a worker are missing, which is known long before its lease ends. */
export function isOverdue({ beatAgoMs, beatMs }: store.JobHolder): boolean {
  return beatAgoMs > BEATS_MISSED_MAX * beatMs;
}

/** Whether the lease of a worker holds and its heartbeats arrive, by the clock of the store. */
export function isAlive(worker: store.WorkerRecord): boolean {
  return worker.leaseLeftMs > 0 && !isOverdue(worker);
}

/** Whether a worker is alive and claims jobs. A task that was taken from SQL claims no more. */
export function isWorking(worker: store.WorkerRecord): boolean {
  return isAlive(worker) && !worker.quiet && worker.takenBy === null;
}

export function workerView(worker: store.WorkerRecord): WorkerView {
  return {
    id: worker.id,
    host: worker.host,
    pid: worker.pid,
    version: worker.version,
    appVersion: worker.appVersion,
    joinedAt: new Date(worker.joinedAt),
    isAlive: isAlive(worker),
    heartbeatAgoMs: Math.max(0, worker.beatAgoMs),
    isQuiet: worker.quiet,
    isStopping: worker.stopping,
    types: worker.types,
    lanes: worker.lanes,
    tenant: worker.tenant,
    slots: worker.slots,
    running: worker.running,
    memoryBytes: worker.memoryBytes,
    loopLagMs: worker.loopLagMs,
    takenBy: worker.takenBy,
  };
}

/** The canonical form of an id; throws ID_INVALID. */
export function idOf(text: string, of: "job" | "worker" | "token" | "operation" = "job"): JobId {
  const id = typeof text === "string" ? parseId(text) : null;
  if (id !== null) return id;
  const what = of === "operation" ? "an operation" : `a ${of}`;
  throw new MillraceError("ID_INVALID", `${JSON.stringify(text)} is not the id of ${what}`);
}

/** The id in a reference to a job. A bare id is no reference: `call` names the caller. */
export function refId(call: "wait" | "result", ref: unknown): JobId {
  if (typeof ref === "object" && ref !== null && "id" in ref && typeof ref.id === "string") {
    return idOf(ref.id);
  }
  const isId = typeof ref === "string" && parseId(ref) !== null;
  const example = isId ? `mill.${call}(await mill.jobs.get("${ref}"))` : `mill.${call}(job)`;
  throw new MillraceError(
    "ID_INVALID",
    `mill.${call} needs the job that mill.enqueue returned, or an object with its id, ` +
      `such as ${example}, not ${shown(ref)}`,
  );
}

/** `keptMs` are the retention periods of finished jobs; empty if no job is removed. */
export function notFound(id: JobId, keptMs: readonly number[]): MillraceError {
  const made = isTimed(id) ? `its id was made at ${iso(idTime(id))}, and ` : "";
  const message = `there is no job ${id}; ${made}${removalAfter(keptMs)}`;
  return new MillraceError("JOB_NOT_FOUND", message, { details: { id } });
}

function removalAfter(keptMs: readonly number[]): string {
  if (keptMs.length === 0) return "this process removes no finished jobs";
  const [least, most] = [Math.min(...keptMs), Math.max(...keptMs)].map(formatDuration);
  return `finished jobs are removed after ${least === most ? least : `${least} to ${most}`}`;
}

/** A UUIDv7 contains its time; jobs have no other ids. */
function isTimed(id: JobId): boolean {
  return idUuid(id)[14] === "7";
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
