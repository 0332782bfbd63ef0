/**
 * The two ends of a move from one database to another, and what is moved. A row travels as one
 * line of canonical JSON: its columns in the order given here, instants as milliseconds, ids and
 * bytes as hexadecimal digits, lists as PostgreSQL writes them. The same line serves to compare
 * both ends.
 */
import type { Settlement } from "../../core/outcome.ts";
import type { CrashFacts } from "../types/jobs-and-runs.ts";

type ColumnKind =
  | "number"
  | "real"
  | "moment"
  | "text"
  | "json"
  | "id"
  | "bytes"
  | "keys"
  | "ids"
  /** A list of texts, as JSON. */
  | "texts";

export interface CopiedTable {
  readonly name: TableName;
  /** The columns that order it. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Its rows come and go, but never change: they can be copied while work goes on. */
  readonly isWrittenOnce: boolean;
}

export type TableName =
  | "interned_name"
  | "job"
  | "tag"
  | "scheduled"
  | "ready"
  | "blocked"
  | "attempt"
  | "gate"
  | "idempotency"
  | "dedup"
  /** Living repeats of final jobs: SQLite looks them up, PostgreSQL keeps a row in `dedup`. */
  | "successor"
  | "cancel_request"
  | "run"
  | "phase"
  | "unit"
  | "dependency"
  | "finished_dependency"
  | "log"
  | "stale"
  | "event"
  | "dead_letter";

const WAITING = {
  lane: "number",
  priority: "number",
  type: "number",
  tenant: "number",
  concurrency: "text",
  n: "number",
  tries: "number",
  crashes: "number",
} as const;

const HELD_KEY = { tenant: "number", type: "number", key: "text", job: "number" } as const;

/**
 * In the order in which they are copied. Leases and workers stay behind, and the names that runs
 * have: those end with the leases.
 */
export const COPIED_TABLES: readonly CopiedTable[] = [
  {
    name: "job",
    key: ["key"],
    isWrittenOnce: true,
    columns: {
      key: "number",
      id: "id",
      type: "number",
      tenant: "number",
      lane: "number",
      category: "number",
      priority: "number",
      run_at: "moment",
      max_attempts: "number",
      timeout_ms: "number",
      payload: "json",
      payload_version: "text",
      correlation: "text",
      parent: "id",
      retry_of: "id",
      concurrency: "text",
      idempotency: "text",
      dedup: "text",
      webhook: "text",
      tags: "json",
      created_by: "text",
      created_at: "moment",
      flags: "number",
    },
  },
  {
    name: "attempt",
    key: ["key", "n"],
    isWrittenOnce: true,
    columns: {
      key: "number",
      n: "number",
      tries: "number",
      crashes: "number",
      worker: "id",
      fence: "number",
      claimed_at: "moment",
      started_at: "moment",
      finished_at: "moment",
      outcome: "number",
      state: "number",
      error_class: "number",
      error: "json",
      result: "json",
      reason: "text",
      next_run_at: "moment",
    },
  },
  {
    name: "event",
    key: ["position"],
    isWrittenOnce: true,
    columns: {
      position: "number",
      kind: "number",
      at: "moment",
      keys: "keys",
      ids: "ids",
      details: "texts",
    },
  },
  changing("interned_name", ["id"], { id: "number", kind: "number", text: "text" }),
  changing("tag", ["name", "value", "key"], { name: "text", value: "text", key: "number" }),
  changing("scheduled", ["key"], { key: "number", run_at: "moment", ...WAITING }),
  changing("ready", ["lane", "priority", "rank", "key"], {
    key: "number",
    rank: "number",
    ...WAITING,
  }),
  changing("blocked", ["key"], { key: "number", gate: "number", rank: "number", ...WAITING }),
  changing("gate", ["name"], { name: "number", until: "moment", reason: "text", by: "text" }),
  changing("idempotency", ["tenant", "key"], {
    tenant: "number",
    key: "text",
    job_id: "id",
    body: "bytes",
    expires_at: "moment",
  }),
  changing("dedup", ["tenant", "type", "key"], HELD_KEY),
  changing("successor", ["job"], HELD_KEY),
  changing("cancel_request", ["key"], { key: "number", by: "text", reason: "text", at: "moment" }),
  changing("run", ["key"], {
    key: "number",
    n: "number",
    phase: "text",
    phases: "json",
    percent: "real",
    overall: "real",
    data: "json",
    at: "moment",
  }),
  changing("phase", ["key", "name"], {
    key: "number",
    name: "text",
    n: "number",
    result: "json",
    at: "moment",
  }),
  changing("unit", ["key", "phase", "unit"], {
    key: "number",
    phase: "text",
    unit: "text",
    n: "number",
    state: "number",
    result: "json",
    error: "json",
    at: "moment",
  }),
  changing("dependency", ["job", "depends_on"], {
    job: "number",
    depends_on: "number",
    tolerant: "number",
  }),
  changing("finished_dependency", ["key"], { key: "number" }),
  changing("log", ["key", "line"], {
    key: "number",
    line: "number",
    n: "number",
    at: "moment",
    level: "number",
    message: "text",
    fields: "json",
  }),
  changing("stale", ["key"], { key: "number", at: "moment" }),
  changing("dead_letter", ["id"], {
    id: "id",
    type: "number",
    tenant: "number",
    status: "number",
    error: "json",
    attempts: "number",
    died_at: "moment",
    reviewed_by: "text",
    reviewed_at: "moment",
    notes: "text",
    successor: "id",
    spec: "json",
  }),
];

