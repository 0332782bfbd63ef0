/**
 * The database as plain values. The whole is read once; from then on only the rows that a piece of
 * work has touched, of which triggers of the simulation's own connections tell.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { idBytes } from "../../../src/core/ids.ts";
import {
  TABLES,
  type AttemptRow,
  type BreakerRow,
  type EventRow,
  type GateRow,
  type HeldRow,
  type JobRow,
  type LeaseRow,
  type LetterRow,
  type LimitSettingRow,
  type LogRow,
  type CodeRow,
  type DependencyRow,
  type ParkRow,
  type PermitRow,
  type PhaseRow,
  type PlaceRow,
  type RunRow,
  type LockRow,
  type ScheduleRow,
  type Table,
  type TableName,
  type TickRow,
  type UnitRow,
  type UseRow,
  type WorkerRow,
} from "./rows.ts";
import { plainExec, plainPrepare } from "../fleet/sqlite-hooks.ts";

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
  /** By tenant and name. */
  readonly locks: ReadonlyMap<string, LockRow>;
  /** By the job that waits. */
  readonly dependencies: ReadonlyMap<number, readonly DependencyRow[]>;
  readonly finished: ReadonlySet<number>;
  /** Ended runs whose code may go on, by job. */
  readonly code: ReadonlyMap<number, readonly CodeRow[]>;
  readonly runs: ReadonlyMap<number, RunRow>;
  readonly phases: ReadonlyMap<number, readonly PhaseRow[]>;
  readonly units: ReadonlyMap<number, readonly UnitRow[]>;
  readonly logs: ReadonlyMap<number, LogRow>;
  /** When jobs were marked. */
  readonly stale: ReadonlyMap<number, number>;
  readonly schedules: ReadonlyMap<string, ScheduleRow>;
  /** By schedule and slot. */
  readonly ticks: ReadonlyMap<string, TickRow>;
  /** By service. */
  readonly breakers: ReadonlyMap<number, BreakerRow>;
  /** By gate. */
  readonly parks: ReadonlyMap<number, ParkRow>;
  /** The services of a type. */
  readonly uses: ReadonlyMap<number, readonly UseRow[]>;
  readonly limits: ReadonlyMap<number, LimitSettingRow>;
  /** By worker and limit. */
  readonly permits: ReadonlyMap<string, PermitRow>;
  /** Which job has an id. */
  readonly keys: ReadonlyMap<string, number>;
  readonly lastEvent: number;
}

type Key = number | string;

/** Which rows a piece of work has touched, table by table. */
export type Touched = Map<TableName, Set<Key>>;

