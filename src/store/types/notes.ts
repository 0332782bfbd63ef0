/**
 * What a run writes about itself while it goes on, and what later runs and people find of it:
 * phases, units and progress.
 */
import type { JobId, JsonText } from "../../core/job.ts";
import type { Fault, OutcomeName } from "../../core/outcome.ts";
import type { JobKey, Lease, NewJob, Refusal } from "./jobs-and-runs.ts";

/** Most units of one phase, and moves of units in one note. */
export const UNITS_MAX = 100_000;
export const MOVES_MAX = 1_000;
/** What is kept of the log of one job: the newest lines, within both bounds. */
export const LOG_LINES_MAX = 1_000;
export const LOG_CHARS_MAX = 65_536;

/** A run that goes on, with the proof that allows to speak for it. */
export interface OpenRun {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
}

/** One note about one run: all of it is kept, or nothing. */
export interface RunNote extends NoteBody, OpenRun {}

/** `stale`: the lease does not stand, or the run has ended. */
export type AcquiredLocks =
  | { readonly status: "done"; readonly names: readonly string[] }
  | { readonly status: "stale" };

export interface NoteBody {
  /** Forgets what earlier attempts have completed: this one begins anew. */
  readonly afresh?: boolean;
  readonly progress?: RunProgress;
  /** Of two that speak of one unit the last counts. */
  readonly units?: readonly UnitMove[];
  /** A phase that has ended well. */
  readonly completed?: PhaseResult;
  /** Exclusive names that the run gives up with it; see {@link JobStore.acquireLocks}. */
  readonly releases?: readonly string[];
  /** In the order in which they were said. */
  readonly logs?: readonly LogLine[];
  /**
   * Jobs that come into being with it, in this order. One that exists already, or gives way to the
   * holder of its key, harms nothing. If one is refused, for whatever reason, nothing is kept.
   */
  readonly children?: readonly NewJob[];
}

/** How far a run has come. */
export interface RunProgress {
  /** Null: the job has no phases. */
  readonly phase: string | null;
  /** All phases, in the order in which this run takes them. */
  readonly phases: readonly string[];
  /** Of the phase, 0 to 100. */
  readonly percent: number;
  /** Of the whole job, 0 to 100. */
  readonly overall: number;
  readonly data: JsonText | null;
}

/** What a handler has logged. */
export interface LogLine {
  /** By the clock of the worker. */
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  /** A JSON object; null: none. */
  readonly fields: JsonText | null;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface PhaseResult {
  readonly name: string;
  readonly result: JsonText | null;
}

/** A unit begins or ends. */
export interface UnitMove extends UnitName {
  readonly to: UnitEnd | { readonly state: "running" };
}

export interface UnitName {
  /** Empty: the job has no phases. */
  readonly phase: string;
  readonly unit: string;
}

export type UnitEnd =
  | { readonly state: "completed"; readonly result: JsonText | null }
  | { readonly state: "failed"; readonly fault: Fault };

/** `stale`: the lease does not stand, or the run has ended. Only what is `recorded` was kept. */
export type NoteAnswer = "recorded" | "stale" | Refusal;

/** What a run finds of those before it. */
export interface Checkpoints {
  readonly phases: readonly PhaseResult[];
  /** Units that have ended, of phases that have not. */
  readonly units: readonly (UnitName & { readonly end: UnitEnd })[];
  /** How many units failed in phases that ended well all the same, by phase. */
  readonly failedUnits: Readonly<Record<string, number>>;
  /**
   * Attempts that had been charged before the newest run that left any of this: fewer than now when
   * it is from an earlier attempt. -1: it was taken over from the job that this one repeats. Null:
   * there is nothing.
   */
  readonly tries: number | null;
}

/** How far a job has come, for people. */
export interface JobProgress {
  /** Of the last run that told any; null: none has. */
  readonly progress: RunProgress | null;
  /** When it was told. */
  readonly at: number | null;
  /** How its last run ended; null: none has. */
  readonly lastOutcome: OutcomeName | null;
  readonly phases: readonly PhaseResult[];
  readonly units: readonly UnitCount[];
}

export interface UnitCount {
  readonly phase: string;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
}

export interface UnitQuery {
  readonly phase?: string;
  readonly state?: "running" | UnitEnd["state"];
}

export interface UnitRecord extends UnitName {
  readonly state: "running" | UnitEnd["state"];
  readonly result: JsonText | null;
  readonly fault: Fault | null;
  /** The run that moved it last, and when. */
  readonly n: number;
  readonly at: number;
}

export interface LogRecord extends LogLine {
  /** Grows from line to line of one job. */
  readonly line: number;
  /** The run that said it. */
  readonly n: number;
}

/** Who works on a unit just now. */
export interface UnitHolder extends UnitName {
  readonly job: JobId;
  readonly at: number;
}
