/** Why is this job not running? One sentence, and the reason as a word for programs. */
import type { GateName, JobRecord, JobStore } from "../store/store.ts";

export interface Explanation {
  sentence: string;
  reason: string;
  until?: Date;
}

const WORKERS_MAX = 1_000;

export async function explain(store: JobStore, job: JobRecord, now: number): Promise<Explanation> {
  switch (job.state) {
    case "completed":
    case "completed_with_errors":
    case "failed":
    case "cancelled":
      return { sentence: `It is over: ${job.state}.`, reason: job.state };
    case "running":
      return explainRunning(job);
    case "scheduled":
      return explainScheduled(job);
    case "queued":
      return explainQueued(store, job, now);
  }
}

function explainRunning(job: JobRecord): Explanation {
  if (job.cancelRequested) {
    return { sentence: "It is running and has been asked to stop.", reason: "cancelling" };
  }
  if (job.startedAt === null) {
    return {
      sentence: "A worker has taken it and starts it as soon as a slot is free.",
      reason: "buffered",
    };
  }
  return { sentence: `It is running since ${iso(job.startedAt)}.`, reason: "running" };
}

function explainScheduled(job: JobRecord): Explanation {
  const until = new Date(job.runAt ?? job.scheduledAt);
  if (job.attempts === 0) {
    return { sentence: `It is due at ${until.toISOString()}.`, reason: "scheduled", until };
  }
  const why = job.fault === null ? "" : ` after ${job.fault.name}: ${job.fault.message}`;
  const attempt = `attempt ${job.attempts} of ${job.maxAttempts} failed${why}`;
  return {
    sentence: `It waits for its next attempt at ${until.toISOString()}; ${attempt}.`,
    reason: "retrying",
    until,
  };
}

async function explainQueued(store: JobStore, job: JobRecord, now: number): Promise<Explanation> {
  const gate = (await store.gates()).find((each) => isBehind(job, each));
  if (gate !== undefined) {
    const by = gate.by === null ? "" : ` by ${gate.by}`;
    const sentence = `The ${gate.kind} ${gate.name} is paused${by}: ${gate.reason}.`;
    if (gate.until === null) return { sentence, reason: "paused" };
    return { sentence, reason: "paused", until: new Date(gate.until) };
  }
  const workers = (await store.workers(WORKERS_MAX)).filter(
    ({ quiet, until }) => !quiet && until > now,
  );
  if (workers.length === 0) {
    return { sentence: "It is due, but no worker is running.", reason: "no_worker" };
  }
  const sentence =
    `It is due and waits for a free slot of a worker that knows the type ${job.type}; ` +
    `${workers.length} worker(s) are running.`;
  return { sentence, reason: "waiting" };
}

function isBehind(job: JobRecord, gate: GateName): boolean {
  return job[gate.kind] === gate.name;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
