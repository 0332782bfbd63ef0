/** `mill.jobs.explain`: why a job is not running, and what to do. */
import { hasLane, takesTenant, takesType } from "../core/takers.ts";
import type { Explanation } from "../api/client.ts";
import { shellWord } from "../lib/shell-word.ts";
import type { Gate, GateName, JobRecord, WorkerRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";

const WORKERS_MAX = 1_000;
/** The most names in one sentence. */
const NAMES_MAX = 10;
/** The most ids in one sentence. */
const AWAITED_MAX = 3;

export interface ExplainContext {
  /** By the clock of this process. */
  readonly now: number;
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
      return over(job, `To run it again: millrace jobs retry ${job.id}`);
    case "failed":
      return over(job, `Read the error, then reprocess or discard it: millrace dlq show ${job.id}`);
    case "running":
      return explainRunning(job, context.crashCap);
    case "scheduled":
      // A due job stays scheduled until the next promoter tick.
      return (job.runAt ?? 0) > context.now
        ? explainScheduled(job)
        : explainDue(store, job, context);
    case "queued":
      return explainDue(store, job, context);
  }
}

function over({ state }: JobRecord, hint: string): Explanation {
  return { sentence: `The job is final: ${state}.`, reason: state, hint };
}

function explainRunning(job: JobRecord, crashCap: number): Explanation {
  if (job.cancelRequested) {
    return {
      sentence: "It is running and has been asked to stop.",
      reason: "cancelling",
      hint: "Its handler should react to ctx.signal; if not, its run ends without it in seconds.",
    };
  }
  if (job.startedAt === null && job.crashes >= crashCap) {
    return {
      sentence: "It runs alone: a worker has claimed it and starts it when its process is empty.",
      reason: "alone",
      hint: `To return it to the queue: millrace jobs release ${job.id} --force`,
    };
  }
  if (job.startedAt === null) {
    return {
      sentence: "A worker has prefetched it and starts it when a slot is free.",
      reason: "buffered",
      hint: `If the worker hangs, return the job: millrace jobs release ${job.id} --force`,
    };
  }
  return {
    sentence: `It has been running since ${iso(job.startedAt)}.`,
    reason: "running",
    hint: `To stop it: millrace jobs cancel ${job.id}`,
  };
}

function explainScheduled(job: JobRecord): Explanation {
  const until = new Date(job.runAt ?? job.scheduledAt);
  const hint = `To run it now: millrace jobs retry ${job.id}`;
  if (job.attempts === 0 && job.fault === null) {
    return { sentence: `It is due at ${until.toISOString()}.`, reason: "scheduled", hint, until };
  }
  const why = job.fault === null ? "" : ` after ${job.fault.name}: ${job.fault.message}`;
  const attempt =
    job.attempts === 0
      ? `the last run cost no attempt${why}`
      : `attempt ${job.attempts} of ${job.maxAttempts} failed${why}`;
  return {
    sentence: `It waits for its next attempt at ${until.toISOString()}; ${attempt}.`,
    reason: "retrying",
    hint,
    until,
  };
}

async function explainDue(
  store: JobStore,
  job: JobRecord,
  { now, crashCap, tenantWorkers }: ExplainContext,
): Promise<Explanation> {
  if (job.heldBy?.kind === "after") return explainAfter(store, job, tenantWorkers !== undefined);
  const gate = (await store.gates()).find((each) => isBehind(job, each));
  if (gate !== undefined) return explainGate(gate);
  const known = await (tenantWorkers?.(WORKERS_MAX) ?? store.workers(WORKERS_MAX));
  const workers = known.filter(({ until }) => until > now);
  return (
    explainMissing(job, workers) ??
    (await explainKey(store, job)) ??
    explainCrashes(job, crashCap) ??
    explainSlots(job, workers.filter(takerOf(job)))
  );
}

/** The job waits for dependencies. */
async function explainAfter(
  store: JobStore,
  { id }: JobRecord,
  isOneTenant: boolean,
): Promise<Explanation> {
  const awaited = await store.openDependencies(id, AWAITED_MAX + 1);
  const [first] = awaited;
  if (first === undefined && isOneTenant) {
    return {
      sentence: "It waits for its dependencies, and no open one belongs to this tenant.",
      reason: "after",
      hint: "If it does not start, ask the operators of the installation.",
    };
  }
  if (first === undefined) {
    return {
      sentence: "Its dependencies are final; it returns to the queue in a moment.",
      reason: "after",
      hint: "If it does not, start a worker: millrace worker --jobs FILE",
    };
  }
  const more = awaited.length > AWAITED_MAX ? " and more" : "";
  const names = `${awaited.slice(0, AWAITED_MAX).join(", ")}${more}`;
  const [jobs, have] = awaited.length === 1 ? ["job", "has"] : ["jobs", "have"];
  return {
    sentence: `It runs after the ${jobs} ${names}, which ${have} not ended yet.`,
    reason: "after",
    hint: `To see why: millrace jobs explain ${first}`,
  };
}

/** Another job, or a unit of another job, holds the concurrency key, or has just released it. */
async function explainKey(store: JobStore, job: JobRecord): Promise<Explanation | null> {
  const { concurrencyKey: key, tenant, id, heldBy } = job;
  if (key === null) return null;
  const holder = await store.lockHolder(tenant, key);
  if (holder === null || holder === id) return heldBy?.kind === "key" ? explainFreeKey(key) : null;
  return {
    sentence: `It is due, but its concurrency key ${key} is taken by job ${holder}.`,
    reason: "key",
    hint: `It starts when that job releases it. To stop that job: millrace jobs cancel ${holder}`,
  };
}

