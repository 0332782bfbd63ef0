/**
 * The database as plain values. The whole is read once; from then on only the rows that a piece of
 * work has touched, of which triggers of the simulation's own connections tell.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { idBytes } from "../../src/core/ids.ts";
import { plainExec, plainPrepare } from "./taps.ts";

export interface JobRow {
  readonly key: number;
  readonly id: string;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | null;
  readonly priority: number;
  readonly run_at: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
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
  /** Its runs, whether they are still open or not. */
  readonly runs: readonly HeldRow[];
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
  /** How often it has joined, or rather when. */
  readonly joined_at: number;
}

export interface GateRow {
  readonly name: number;
  readonly until: number | null;
  readonly reason: string;
  readonly by: string | null;
}

export interface LetterRow {
  readonly status: number;
  readonly died_at: number;
  readonly successor: string | null;
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
  readonly gates: ReadonlyMap<number, GateRow>;
  readonly asked: ReadonlySet<number>;
  readonly letters: ReadonlyMap<string, LetterRow>;
  readonly names: ReadonlyMap<number, string>;
  /** Which job has an id. */
  readonly keys: ReadonlyMap<string, number>;
  readonly lastEvent: number;
}

type Key = number | string;

/** One table: what is read of a row, and how the row is named. */
interface Table {
  readonly from: string;
  readonly columns: string;
  /** The column, or what is made of several, that names a row; `new.` or `old.` stand for `@`. */
  readonly name: string;
}

const TABLES = {
  jobs: {
    from: "millrace_job",
    columns: `key, hex(id) AS id, type, tenant, lane, category, priority, run_at, max_attempts,
      timeout_ms, payload, hex(parent) AS parent, hex(retry_of) AS retry_of, idempotency, dedup,
      created_at`,
    name: "@key",
  },
  attempts: {
    from: "millrace_attempt",
    columns: `key, n, tries, crashes, hex(worker) AS worker, fence, started_at, finished_at,
      outcome, state, result, reason, next_run_at`,
    name: "@key",
  },
  scheduled: {
    from: "millrace_scheduled",
    columns: `'scheduled' AS place, key, run_at * 1000 AS rank, lane, priority, type, tenant, n,
      tries, crashes, NULL AS gate`,
    name: "@key",
  },
  ready: {
    from: "millrace_ready",
    columns: `'ready' AS place, key, rank, lane, priority, type, tenant, n, tries, crashes,
      NULL AS gate`,
    name: "@key",
  },
  blocked: {
    from: "millrace_blocked",
    columns: `'blocked' AS place, key, rank, lane, priority, type, tenant, n, tries, crashes,
      gate`,
    name: "@key",
  },
  leases: {
    from: "millrace_lease",
    columns: "number, secret, hex(worker) AS worker, keys, ns, ranks, starts",
    name: "@number",
  },
  workers: {
    from: "millrace_worker",
    columns: "hex(id) AS id, until, beats, quiet, joined_at",
    name: "hex(@id)",
  },
  dedup: {
    from: "millrace_dedup",
    columns: "tenant || '.' || type || '.' || key AS name, job",
    name: "@tenant || '.' || @type || '.' || @key",
  },
  idempotency: {
    from: "millrace_idempotency",
    columns: "tenant || '.' || key AS name, hex(job_id) AS job_id, expires_at",
    name: "@tenant || '.' || @key",
  },
  gates: { from: "millrace_gate", columns: "name, until, reason, by", name: "@name" },
  asked: { from: "millrace_cancel_request", columns: "key", name: "@key" },
  letters: {
    from: "millrace_dead_letter",
    columns: "hex(id) AS id, status, died_at, hex(successor) AS successor",
    name: "hex(@id)",
  },
  names: { from: "millrace_name", columns: "id, text", name: "@id" },
} as const satisfies Record<string, Table>;

type TableName = keyof typeof TABLES;

/** Which rows a piece of work has touched, table by table. */
export type Touched = Map<TableName, Set<Key>>;

const TRIGGERS = Object.entries(TABLES)
  .flatMap(([table, { from, name }]) => {
    const told = (row: "old" | "new"): string =>
      `simulation_touched('${table}', ${name.replaceAll("@", `${row}.`)})`;
    const trigger = (event: string, words: string): string =>
      `CREATE TEMP TRIGGER simulation_${table}_${event} AFTER ${event} ON main.${from}
       BEGIN SELECT ${words}; END;`;
    return [
      trigger("INSERT", told("new")),
      trigger("UPDATE", `${told("old")}, ${told("new")}`),
      trigger("DELETE", told("old")),
    ];
  })
  .join("\n");

