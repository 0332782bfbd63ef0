/** The runs of a lease: which it names, which have started, which are open. */
import { idFromBytes } from "../../../core/ids.ts";
import { policyOfFlags } from "../../shared/codes.ts";
import type { CrashFacts, JobKey } from "../../types/jobs-and-runs.ts";
import { findCancelRequests } from "./cancel-requests.ts";
import type { LeaseRow, WaitingRow } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";

/** One run of a lease. */
export interface HeldRun {
  readonly key: JobKey;
  readonly n: number;
  /** Its rank in `ready`, for its return. */
  readonly rank: number;
  /** Null while the job is only prefetched. */
  readonly startedAt: number | null;
}

/** A held run with the facts needed to return it or to decide about it. */
export interface HeldJob extends HeldRun, WaitingRow {
  readonly id: Uint8Array;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly flags: number;
}

/**
 * The runs that a lease names. A run without a key or a number, in a lease that was edited by hand,
 * is left out: `millrace doctor` finds its job.
 */
export function runsOf(lease: LeaseRow): HeldRun[] {
  const [keys, ns, ranks, starts] = [lease.keys, lease.ns, lease.ranks, lease.starts].map(listOf);
  const first = ranks?.[0] ?? 0;
  return (keys ?? []).flatMap((key, index) => {
    const n = ns?.[index] ?? null;
    if (key === null || n === null) return [];
    const rank = index === 0 ? first : first + (ranks?.[index] ?? 0);
    const start = starts?.[index] ?? null;
    const startedAt = start === null ? null : lease.claimed_at + start;
    return [{ key, n, rank, startedAt }];
  });
}

/** A list of integers. Null stands for any other value. */
function listOf(json: string): (number | null)[] {
  try {
    const list: unknown = JSON.parse(json);
    if (!Array.isArray(list)) return [];
    return list.map((value) => (Number.isSafeInteger(value) ? value : null));
  } catch {
    return [];
  }
}

/** The runs of a lease without a ledger row. */
export function openRuns(session: Session, lease: LeaseRow): HeldRun[] {
  return openAmong(session, runsOf(lease));
}

/** The given runs without a ledger row. */
export function openAmong({ sql }: Session, runs: readonly HeldRun[]): HeldRun[] {
  const keys = JSON.stringify(runs.map(({ key }) => key));
  const ended = new Map(sql.tuples("last_runs", { keys }));
  return runs.filter(({ key, n }) => (ended.get(key) ?? 0) < n);
}

/** The same runs with the facts of their jobs. A run whose job has no row is left out. */
export function withFacts({ sql }: Session, runs: readonly HeldRun[]): HeldJob[] {
  const keys = JSON.stringify(runs.map(({ key }) => key));
  const facts = new Map(sql.all("job_facts", { keys }).map((row) => [row.key, row]));
  return runs.flatMap((run) => {
    const job = facts.get(run.key);
    return job === undefined ? [] : [{ ...job, ...run }];
  });
}

/** The facts that decide about a crashed or ended run. */
export function factsOf({ names }: Session, job: HeldJob): CrashFacts {
  const { tries, crashes, max_attempts: maxAttempts } = job;
  const id = idFromBytes(job.id);
  const type = names.text(job.type);
  return { id, type, tries, crashes, maxAttempts, ...policyOfFlags(job.flags) };
}

/** Splits runs into those with a cancel request, and the others. */
export function splitByRequest<Run extends HeldRun>(
  session: Session,
  runs: readonly Run[],
): { toCancel: readonly (Run & { readonly reason: string | null })[]; others: readonly Run[] } {
  const requests = findCancelRequests(
    session,
    runs.map(({ key }) => key),
  );
  return {
    toCancel: runs
      .filter(({ key }) => requests.has(key))
      .map((run) => ({ ...run, reason: requests.get(run.key) ?? null })),
    others: runs.filter(({ key }) => !requests.has(key)),
  };
}

/** Reduces a lease to these runs, or deletes it if there are none. */
export function keepRuns({ sql }: Session, lease: LeaseRow, runs: readonly HeldRun[]): void {
  if (runs.length === 0) {
    sql.run("delete_lease", { number: lease.number });
    return;
  }
  sql.run("set_lease_jobs", { number: lease.number, ...listsOf(runs, lease.claimed_at) });
}

/** Deletes a lease whose runs have all ended. */
export function closeIfDone(session: Session, lease: LeaseRow): void {
  if (openRuns(session, lease).length > 0) return;
  session.sql.run("delete_lease", { number: lease.number });
}

/** The four lists of a lease. Instants are stored as short offsets: each start rewrites the row. */
export function listsOf(
  runs: readonly HeldRun[],
  claimedAt: number,
): { keys: string; ns: string; ranks: string; starts: string } {
  const first = runs[0]?.rank ?? 0;
  return {
    keys: JSON.stringify(runs.map(({ key }) => key)),
    ns: JSON.stringify(runs.map(({ n }) => n)),
    ranks: JSON.stringify(runs.map(({ rank }, index) => (index === 0 ? rank : rank - first))),
    starts: startsOf(runs, claimedAt),
  };
}

export function startsOf(runs: readonly Pick<HeldRun, "startedAt">[], claimedAt: number): string {
  return JSON.stringify(
    runs.map(({ startedAt }) => (startedAt === null ? null : startedAt - claimedAt)),
  );
}