function changing(
  name: TableName,
  key: readonly string[],
  columns: CopiedTable["columns"],
): CopiedTable {
  return { name, key, columns, isWrittenOnce: false };
}

/** The values of a row's key columns, as they stand in its line. */
export type RowKey = readonly (number | string)[];

/** Rows between two keys, the first left out; null is before all and after all. */
export interface KeyRange {
  readonly after: RowKey | null;
  readonly upTo: RowKey | null;
}

/** All rows of a stretch, in the order of their keys. */
export interface RowBatch extends KeyRange {
  readonly lines: readonly string[];
  /** The key of each line as text. */
  readonly keys: readonly string[];
}

/** The highest numbers given away. None of them is ever used again. */
export interface Counters {
  readonly job: number;
  readonly lease: number;
  readonly event: number;
  readonly name: number;
}

/** Where an installation went. Nobody can write to one that has such a mark. */
export interface MoveRecord {
  /** For people, without a password. */
  readonly to: string;
  readonly copy: string;
}

export interface CopySource {
  /** The file. */
  readonly place: string;
  readonly bytes: number;
  count(table: CopiedTable): number;
  /** What PostgreSQL would not take, in words. */
  problems(table: CopiedTable): readonly string[];
  /** The next rows after a key, as many as fit into one transaction. `upTo` is null at the end. */
  batch(table: CopiedTable, after: RowKey | null): RowBatch;
  /** The next keys, more of them than of rows, as one text that the other end can write too. */
  keys(table: CopiedTable, after: RowKey | null): KeyRange & { readonly text: string };
  counters(): Counters;
  moveRecord(): MoveRecord | null;
  /**
   * Ends all writing, for every process and whatever its release. What runs is taken back first,
   * through the same door as by a rescue; `decide` says what becomes of it. Answers how many runs
   * there were.
   */
  blockWrites(mark: MoveRecord, decide: (facts: CrashFacts) => Settlement): Promise<number>;
  /** Lets everybody write again. */
  unblockWrites(): void;
  close(): void;
}

/** How far a copy has come. It stands in the target and changes with every batch. */
export interface CopyProgress {
  readonly copy: string;
  /** The place of the source. */
  readonly from: string;
  readonly step: string;
  readonly after: RowKey | null;
}

/** The step of a copy that has ended. */
export const FINISHED = "finished";

/**
 * What there is at the other end: nothing, an unfinished copy, a finished one that may be at work,
 * or something else that must not be touched.
 */
export type TargetState =
  | { readonly kind: "free" }
  | { readonly kind: "unfinished" | "finished"; readonly progress: CopyProgress }
  | { readonly kind: "occupied"; readonly why: string };

export interface CopyTarget {
  /** For people, without a password. */
  readonly place: string;
  /** Only looks. */
  look(): Promise<TargetState>;
  /** Keeps other copies away from now on, and everybody else if nothing was begun before. */
  begin(first: CopyProgress): Promise<CopyProgress>;
  /** Writes rows together with the progress, and deletes those with the keys of `without`. */
  put(
    table: CopiedTable,
    rows: { readonly lines: readonly string[]; readonly without: readonly string[] },
    progress: CopyProgress,
  ): Promise<void>;
  keys(table: CopiedTable, stretch: KeyRange): Promise<string>;
  setCounters(counters: Counters): Promise<void>;
  counters(): Promise<Counters>;
  /** All rows in the order of their keys, as they are at one moment. */
  lines(table: CopiedTable): AsyncIterable<readonly string[]>;
  /** Lets everybody in. */
  finish(): Promise<void>;
  /** Leaves an empty installation. Refused when the copy is finished. */
  abandon(): Promise<void>;
  close(): Promise<void>;
}
