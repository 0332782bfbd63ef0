/** Source and target of a copy from one database to another. */
import type { Settlement } from "../../../core/outcome.ts";
import type { CrashFacts } from "../../types/jobs-and-runs.ts";
import type { CopiedTable } from "./tables.ts";

/** The values of a row's key columns, as in its line. */
export type RowKey = readonly (number | string)[];

/** Rows after one key and up to another. Null: from the first row, or to the last. */
export interface KeyRange {
  readonly after: RowKey | null;
  readonly upTo: RowKey | null;
}

/** All rows of a range, in the order of their keys. */
export interface RowBatch extends KeyRange {
  readonly lines: readonly string[];
  /** The key of each line as text. */
  readonly keys: readonly string[];
}

/** The highest numbers in use so far. No number is used again. */
export interface Counters {
  readonly job: number;
  readonly lease: number;
  readonly event: number;
  readonly name: number;
  readonly audit: number;
}

/** Where an installation moved. An installation with a move record accepts no writes. */
export interface MoveRecord {
  /** The target for people, without a password. */
  readonly to: string;
  readonly copy: string;
}

export interface CopySource {
  /** The path of the file. */
  readonly place: string;
  readonly bytes: number;
  count(table: CopiedTable): number;
  /** Descriptions of the values that PostgreSQL would refuse. */
  problems(table: CopiedTable): readonly string[];
  /** The next rows after a key, as many as fit into one transaction; `upTo` is null at the end. */
  batch(table: CopiedTable, after: RowKey | null): RowBatch;
  /** The next keys as one text, in the form of {@link CopyTarget.keys}; more keys than rows. */
  keys(table: CopiedTable, after: RowKey | null): KeyRange & { readonly text: string };
  counters(): Counters;
  moveRecord(): MoveRecord | null;
  /**
   * Blocks all writes, by every process of any release. Held jobs are taken back first as by a
   * rescue, with the settlements of `decide`. Answers how many jobs were held.
   */
  blockWrites(moveRecord: MoveRecord, decide: (facts: CrashFacts) => Settlement): Promise<number>;
  /** Allows writes again. */
  unblockWrites(): void;
  close(): void;
}

/** How far a copy has come. Stored in the target with every batch. */
export interface CopyProgress {
  readonly copy: string;
  /** {@link CopySource.place} of the source. */
  readonly from: string;
  readonly step: string;
  readonly after: RowKey | null;
}

/** The step of a finished copy. */
export const FINISHED = "finished";

/**
 * What the target holds: nothing, an unfinished copy, a finished copy that may be in use, or
 * something else that must not change.
 */
export type TargetState =
  | { readonly kind: "free" }
  | { readonly kind: "unfinished" | "finished"; readonly progress: CopyProgress }
  | { readonly kind: "occupied"; readonly why: string };

export interface CopyTarget {
  /** The target for people, without a password. */
  readonly place: string;
  /** Reads the state. Changes nothing. */
  readState(): Promise<TargetState>;
  /** Locks other copies out. If no copy was begun before, also locks all other writers out. */
  begin(first: CopyProgress): Promise<CopyProgress>;
  /** Writes rows together with the progress, and deletes those with the keys of `without`. */
  put(
    table: CopiedTable,
    rows: { readonly lines: readonly string[]; readonly without: readonly string[] },
    progress: CopyProgress,
  ): Promise<void>;
  keys(table: CopiedTable, range: KeyRange): Promise<string>;
  setCounters(counters: Counters): Promise<void>;
  counters(): Promise<Counters>;
  /** All rows in the order of their keys, from one snapshot. */
  lines(table: CopiedTable): AsyncIterable<readonly string[]>;
  /** Opens the target for all. */
  finish(): Promise<void>;
  /** Empties the target. Rejected when the copy is finished. */
  abandon(): Promise<void>;
  close(): Promise<void>;
}