/** From now on every row that this connection writes is noted. */
export function noteTouched(database: DatabaseSync): Touched {
  const touched: Touched = new Map();
  database.function("simulation_touched", (table: any, name: any) => {
    const names = touched.get(table);
    if (names === undefined) touched.set(table, new Set([name]));
    else names.add(name);
    return null;
  });
  plainExec(database, TRIGGERS);
  return touched;
}

const LAST_EVENT = "SELECT seq AS position FROM sqlite_sequence WHERE name = 'millrace_event'";
const EVENTS = "SELECT position, kind, at, keys, ids FROM millrace_event WHERE position > ?";

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

function rows(database: DatabaseSync, sql: string, ...values: Key[]): any[] {
  const statements = prepared.get(database) ?? new Map<string, StatementSync>();
  prepared.set(database, statements);
  const statement = statements.get(sql) ?? plainPrepare(database, sql);
  statements.set(sql, statement);
  return statement.all(...values);
}

const WHOLE = textOf(({ columns, from }) => `SELECT ${columns} FROM ${from}`);
const BY_NAME = textOf(({ columns, from, name }) => {
  return `SELECT ${columns} FROM ${from} WHERE ${rowTest(from, name)}`;
});

function textOf(text: (table: Table) => string): Readonly<Record<TableName, string>> {
  const made = Object.entries(TABLES).map(([name, table]) => [name, text(table)]);
  return Object.fromEntries(made);
}

/** Ids are looked up as the bytes they are, so that the index serves. */
function rowTest(from: string, name: string): string {
  if (name === "hex(@id)") return "id = unhex(?)";
  return `${name.replaceAll("@", `${from}.`)} = ?`;
}

export function eventsAfter(database: DatabaseSync, position: number): readonly EventRow[] {
  return rows(database, EVENTS, position);
}

/** Everything, read anew. */
export function takeSnapshot(database: DatabaseSync): Snapshot {
  const all = (table: TableName): any[] => rows(database, WHOLE[table]);
  const attempts = grouped<AttemptRow>(all("attempts").toSorted((left, right) => left.n - right.n));
  const leases = new Map<number, LeaseRow>(all("leases").map((row) => [row.number, leaseOf(row)]));
  const jobs = new Map<number, JobRow>(all("jobs").map((row) => [row.key, row]));
  const held = [...leases.values()].flatMap(({ runs }) => runs);
  return {
    jobs,
    attempts,
    places: grouped<PlaceRow>([...all("scheduled"), ...all("ready"), ...all("blocked")]),
    held: grouped(held.filter((run) => isOpen(attempts, run))),
    leases,
    workers: new Map(all("workers").map((row) => [row.id, row])),
    dedup: new Map(all("dedup").map((row) => [row.name, row.job])),
    idempotency: new Map(all("idempotency").map((row) => [row.name, row])),
    gates: new Map(all("gates").map((row) => [row.name, row])),
    asked: new Set(all("asked").map((row) => row.key)),
    letters: new Map(all("letters").map((row) => [row.id, row])),
    names: new Map(all("names").map((row) => [row.id, row.text])),
    keys: new Map([...jobs.values()].map(({ id, key }) => [id, key])),
    lastEvent: rows(database, LAST_EVENT)[0]?.position ?? 0,
  };
}

/** The snapshot after a piece of work, and the jobs that it has to do with. */
export function nextSnapshot(
  database: DatabaseSync,
  before: Snapshot,
  touched: Touched,
): { readonly after: Snapshot; readonly changed: ReadonlySet<number> } {
  const read = (table: TableName, name: Key): any[] => rows(database, BY_NAME[table], name);
  const renewed = <Name extends Key, Value>(
    known: ReadonlyMap<Name, Value>,
    table: TableName,
    valueOf: (row: any) => Value,
  ): ReadonlyMap<Name, Value> => {
    const names = touched.get(table);
    if (names === undefined) return known;
    const map = new Map<any, Value>(known);
    for (const name of names) {
      const [row] = read(table, name);
      if (row === undefined) map.delete(name);
      else map.set(name, valueOf(row));
    }
    return map;
  };
  const jobs = renewed(before.jobs, "jobs", (row) => row);
  const leases = renewed(before.leases, "leases", leaseOf);
  const dedup = renewed(before.dedup, "dedup", (row) => row.job);
  const idempotency = renewed(before.idempotency, "idempotency", (row) => row);
  const keys = keysOf(before, jobs, touched.get("jobs"));
  const changed = changedJobs(before, { leases, dedup, idempotency, keys }, touched);
  const attempts = regrouped(before.attempts, touched.get("attempts"), (key) =>
    read("attempts", key).toSorted((left, right) => left.n - right.n),
  );
  const moved = PLACES.flatMap((place) => [...(touched.get(place) ?? [])]);
  const places = regrouped(before.places, moved.length > 0 ? new Set(moved) : undefined, (key) =>
    PLACES.flatMap((place) => read(place, key)),
  );
  const runs = [...leases.values()].flatMap((lease) => lease.runs);
  const held = regrouped(before.held, changed.size > 0 ? changed : undefined, (key) =>
    runs.filter((run) => run.key === key && isOpen(attempts, run)),
  );
  const after = {
    ...before,
    jobs,
    keys,
    leases,
    dedup,
    idempotency,
    attempts,
    places,
    held,
    workers: renewed(before.workers, "workers", (row) => row),
    gates: renewed(before.gates, "gates", (row) => row),
    asked: askedOf(before, touched.get("asked"), (key) => read("asked", key).length > 0),
    letters: renewed(before.letters, "letters", (row) => row),
    names: renewed(before.names, "names", (row) => row.text),
  };
  return { after, changed };
}

