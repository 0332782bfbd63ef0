/**
 * Notes: what a run stores about itself while it runs, and how later runs and people read it. Notes
 * are about progress, phases, units, locks, log lines and children.
 */
import type { JobId, JsonText } from "../../core/job.ts";
import type { Fault, OutcomeName } from "../../core/outcome.ts";
import type { AttemptRecord } from "./records.ts";
import type { JobKey, Lease, NewJob, StoreRefusal } from "./jobs-and-runs.ts";

/** The maximum of units in one phase, and of unit changes in one note. */
export const UNITS_MAX = 100_000;
export const MOVES_MAX = 1_000;
/** Bounds of the log of one job. The newest lines within both bounds are kept. */
export const LOG_LINES_MAX = 1_000;
export const LOG_CHARS_MAX = 65_536;

/** A run that has not ended, with the lease that proves it. */
export interface OpenRun {
  readonly lease: Lease;
  readonly key: JobKey;
  readonly n: number;
}

/** One note about one run. It is stored as a whole or not at all. */
export interface RunNote extends NoteBody, OpenRun {}

/** `names` are the requested locks that the run holds now. `stale`: the lease or run has ended. */
export type AcquiredLocks =
  | { readonly status: "done"; readonly names: readonly string[] }
  | { readonly status: "stale" };

export interface NoteBody {
  /** Deletes the checkpoints of earlier attempts before the rest of the note is stored. */
  readonly clearCheckpoints?: boolean;
  readonly progress?: RunProgress;
  /** If two changes name the same unit, the last one counts. */
  readonly units?: readonly UnitMove[];
  /** A phase that has completed. */
  readonly completed?: PhaseResult;
  /** Locks that the run releases; see {@link JobStore.acquireLocks}. */
  readonly releases?: readonly string[];
  /** In the order in which they were logged. */
  readonly logs?: readonly LogEntry[];
  /**
   * Jobs enqueued with the note, in this order. A child that exists already, or is a duplicate by
   * its key, is no error. If one child is refused, nothing of the note is stored.
   */
  readonly children?: readonly NewJob[];
}

/** How far a run has come. */
export interface RunProgress {
  /** The current phase. Null: the job has no phases. */
  readonly phase: string | null;
  /** All phases, in the order of this run. */
  readonly phases: readonly string[];
  /** Progress of the phase, 0 to 100. */
  readonly percent: number;
  /** Progress of the whole job, 0 to 100. */
  readonly overall: number;
  readonly data: JsonText | null;
}

/** One line that a handler has logged. */
export interface LogEntry {
  /**
   * The number of the line within its run. Numbers grow. A note that is sent again brings lines up
   * to the last stored number, which are not stored twice.
   */
  readonly turn: number;
  /** By the worker's clock. */
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

/** A change of a unit: it is planned, starts or ends. */
export interface UnitMove extends UnitName {
  /** The position in the phase, from 1. Without it, a known unit keeps its position. */
  readonly turn?: number;
  readonly to: UnitEnd | { readonly state: "planned" | "running" };
}

export interface UnitName {
  /** Empty: the job has no phases. */
  readonly phase: string;
  readonly unit: string;
}

export type UnitEnd =
  | { readonly state: "completed"; readonly result: JsonText | null }
  | { readonly state: "failed"; readonly fault: Fault };

/** `stale`: the lease or the run has ended. Only `recorded` notes are stored. */
export type NoteAnswer = "recorded" | "stale" | StoreRefusal;

/** The stored results of earlier runs. */
export interface Checkpoints {
  readonly phases: readonly PhaseResult[];
  /** Ended units of phases that have not completed. */
  readonly units: readonly (UnitName & { readonly end: UnitEnd })[];
  /** The number of failed units in completed phases, by phase. */
  readonly failedUnits: Readonly<Record<string, number>>;
  /**
   * The attempts that were charged before the newest run that stored a checkpoint. Fewer than now:
   * the checkpoint is from an earlier attempt. -1: it was taken over from the job named by
   * `retryOf`. Null: there are no checkpoints.
   */
  readonly tries: number | null;
}

/** How far a job has come, as shown to people. */
export interface JobProgress {
  /** Of the last run that reported progress; null: no run has. */
  readonly progress: RunProgress | null;
  /** When the progress was reported. */
  readonly at: number | null;
  /** The run that reported it. Its start and its end are known once it has ended. */
  readonly run: {
    readonly n: number;
    readonly startedAt: number | null;
    readonly finishedAt: number | null;
  } | null;
  /** The outcome of the last ended run; null: no run has ended. */
  readonly lastOutcome: OutcomeName | null;
  /** In the order of completion. */
  readonly phases: readonly CompletedPhase[];
  readonly units: readonly UnitCount[];
}

/** A completed phase: the run that completed it, or 0 if it was taken over, and when. */
export interface CompletedPhase extends PhaseResult {
  readonly n: number;
  readonly at: number;
  /** When that run started; null while the run goes on. */
  readonly runStartedAt: number | null;
}

export interface UnitCount {
  readonly phase: string;
  readonly planned: number;
  readonly running: number;
  readonly completed: number;
  readonly failed: number;
}

export interface UnitRecordFilter {
  readonly phase?: string;
  readonly state?: UnitRecord["state"];
}

/** Where a unit is in the list of units. */
export interface UnitPlace extends UnitName {
  /** The position in the phase; 0: none was given. */
  readonly turn: number;
}

export interface UnitRecord extends UnitPlace {
  /** A unit whose run has ended without it is planned again. */
  readonly state: "planned" | "running" | UnitEnd["state"];
  readonly result: JsonText | null;
  readonly fault: Fault | null;
  /** The run that changed the unit last, and when. */
  readonly n: number;
  readonly at: number;
}

export interface LogRecord extends Omit<LogEntry, "turn"> {
  /** The number of the line, which grows within one job. */
  readonly line: number;
  /** The run that logged the line. */
  readonly n: number;
}

/** What is kept about a job beside its record. */
export interface JobHistory {
  /** Its ended runs, oldest first. */
  readonly attempts: readonly AttemptRecord[];
  /** Null: there is no such job. */
  readonly progress: JobProgress | null;
  /** Its first units, by phase and position. */
  readonly units: readonly UnitRecord[];
  /** The newest lines of its log, oldest first. */
  readonly logs: readonly LogRecord[];
}

/** A running job that works on a unit now. */
export interface UnitHolder extends UnitName {
  readonly job: JobId;
  readonly at: number;
}
