/** What `millrace doctor` says about jobs, workers, pauses and intakes. */
import type { JobStats } from "../../api/client.ts";
import { countJobs } from "../../client/stats.ts";
import { formatDuration } from "../../core/duration.ts";
import { notTaken, type Wanted } from "../../core/takers.ts";
import { isOverdue } from "../../jobs/views.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { CountBehind, CountName, Gate, WorkerRecord } from "../../store/types/records.ts";
import type { JobStore } from "../../store/store.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";
import type { UnfinishedChecks } from "../../store/doctor/unfinished.ts";
import { auditChecks } from "./audit/doctor-audit.ts";
import { intakeChecks } from "./control/doctor-intakes.ts";
import { removalChecks } from "./control/doctor-removals.ts";
import { partialChecks } from "./doctor-partial.ts";
import { newUnfinishedChecks, unfinishedChecks } from "./doctor-unfinished.ts";
import { typeChecks } from "./services/doctor-types.ts";

const WORKERS_MAX = 1_000;
/** The queued jobs that are compared with workers and pauses; --deep compares all with workers. */
const QUEUED_MAX = 100_000;
/** The groups of queued jobs by type, lane and tenant that are compared. */
const GROUPS_MAX = 10_000;
/** The groups that no worker takes and that are named; the others are counted. */
const NAMED_MAX = 10;
const UNTAKEN = "jobs that no worker takes";

export async function contentChecks(store: JobStore, isDeep: boolean): Promise<DoctorCheck[]> {
  const checks = newUnfinishedChecks();
  const workers = await checks.run("jobs and workers", null, () => knownWorkers(store));
  const ofJobs = await checks.run("jobs", [], async () =>
    workers === null ? [] : jobChecks(store, workers, isDeep, checks),
  );
  const ofPauses = await checks.run("pauses", [], () => pauseChecks(store));
  const ofTypes = await checks.run("types", [], () => typeChecks(store));
  const ofIntakes = await checks.run("intakes", [], () => intakeChecks(store));
  const ofRemovals = await checks.run("removals", [], () => removalChecks(store));
  const ofAudit = await checks.run("audit", [], () => auditChecks(store, isDeep));
  return [
    ...ofJobs,
    ...(workers === null ? [] : workerChecks(workers)),
    ...ofPauses,
    ...ofTypes,
    ...ofIntakes,
    ...ofRemovals,
    ...ofAudit,
    ...unfinishedChecks(checks.all),
  ];
}

interface KnownWorker extends WorkerRecord {
  /** The lease has ended by the clock of the store: the clock of this host may be wrong. */
  readonly isSilent: boolean;
}

async function knownWorkers(store: JobStore): Promise<readonly KnownWorker[]> {
  const workers = await store.workers(WORKERS_MAX);
  const silent = new Set((await store.silent(WORKERS_MAX)).map(({ id }) => id));
  const registered = workers.filter(({ takenBy }) => takenBy === null);
  return registered.map((worker) => ({ ...worker, isSilent: silent.has(worker.id) }));
}

async function jobChecks(
  store: JobStore,
  workers: readonly KnownWorker[],
  isDeep: boolean,
  checks: UnfinishedChecks,
): Promise<DoctorCheck[]> {
  const stats = await countJobs(store);
  const { queued, oldestQueuedMs } = stats;
  const names = ["scheduled", "queued", "running", "failed"] as const;
  const found = names.map((name) => `${countOf(stats, name)} ${name}`).join(", ");
  const waits = oldestQueuedMs === null ? "" : `, the oldest for ${formatDuration(oldestQueuedMs)}`;
  const alive = workers.filter(({ isSilent }) => !isSilent);
  if (queued > 0 && alive.every(({ quiet }) => quiet)) {
    const why = alive.length === 0 ? "no worker runs" : `all ${alive.length} worker(s) are quiet`;
    const idle = `${found}; jobs wait${waits}, and ${why}`;
    return [{ name: "jobs", found: idle, fix: "millrace worker --jobs FILE" }];
  }
  const takers = alive.filter((worker) => !worker.quiet && !isOverdue(worker));
  const untaken = await checks.run(UNTAKEN, [], async () =>
    queued === 0 ? [] : untakenChecks(store, takers, isDeep),
  );
  return [{ name: "jobs", found, fix: null }, ...untaken];
}

function countOf(stats: JobStats, name: CountName): string {
  return stats.atLeast.includes(name) ? `at least ${stats[name]}` : String(stats[name]);
}

