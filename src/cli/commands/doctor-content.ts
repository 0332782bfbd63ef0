/** What `millrace doctor` says about jobs, workers and pauses. */
import type { JobStats } from "../../api/client.ts";
import { countJobs } from "../../client/stats.ts";
import { formatDuration } from "../../core/duration.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

const WORKERS_MAX = 1_000;

export async function contentChecks(store: JobStore): Promise<DoctorCheck[]> {
  return [
    ...(await jobChecks(store)),
    ...(await workerChecks(store)),
    ...(await pauseChecks(store)),
  ];
}

async function jobChecks(store: JobStore): Promise<DoctorCheck[]> {
  const stats = await countJobs(store);
  const { queued, oldestQueuedMs } = stats;
  const names = ["scheduled", "queued", "running", "failed"] as const;
  const found = names.map((name) => `${countOf(stats, name)} ${name}`).join(", ");
  const workers = await store.workers(WORKERS_MAX);
  const silent = await silentOf(store);
  const isServed = workers.some(({ id, quiet }) => !silent.has(id) && !quiet);
  if (queued === 0 || isServed) return [{ name: "jobs", found, fix: null }];
  const waits = oldestQueuedMs === null ? "" : `, the oldest for ${formatDuration(oldestQueuedMs)}`;
  return [
    {
      name: "jobs",
      found: `${found}; jobs wait${waits}, and no worker runs`,
      fix: "millrace worker --jobs FILE",
    },
  ];
}

function countOf(
  stats: JobStats,
  name: "scheduled" | "queued" | "held" | "running" | "failed",
): string {
  return stats.atLeast.includes(name) ? `at least ${stats[name]}` : String(stats[name]);
}

/** The silent workers by the clock of the store, because the clock of this host may be wrong. */
async function silentOf(store: JobStore): Promise<ReadonlySet<string>> {
  return new Set((await store.silent(WORKERS_MAX)).map(({ id }) => id));
}

/** A silent worker has died or is stuck. Any other worker rescues its jobs. */
async function workerChecks(store: JobStore): Promise<DoctorCheck[]> {
  const workers = await store.workers(WORKERS_MAX);
  const ids = await silentOf(store);
  const silent = workers.filter(({ id }) => ids.has(id));
  if (silent.length === 0) {
    const known = workers.length < WORKERS_MAX ? workers.length : `at least ${WORKERS_MAX}`;
    return [{ name: "workers", found: `${known} known, none silent`, fix: null }];
  }
  return silent.map(({ id, host, pid, until, running, prefetched }) => ({
    name: "workers",
    found:
      `${id} (${host}, pid ${pid}) has been silent since ${new Date(until).toISOString()}` +
      ` and holds ${running + prefetched} job(s)`,
    fix: "Start any worker, which rescues these jobs: millrace worker --jobs FILE",
  }));
}

async function pauseChecks(store: JobStore): Promise<DoctorCheck[]> {
  const stats = await countJobs(store);
  const { held } = stats;
  const gates = await store.gates();
  if (held === 0) return [{ name: "pauses", found: `${gates.length}, holding no jobs`, fix: null }];
  const heldJobs = countOf(stats, "held");
  return gates.map(({ kind, name, reason }) => ({
    name: "pauses",
    found: `the ${kind} ${name} is paused (${reason}); ${heldJobs} job(s) are held in total`,
    fix: `millrace resume --${kind} ${shellWord(name)}`,
  }));
}
