/** The whole database as plain values: small enough here to be read after every piece of work. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { plainPrepare } from "./taps.ts";

export interface JobRow {
  readonly key: number;
  readonly id: string;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly priority: number;
  readonly run_at: number;
  readonly max_attempts: number;
  readonly payload: string | null;
  readonly parent: string | null;
  readonly retry_of: string | null;
  readonly idempotency: string | null;
  readonly dedup: string | null;
  readonly created_at: number;
}

export interface AttemptRow {
  readonly key: number;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly worker: string | null;
  readonly fence: number | null;
  readonly started_at: number | null;
  readonly finished_at: number;
  readonly outcome: number;
  readonly state: number | null;
  readonly result: string | null;
  readonly reason: string | null;
  readonly next_run_at: number | null;
}

export interface PlaceRow {
  readonly place: "scheduled" | "ready" | "blocked";
  readonly key: number;
  /** Microseconds, in all three places. */
  readonly rank: number;
  readonly lane: number;
  readonly priority: number;
  readonly type: number;
  readonly tenant: number;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly gate: number | null;
}

/** One run of a lease that is still open. */
export interface HeldRow {
  readonly key: number;
  readonly n: number;
  readonly rank: number;
  readonly start: number | null;
  readonly fence: number;
  readonly worker: string;
}

export interface LeaseRow {
  readonly number: number;
  readonly secret: string;
  readonly worker: string;
  readonly keys: string;
  readonly ns: string;
  readonly ranks: string;
  readonly starts: string;
}

export interface EventRow {
  readonly position: number;
  readonly kind: number;
  readonly at: number;
  readonly keys: string | null;
  readonly ids: string | null;
}

export interface WorkerRow {
  readonly until: number;
  readonly beats: number;
  readonly quiet: number;
}

export interface Snapshot {
  readonly jobs: ReadonlyMap<number, JobRow>;
  /** By job, in the order of runs. */
  readonly attempts: ReadonlyMap<number, readonly AttemptRow[]>;
  readonly places: ReadonlyMap<number, readonly PlaceRow[]>;
  readonly held: ReadonlyMap<number, readonly HeldRow[]>;
  readonly leases: ReadonlyMap<number, LeaseRow>;
  readonly workers: ReadonlyMap<string, WorkerRow>;
  readonly dedup: ReadonlyMap<string, number>;
  readonly idempotency: ReadonlyMap<string, { job_id: string; expires_at: number | null }>;
  readonly gates: ReadonlyMap<number, number | null>;
  readonly asked: ReadonlySet<number>;
  readonly letters: ReadonlyMap<string, { readonly status: number; readonly died_at: number }>;
  readonly names: ReadonlyMap<number, string>;
  readonly lastEvent: number;
}

const SQL = {
  jobs: `SELECT key, hex(id) AS id, type, tenant, lane, priority, run_at, max_attempts, payload,
    hex(parent) AS parent, hex(retry_of) AS retry_of, idempotency, dedup, created_at
    FROM millrace_job ORDER BY key`,
  attempts: `SELECT key, n, tries, crashes, hex(worker) AS worker, fence, started_at, finished_at,
    outcome, state, result, reason, next_run_at FROM millrace_attempt ORDER BY key, n`,
  places: `SELECT 'scheduled' AS place, key, run_at * 1000 AS rank, lane, priority, type, tenant,
      n, tries, crashes, NULL AS gate FROM millrace_scheduled
    UNION ALL SELECT 'ready', key, rank, lane, priority, type, tenant, n, tries, crashes, NULL
      FROM millrace_ready
    UNION ALL SELECT 'blocked', key, rank, lane, priority, type, tenant, n, tries, crashes, gate
      FROM millrace_blocked`,
  leases: `SELECT number, secret, hex(worker) AS worker, keys, ns, ranks, starts
    FROM millrace_lease ORDER BY number`,
  workers: "SELECT hex(id) AS id, until, beats, quiet FROM millrace_worker ORDER BY id",
  dedup: "SELECT tenant || '.' || type || '.' || key AS name, job FROM millrace_dedup",
  idempotency: `SELECT tenant || '.' || key AS name, hex(job_id) AS job_id, expires_at
    FROM millrace_idempotency`,
  gates: "SELECT name, until FROM millrace_gate",
  asked: "SELECT key FROM millrace_cancel_request",
  letters: "SELECT hex(id) AS id, status, died_at FROM millrace_dead_letter",
  names: "SELECT id, text FROM millrace_name",
  lastEvent: "SELECT seq AS position FROM sqlite_sequence WHERE name = 'millrace_event'",
  events: "SELECT position, kind, at, keys, ids FROM millrace_event WHERE position > ?",
} as const;

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