/** Queued jobs of a type, a lane or a tenant that no worker takes. */
async function untakenChecks(
  store: JobStore,
  takers: readonly WorkerRecord[],
  isDeep: boolean,
): Promise<DoctorCheck[]> {
  const rows = isDeep ? Number.MAX_SAFE_INTEGER : QUEUED_MAX;
  const { groups, cutShort, hasMore } = await store.groupedStats({ rows, groups: GROUPS_MAX });
  const untaken = new Map<string, { kind: keyof Wanted; name: string; count: number }>();
  for (const group of groups) {
    const kind = group.queued > 0 ? notTaken(group, takers) : null;
    if (kind === null) continue;
    const name = group[kind];
    const known = untaken.get(`${kind} ${name}`)?.count ?? 0;
    untaken.set(`${kind} ${name}`, { kind, name, count: known + group.queued });
  }
  const all = [...untaken.values()];
  const more = all.length - NAMED_MAX;
  return [
    ...all.slice(0, NAMED_MAX).map(untakenCheck),
    ...(more > 0 ? [moreUntaken(more)] : []),
    ...(cutShort.includes("queued") || hasMore ? partialChecks([UNTAKEN_PART]) : []),
  ];
}

function untakenCheck(untaken: { kind: keyof Wanted; name: string; count: number }): DoctorCheck {
  const { kind, name, count } = untaken;
  const found = `${count} queued job(s) of the ${kind} ${name}, which no worker takes`;
  const start = "millrace worker --jobs FILE";
  switch (kind) {
    case "type":
      return { name: "jobs", found, fix: `Start a worker whose file exports the job: ${start}` };
    case "lane":
      return { name: "jobs", found, fix: `${start} --lanes ${shellWord(`${name}=1`)}` };
    case "tenant":
      return { name: "jobs", found, fix: `${start} --tenant ${shellWord(name)}` };
  }
}

function moreUntaken(count: number): DoctorCheck {
  const found = `${count} more groups of queued jobs that no worker takes`;
  return { name: "jobs", found, fix: "Start workers for the groups above, and run doctor again." };
}

const UNTAKEN_PART = {
  table: "ready",
  examined: QUEUED_MAX,
  checks: [UNTAKEN],
} as const;

/** A silent worker has died or is stuck. Any other worker rescues its jobs. */
function workerChecks(workers: readonly KnownWorker[]): DoctorCheck[] {
  const findings = workers.flatMap((worker) => {
    if (worker.isSilent) return [silentCheck(worker)];
    return isOverdue(worker) ? [overdueCheck(worker)] : [];
  });
  if (findings.length > 0) return findings;
  const known = workers.length < WORKERS_MAX ? workers.length : `at least ${WORKERS_MAX}`;
  return [{ name: "workers", found: `${known} known, none silent`, fix: null }];
}

function silentCheck({ id, host, pid, until, running, prefetched }: KnownWorker): DoctorCheck {
  return {
    name: "workers",
    found:
      `${id} (${host}, pid ${pid}) has been silent since ${new Date(until).toISOString()}` +
      ` and holds ${running + prefetched} job(s)`,
    fix: "Start any worker, which rescues these jobs: millrace worker --jobs FILE",
  };
}

function overdueCheck(worker: KnownWorker): DoctorCheck {
  const { id, host, pid, until, beatAgoMs, running, prefetched } = worker;
  return {
    name: "workers",
    found:
      `${id} (${host}, pid ${pid}) has sent no heartbeat for ${formatDuration(beatAgoMs)}` +
      ` and holds ${running + prefetched} job(s);` +
      ` its lease ends at ${new Date(until).toISOString()}`,
    fix:
      `Look at the process ${pid} on ${host}: it has died, is stopped, or cannot reach the ` +
      "store. When its lease has ended, any other worker rescues its jobs.",
  };
}

async function pauseChecks(store: JobStore): Promise<DoctorCheck[]> {
  const { held } = await countJobs(store);
  const gates = await store.gates();
  const holding: DoctorCheck[] = [];
  for (const gate of held === 0 ? [] : gates) {
    const count = await store.countBehind(gate, QUEUED_MAX);
    if (count.jobs + count.shared > 0) holding.push(pauseCheck(gate, count));
  }
  if (holding.length > 0) return holding;
  return [{ name: "pauses", found: `${gates.length}, holding no jobs`, fix: null }];
}

function pauseCheck({ kind, name, reason }: Gate, count: CountBehind): DoctorCheck {
  const { jobs, isExact, shared, isSharedExact } = count;
  const alone = `${counted(jobs, isExact)} job(s) wait for this pause alone`;
  const others =
    shared === 0 ? "" : `, ${counted(shared, isSharedExact)} for another pause as well`;
  return {
    name: "pauses",
    found: `the ${kind} ${name} is paused (${reason}); ${alone}${others}`,
    fix: `millrace resume --${kind} ${shellWord(name)}`,
  };
}

function counted(count: number, isExact: boolean): string {
  return isExact ? String(count) : `at least ${count}`;
}