/** The job was held while the key was taken, and has not been released yet. */
function explainFreeKey(key: string): Explanation {
  return {
    sentence: `Its concurrency key ${key} is free again; it returns to the queue in a moment.`,
    reason: "key",
    hint: "If it does not, start a worker: millrace worker --jobs FILE",
  };
}

function explainGate({ kind, name, by, reason, until }: Gate): Explanation {
  const whose = by === null ? "" : ` by ${by}`;
  const sentence = `The ${kind} ${name} is paused${whose}: ${reason}.`;
  const hint = `To resume: millrace resume --${kind} ${shellWord(name)}`;
  if (until === null) return { sentence, reason: "paused", hint };
  return { sentence, reason: "paused", hint, until: new Date(until) };
}

/** The first requirement of the job that no running worker meets. */
function explainMissing(job: JobRecord, alive: readonly WorkerRecord[]): Explanation | null {
  if (alive.length === 0) {
    const hint = "Start one: millrace worker --jobs FILE, or mill.work({ jobs }) in a program.";
    return { sentence: "It is due, but no worker is running.", reason: "no_worker", hint };
  }
  const awake = alive.filter(({ quiet }) => !quiet);
  if (awake.length === 0) {
    return {
      sentence: `It is due, but all ${alive.length} worker(s) are quiet: they take no new work.`,
      reason: "quiet",
      hint: "Start another: millrace worker --jobs FILE",
    };
  }
  const knowing = awake.filter((worker) => takesType(worker, job));
  if (knowing.length === 0) {
    const known = namesOf(awake.flatMap(({ types }) => types));
    return notTaken("type", job.type, `the types ${known}`, "whose file exports that job");
  }
  const having = knowing.filter((worker) => hasLane(worker, job));
  if (having.length === 0) {
    const lanes = namesOf(knowing.flatMap((worker) => worker.lanes));
    return notTaken(
      "lane",
      job.lane,
      `slots in ${lanes}`,
      `with --lanes ${shellWord(`${job.lane}=1`)}`,
    );
  }
  if (having.some(takerOf(job))) return null;
  const tenants = namesOf(having.flatMap(({ tenant }) => tenant ?? []));
  return notTaken(
    "tenant",
    job.tenant,
    `the tenants ${tenants}`,
    `with --tenant ${shellWord(job.tenant)}`,
  );
}

function notTaken(kind: GateName["kind"], name: string, taken: string, how: string): Explanation {
  return {
    sentence: `It is due, but no worker takes the ${kind} ${name}; those that run take ${taken}.`,
    reason: `${kind}_not_taken`,
    hint: `Start one ${how}: millrace worker --jobs FILE`,
  };
}

/** Jobs that have crashed before run in limited numbers, and at last alone. */
function explainCrashes({ crashes, id }: JobRecord, crashCap: number): Explanation | null {
  if (crashes === 0) return null;
  const times = crashes === 1 ? "once" : `${crashes} times`;
  if (crashes >= crashCap) {
    return {
      sentence:
        `Its worker has died ${times} while it ran, so it runs alone: one process at a time ` +
        "stops claiming for such a job and starts it when the process is empty.",
      reason: "alone",
      hint: `To see the crashes: millrace jobs show ${id}`,
    };
  }
  const share = crashes === 1 ? "half" : "an eighth";
  return {
    sentence:
      `Its worker has died ${times} while it ran, so it waits for one of the slots for such ` +
      `jobs: ${share} of the slots of a process.`,
    reason: "crashed",
    hint: `It starts when one is free. To see the crashes: millrace jobs show ${id}`,
  };
}

/** There are workers that take the job. */
function explainSlots({ lane }: JobRecord, takers: readonly WorkerRecord[]): Explanation {
  const slots = takers.reduce((total, worker) => total + worker.slots, 0);
  const running = takers.reduce((total, worker) => total + worker.running, 0);
  const more = `--lanes ${shellWord(`${lane}=N`)}`;
  if (takers.every((worker) => worker.running >= worker.slots)) {
    return {
      sentence: `It is due, and all ${slots} slot(s) of ${takers.length} worker(s) are busy.`,
      reason: "busy",
      hint: `It starts when one is free. Start another worker, or more slots: ${more}`,
    };
  }
  return {
    sentence: `It is due; ${takers.length} worker(s) take it and use ${running} of ${slots} slots.`,
    reason: "waiting",
    hint: `If it does not start soon, the free slots are those of other lanes: ${more}`,
  };
}

function takerOf(job: JobRecord): (worker: WorkerRecord) => boolean {
  return (worker) =>
    !worker.quiet && takesType(worker, job) && hasLane(worker, job) && takesTenant(worker, job);
}

function isBehind(job: JobRecord, gate: GateName): boolean {
  return job[gate.kind] === gate.name;
}

function namesOf(names: readonly string[]): string {
  const all = [...new Set(names)].toSorted();
  const more = all.length > NAMES_MAX ? ", …" : "";
  return `${all.slice(0, NAMES_MAX).join(", ")}${more}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