function rows(database: DatabaseSync, name: keyof typeof SQL, ...values: number[]): any[] {
  const statements = prepared.get(database) ?? new Map<string, StatementSync>();
  prepared.set(database, statements);
  const statement = statements.get(name) ?? plainPrepare(database, SQL[name]);
  statements.set(name, statement);
  return statement.all(...values);
}

export function eventsAfter(database: DatabaseSync, position: number): readonly EventRow[] {
  return rows(database, "events", position);
}

export function workersOf(database: DatabaseSync): Snapshot["workers"] {
  return new Map(rows(database, "workers").map((row) => [row.id, row]));
}

export function takeSnapshot(database: DatabaseSync): Snapshot {
  const attempts = grouped<AttemptRow>(rows(database, "attempts"));
  const leases: LeaseRow[] = rows(database, "leases");
  return {
    jobs: new Map(rows(database, "jobs").map((row) => [row.key, row])),
    attempts,
    places: grouped<PlaceRow>(rows(database, "places")),
    held: heldRuns(leases, attempts),
    leases: new Map(leases.map((lease) => [lease.number, lease])),
    workers: workersOf(database),
    dedup: new Map(rows(database, "dedup").map((row) => [row.name, row.job])),
    idempotency: new Map(rows(database, "idempotency").map((row) => [row.name, row])),
    gates: new Map(rows(database, "gates").map((row) => [row.name, row.until])),
    asked: new Set(rows(database, "asked").map((row) => row.key)),
    letters: new Map(rows(database, "letters").map((row) => [row.id, row])),
    names: new Map(rows(database, "names").map((row) => [row.id, row.text])),
    lastEvent: rows(database, "lastEvent")[0]?.position ?? 0,
  };
}

function grouped<Row extends { readonly key: number }>(all: readonly Row[]): Map<number, Row[]> {
  const groups = new Map<number, Row[]>();
  for (const row of all) {
    const group = groups.get(row.key);
    if (group === undefined) groups.set(row.key, [row]);
    else group.push(row);
  }
  return groups;
}

/** The runs that leases hold: those that the ledger does not know yet. */
function heldRuns(
  leases: readonly LeaseRow[],
  attempts: ReadonlyMap<number, readonly AttemptRow[]>,
): Map<number, HeldRow[]> {
  const held = leases.flatMap((lease) => {
    const keys: number[] = JSON.parse(lease.keys);
    const ns: number[] = JSON.parse(lease.ns);
    const ranks: number[] = JSON.parse(lease.ranks);
    const starts: (number | null)[] = JSON.parse(lease.starts);
    return keys.map((key, index) => {
      const rank = index === 0 ? ranks[0]! : ranks[0]! + ranks[index]!;
      const { number: fence, worker } = lease;
      return { key, n: ns[index]!, rank, start: starts[index]!, fence, worker };
    });
  });
  return grouped(held.filter(({ key, n }) => (attempts.get(key)?.at(-1)?.n ?? 0) < n));
}

/** How the last run ended, if the job is over. */
export function finalState({ attempts }: Snapshot, key: number): number | null {
  return attempts.get(key)?.at(-1)?.state ?? null;
}