function askedOf(
  { asked }: Snapshot,
  names: ReadonlySet<Key> | undefined,
  isAsked: (key: number) => boolean,
): ReadonlySet<number> {
  if (names === undefined) return asked;
  const keys = [...names].map(Number);
  return new Set([...asked, ...keys].filter((key) => !keys.includes(key) || isAsked(key)));
}

const PLACES = ["scheduled", "ready", "blocked"] as const;
const BY_JOB = ["jobs", "attempts", "asked", ...PLACES] as const;

function keysOf(
  before: Snapshot,
  jobs: Snapshot["jobs"],
  names: ReadonlySet<Key> | undefined,
): Snapshot["keys"] {
  if (names === undefined) return before.keys;
  const keys = new Map(before.keys);
  for (const name of names) {
    const key = Number(name);
    const [old, now] = [before.jobs.get(key), jobs.get(key)];
    if (old !== undefined) keys.delete(old.id);
    if (now !== undefined) keys.set(now.id, key);
  }
  return keys;
}

/** Every job of which something was touched: a row, its lease, or a key that it holds. */
function changedJobs(
  before: Snapshot,
  now: Pick<Snapshot, "leases" | "dedup" | "idempotency" | "keys">,
  touched: Touched,
): ReadonlySet<number> {
  const changed = new Set<number>();
  const add = (key: number | undefined): void => void (key !== undefined && changed.add(key));
  for (const table of BY_JOB) for (const key of touched.get(table) ?? []) changed.add(Number(key));
  for (const number of touched.get("leases") ?? []) {
    for (const { leases } of [before, now]) {
      for (const { key } of leases.get(Number(number))?.runs ?? []) changed.add(key);
    }
  }
  for (const name of touched.get("dedup") ?? []) {
    for (const { dedup } of [before, now]) add(dedup.get(String(name)));
  }
  for (const name of touched.get("idempotency") ?? []) {
    for (const { idempotency, keys } of [before, now]) {
      add(keys.get(idempotency.get(String(name))?.job_id ?? ""));
    }
  }
  return changed;
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

function regrouped<Row>(
  known: ReadonlyMap<number, readonly Row[]>,
  names: ReadonlySet<Key> | undefined,
  read: (key: number) => readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  if (names === undefined) return known;
  const groups = new Map(known);
  for (const name of names) {
    const group = read(Number(name));
    if (group.length === 0) groups.delete(Number(name));
    else groups.set(Number(name), group);
  }
  return groups;
}

function leaseOf(row: Omit<LeaseRow, "runs">): LeaseRow {
  const keys: number[] = JSON.parse(row.keys);
  const ns: number[] = JSON.parse(row.ns);
  const ranks: number[] = JSON.parse(row.ranks);
  const starts: (number | null)[] = JSON.parse(row.starts);
  const { number: fence, worker } = row;
  const runs = keys.map((key, index) => {
    const rank = index === 0 ? ranks[0]! : ranks[0]! + ranks[index]!;
    return { key, n: ns[index]!, rank, start: starts[index]!, fence, worker };
  });
  return { ...row, runs };
}

/** A lease holds a run that the ledger does not know yet. */
function isOpen(attempts: Snapshot["attempts"], { key, n }: HeldRow): boolean {
  return (attempts.get(key)?.at(-1)?.n ?? 0) < n;
}

/** How the last run ended, if the job is over. */
export function finalState({ attempts }: Snapshot, key: number): number | null {
  return attempts.get(key)?.at(-1)?.state ?? null;
}

/** A snapshot as text, so that two can be compared, however they came about. */
export function snapshotText(snapshot: Snapshot): string {
  return JSON.stringify(snapshot, (_, value: unknown) => {
    if (value instanceof Set)
      return [...value].map((name: Key) => [name, 1] as const).toSorted(byName);
    return value instanceof Map ? [...value].toSorted(byName) : value;
  });
}

function byName([left]: readonly [Key, unknown], [right]: readonly [Key, unknown]): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** An id as the rows here bear it. */
export function hexOf(id: string): string {
  return Buffer.from(idBytes(id)).toString("hex").toUpperCase();
}