const TRIGGERS = Object.entries(TABLES)
  .flatMap(([table, { from, name }]) => {
    const touch = (row: "old" | "new"): string =>
      `simulation_touched('${table}', ${name.replaceAll("@", `${row}.`)})`;
    const trigger = (event: string, words: string): string =>
      `CREATE TEMP TRIGGER simulation_${table}_${event} AFTER ${event} ON main.${from}
       BEGIN SELECT ${words}; END;`;
    return [
      trigger("INSERT", touch("new")),
      trigger("UPDATE", `${touch("old")}, ${touch("new")}`),
      trigger("DELETE", touch("old")),
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
const EVENTS =
  "SELECT position, kind, at, keys, ids FROM millrace_event WHERE position > ? ORDER BY position";

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

function rows(database: DatabaseSync, sql: string, ...values: Key[]): any[] {
  const statements = prepared.get(database) ?? new Map<string, StatementSync>();
  prepared.set(database, statements);
  const statement = statements.get(sql) ?? plainPrepare(database, sql);
  statements.set(sql, statement);
  return statement.all(...values);
}

const WHOLE = textOf(({ columns, from, group }) => {
  return `SELECT ${columns} FROM ${from} ${grouping(group)}`;
});
const BY_NAME = textOf(({ columns, from, name, group }) => {
  return `SELECT ${columns} FROM ${from} WHERE ${rowTest(from, name)} ${grouping(group)}`;
});

function grouping(group: string | undefined): string {
  return group === undefined ? "" : `GROUP BY ${group}`;
}

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
    locks: new Map(all("locks").map((row) => [row.name, row])),
    dependencies: grouped<DependencyRow>(all("dependencies")),
    finished: new Set(all("finished").map((row) => row.key)),
    code: grouped<CodeRow>(all("code")),
    runs: new Map(all("runs").map((row) => [row.key, row])),
    phases: grouped<PhaseRow>(all("phases")),
    units: grouped<UnitRow>(all("units")),
    logs: new Map(all("logs").map((row) => [row.key, row])),
    stale: new Map(all("stale").map((row) => [row.key, row.at])),
    schedules: new Map(all("schedules").map((row) => [row.name, row])),
    ticks: new Map(all("ticks").map((row) => [row.name, row])),
    breakers: new Map(all("breakers").map((row) => [row.service, row])),
    parks: new Map(all("parks").map((row) => [row.gate, row])),
    uses: grouped<UseRow>(all("uses")),
    limits: new Map(all("limits").map((row) => [row.id, row])),
    permits: new Map(all("permits").map((row) => [row.name, row])),
    keys: new Map([...jobs.values()].map(({ id, key }) => [id, key])),
    lastEvent: rows(database, LAST_EVENT)[0]?.position ?? 0,
  };
}

type Listed<Row> = ReadonlyMap<number, readonly Row[]>;

interface NextSnapshot {
  readonly after: Snapshot;
  readonly changed: ReadonlySet<number>;
  /** Jobs whose progress was written. */
  readonly progressed: ReadonlySet<number>;
}

/** The snapshot after a piece of work, and the jobs that it has to do with. */
export function nextSnapshot(
  database: DatabaseSync,
  before: Snapshot,
  touched: Touched,
): NextSnapshot {
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
  const listed = <Row>(known: Listed<Row>, table: TableName): Listed<Row> =>
    regrouped(known, touched.get(table), (key) => read(table, key));
  const present = (known: ReadonlySet<number>, table: TableName): ReadonlySet<number> =>
    keysIn(known, touched.get(table), (key) => read(table, key).length > 0);
  const jobs = renewed(before.jobs, "jobs", (row) => row);
  const leases = renewed(before.leases, "leases", leaseOf);
  const dedup = renewed(before.dedup, "dedup", (row) => row.job);
  const idempotency = renewed(before.idempotency, "idempotency", (row) => row);
  const locks = renewed(before.locks, "locks", (row) => row);
  const keys = keysOf(before, jobs, touched.get("jobs"));
  const changed = changedJobs(before, { leases, dedup, idempotency, keys, locks }, touched);
  const attempts = regrouped(before.attempts, touched.get("attempts"), (key) =>
    read("attempts", key).toSorted((left, right) => left.n - right.n),
  );
  const places = placesNow(before, touched, read);
  const after = {
    ...before,
    jobs,
    keys,
    leases,
    dedup,
    idempotency,
    attempts,
    places,
    held: heldNow(before, changed, { leases, attempts }),
    workers: renewed(before.workers, "workers", (row) => row),
    gates: renewed(before.gates, "gates", (row) => row),
    asked: present(before.asked, "asked"),
    letters: renewed(before.letters, "letters", (row) => row),
    names: renewed(before.names, "names", (row) => row.text),
    locks,
    dependencies: listed(before.dependencies, "dependencies"),
    finished: present(before.finished, "finished"),
    code: listed(before.code, "code"),
    runs: renewed(before.runs, "runs", (row) => row),
    phases: listed(before.phases, "phases"),
    units: listed(before.units, "units"),
    logs: renewed(before.logs, "logs", (row) => row),
    stale: renewed(before.stale, "stale", (row) => row.at),
    schedules: renewed(before.schedules, "schedules", (row) => row),
    ticks: renewed(before.ticks, "ticks", (row) => row),
    breakers: renewed(before.breakers, "breakers", (row) => row),
    parks: renewed(before.parks, "parks", (row) => row),
    uses: listed(before.uses, "uses"),
    limits: renewed(before.limits, "limits", (row) => row),
    permits: renewed(before.permits, "permits", (row) => row),
  };
  return { after, changed, progressed: new Set([...(touched.get("runs") ?? [])].map(Number)) };
}

function placesNow(
  { places }: Snapshot,
  touched: Touched,
  read: (table: TableName, key: Key) => any[],
): Snapshot["places"] {
  const moved = new Set(PLACES.flatMap((place) => [...(touched.get(place) ?? [])]));
  return regrouped(places, moved.size > 0 ? moved : undefined, (key) =>
    PLACES.flatMap((place) => read(place, key)),
  );
}

/** The open runs, by job. */
function heldNow(
  before: Snapshot,
  changed: ReadonlySet<number>,
  { leases, attempts }: Pick<Snapshot, "leases" | "attempts">,
): Snapshot["held"] {
  const runs = [...leases.values()].flatMap((lease) => lease.runs);
  return regrouped(before.held, changed.size > 0 ? changed : undefined, (key) =>
    runs.filter((run) => run.key === key && isOpen(attempts, run)),
  );
}

/** A set of keys, with those that were touched looked up anew. */
function keysIn(
  known: ReadonlySet<number>,
  touched: ReadonlySet<Key> | undefined,
  isThere: (key: number) => boolean,
): ReadonlySet<number> {
  if (touched === undefined) return known;
  const keys = [...touched].map(Number);
  return new Set([...known, ...keys].filter((key) => !keys.includes(key) || isThere(key)));
}

const PLACES = ["scheduled", "ready", "blocked"] as const;
const NOTES = ["runs", "phases", "units", "logs"] as const;
const BY_JOB = ["jobs", "attempts", "asked", "dependencies", "stale", ...NOTES, ...PLACES] as const;

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
  now: Pick<Snapshot, "leases" | "dedup" | "idempotency" | "keys" | "locks">,
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
  for (const name of touched.get("locks") ?? []) {
    for (const { locks } of [before, now]) add(locks.get(String(name))?.job);
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

/** Whether a job that another one waits for is over; a negated key stands for its code. */
export function isOver(snapshot: Snapshot, key: number): boolean {
  return key < 0 ? !snapshot.code.has(-key) : finalState(snapshot, key) !== null;
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
