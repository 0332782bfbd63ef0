/** `mill.jobs.explain`: why a job is not running, and what to do. */
import type { Explanation, RunDetails } from "../api/control/explanation.ts";
import { isFinal, type FinalState, type JobId } from "../core/job.ts";
import { isAlive, isOverdue } from "../jobs/views.ts";
import { shellWord } from "../lib/shell-word.ts";
import { explainCrashes } from "./control/explain-crashes.ts";
import { explainLimits } from "./control/explain-limits.ts";
import { explainMissing, explainSlots } from "./control/explain-workers.ts";
import type { Gate, GateName, JobRecord, WorkerRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { explainedPause, explainSentBack, explainServices } from "./services/explain.ts";

const WORKERS_MAX = 1_000;
/** The most ids in one sentence, and in the data behind it. */
const AWAITED_MAX = 3;
const AWAITED_DETAILS_MAX = 100;

export interface ExplainContext {
  /** From this number of crashes on, the job runs alone. */
  readonly crashCap: number;
  /** For the mill of a tenant: the workers that take its jobs. Absent: all tenants. */
  readonly tenantWorkers?: TenantWorkers | undefined;
}

/** Reads the workers that take jobs of one tenant. */
export type TenantWorkers = (limit: number) => Promise<readonly WorkerRecord[]>;

export async function explain(
  store: JobStore,
  job: JobRecord,
  context: ExplainContext,
): Promise<Explanation> {
  switch (job.state) {
    case "completed":
    case "completed_with_errors":
    case "cancelled":
      return over(job.state, job, `To run it again: millrace jobs retry ${job.id}`);
    case "failed":
      return over(
        job.state,
        job,
        `Read the error, then reprocess or discard it: millrace dlq show ${job.id}`,
      );
    case "running":
      return explainRunning(job, context.crashCap);
    case "scheduled":
      return explainLater(store, job, context);
    case "queued":
      return explainDue(store, job, await store.time(), context);
  }
}

function over(state: FinalState, { finishedAt }: JobRecord, hint: string): Explanation {
  const details = { finishedAt: dateOf(finishedAt) };
  return { sentence: `The job is final: ${state}.`, reason: state, hint, details };
}

function explainRunning(job: JobRecord, crashCap: number): Explanation {
  const { attempts, maxAttempts, crashes } = job;
  const details: RunDetails = { startedAt: dateOf(job.startedAt), attempts, maxAttempts };
  if (job.cancelRequested) {
    return {
      sentence: "It is running and has been asked to stop.",
      reason: "cancelling",
      hint: "Its handler should react to ctx.signal; if not, its run ends without it in seconds.",
      details,
    };
  }
  if (job.startedAt === null && crashes >= crashCap) {
    return {
      sentence: "It runs alone: a worker has claimed it and starts it when its process is empty.",
      reason: "alone",
      hint: `To return it to the queue: millrace jobs release ${job.id} --force`,
      details: { crashes, cap: crashCap },
    };
  }
  if (job.startedAt === null) {
    return {
      sentence: "A worker has prefetched it and starts it when a slot is free.",
      reason: "buffered",
      hint: `If the worker hangs, return the job: millrace jobs release ${job.id} --force`,
      details,
    };
  }
  return {
    sentence: `It has been running since ${iso(job.startedAt)}.`,
    reason: "running",
    hint: `To stop it: millrace jobs cancel ${job.id}`,
    details,
  };
}

/** The clock of this process may be wrong: a job is due by that of the store. */
async function explainLater(
  store: JobStore,
  job: JobRecord,
  context: ExplainContext,
): Promise<Explanation> {
  const now = await store.time();
  // A due job stays scheduled until the next promoter tick.
  if ((job.runAt ?? 0) <= now) return explainDue(store, job, now, context);
  return (await explainSentBack(store, job, now)) ?? explainScheduled(job);
}

function explainScheduled(job: JobRecord): Explanation {
  const until = new Date(job.runAt ?? job.scheduledAt);
  const hint = `To run it now: millrace jobs retry ${job.id}`;
  if (job.attempts === 0 && job.fault === null) {
    const sentence = `It is due at ${until.toISOString()}.`;
    return { sentence, reason: "scheduled", hint, until, details: { at: until } };
  }
  const why = job.fault === null ? "" : ` after ${job.fault.name}: ${job.fault.message}`;
  const { attempts, maxAttempts } = job;
  const attempt =
    attempts === 0
      ? `the last run cost no attempt${why}`
      : `attempt ${attempts} of ${maxAttempts} failed${why}`;
  return {
    sentence: `It waits for its next attempt at ${until.toISOString()}; ${attempt}.`,
    reason: "retrying",
    hint,
    until,
    details: { at: until, attempts, maxAttempts, error: job.fault?.name ?? null },
  };
}

async function explainDue(
  store: JobStore,
  job: JobRecord,
  now: number,
  { crashCap, tenantWorkers }: ExplainContext,
): Promise<Explanation> {
  const isOneTenant = tenantWorkers !== undefined;
  if (job.heldBy?.kind === "after") return explainAfter(store, job, isOneTenant);
  const gates = await store.gates();
  const ofGates = explainGates(gates.filter((gate) => isBehind(job, gate)));
  if (ofGates !== null) return ofGates;
  const ofService = await explainServices(store, job, gates, now);
  if (ofService !== null) return ofService;
  const known = await (tenantWorkers?.(WORKERS_MAX) ?? store.workers(WORKERS_MAX));
  const registered = known.filter(({ takenBy }) => takenBy === null);
  const alive = registered.filter(isAlive);
  const silent = registered.filter(isSilent);
  return (
    explainMissing(job, { alive, silent, isOneTenant }) ??
    (await explainKey(store, job)) ??
    (await explainLimits(store, job, now)) ??
    explainFreeKey(job) ??
    explainCrashes(job, alive, crashCap) ??
    (await explainSlots(store, job, { alive, isOneTenant }))
  );
}

/** The worker has died or is stuck, and its lease has not ended yet. */
function isSilent(worker: WorkerRecord): boolean {
  return worker.leaseLeftMs > 0 && isOverdue(worker);
}

/** The job waits for dependencies. */
async function explainAfter(
  store: JobStore,
  { id }: JobRecord,
  isOneTenant: boolean,
): Promise<Explanation> {
  const awaited = await store.openDependencies(id, AWAITED_DETAILS_MAX + 1);
  const [first] = awaited;
  if (first === undefined && isOneTenant) {
    return {
      sentence: "It waits for its dependencies, and no open one belongs to this tenant.",
      reason: "after",
      hint: "If it does not start, ask the operators of the installation.",
      details: { jobs: [], more: false },
    };
  }
  if (first === undefined) {
    return {
      sentence: "Its dependencies are final; it returns to the queue in a moment.",
      reason: "after",
      hint: "If it does not, start a worker: millrace worker --jobs FILE",
      details: { jobs: [], more: false },
    };
  }
  const ofHandler = await explainHandler(store, first);
  if (ofHandler !== null) return ofHandler;
  const more = awaited.length > AWAITED_MAX ? " and more" : "";
  const names = `${awaited.slice(0, AWAITED_MAX).join(", ")}${more}`;
  const [jobs, have] = awaited.length === 1 ? ["job", "has"] : ["jobs", "have"];
  return {
    sentence: `It runs after the ${jobs} ${names}, which ${have} not ended yet.`,
    reason: "after",
    hint: `To see why: millrace jobs explain ${first}`,
    details: {
      jobs: awaited.slice(0, AWAITED_DETAILS_MAX),
      more: awaited.length > AWAITED_DETAILS_MAX,
    },
  };
}

/** The job repeats a job that is final, and whose handler has not returned. */
async function explainHandler(store: JobStore, id: JobId): Promise<Explanation | null> {
  const [job, holder] = [await store.get(id), await store.holder(id)];
  if (job === null || holder === null || !isFinal(job.state)) return null;
  const { id: worker, host, pid } = holder;
  const until = new Date(holder.until);
  return {
    sentence:
      `It waits for the handler of job ${id}: the run has ended, but worker ${worker} (process ` +
      `${pid} on ${host}) has not reported that the handler has returned. The lease of the ` +
      `worker ends at ${until.toISOString()}, unless a heartbeat renews it.`,
    reason: "handler",
    hint: `It starts when the handler returns. To end the worker: millrace workers stop ${worker}`,
    details: { job: id, worker, host, pid, leaseUntil: until },
  };
}

/** Another job, or a unit of another job, holds the concurrency key. */
async function explainKey(store: JobStore, job: JobRecord): Promise<Explanation | null> {
  const { concurrencyKey: key, tenant, id } = job;
  if (key === null) return null;
  const holder = await store.lockHolder(tenant, key);
  if (holder === null || holder === id) return null;
  return {
    sentence: `It is due, but its concurrency key ${key} is taken by job ${holder}.`,
    reason: "key",
    hint: `It starts when that job releases it. To stop that job: millrace jobs cancel ${holder}`,
    details: { name: key, holder },
  };
}

/** The job was held while the key was taken, and has not been released yet. */
function explainFreeKey({ concurrencyKey: key, heldBy }: JobRecord): Explanation | null {
  if (key === null || heldBy?.kind !== "key") return null;
  return {
    sentence: `Its concurrency key ${key} is free again; it returns to the queue in a moment.`,
    reason: "key",
    hint: "If it does not, start a worker: millrace worker --jobs FILE",
    details: { name: key, holder: null },
  };
}

/** The pause that lasts longest. The job starts when the others have ended as well. */
function explainGates(gates: readonly Gate[]): Explanation | null {
  const endOf = ({ until }: Gate): number => until ?? Number.MAX_VALUE;
  const [gate, ...others] = gates.toSorted((left, right) => endOf(right) - endOf(left));
  if (gate === undefined) return null;
  const { kind, name, by, reason } = gate;
  const whose = by === null ? "" : ` by ${by}`;
  const also = others.map((other) => ` The ${pausedOf(other)} is paused as well.`).join("");
  const sentence = `The ${pausedOf(gate)} is paused${whose}: ${reason}.${also}`;
  const option = kind === "installation" ? "--all" : `--${kind} ${shellWord(name)}`;
  return explainedPause(gate, sentence, `To resume: millrace resume ${option}`, null);
}

function pausedOf({ kind, name }: Gate): string {
  return kind === "installation" ? "whole installation" : `${kind} ${name}`;
}

function isBehind(job: JobRecord, gate: GateName): boolean {
  if (gate.kind === "installation") return true;
  return gate.kind !== "service" && job[gate.kind] === gate.name;
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
