/** The job of every campaign: it names itself, leaves marks in the ledger, and does as told. */
import { defineJob, typed } from "millrace";
import { childName } from "./history.ts";

export interface Task {
  /** Unique among all tasks of a campaign, so that a second copy is found. */
  readonly name: string;
  readonly act: Act;
  readonly end: End;
  /** The key that its run has for itself. */
  readonly lock?: string;
  /** The jobs that it runs after, and whether it also runs when one of them has failed. */
  readonly after?: readonly string[];
  readonly onFailed?: "cancel" | "run";
  /** How many lines each run logs. */
  readonly lines?: number;
  /** Of a pipeline: its units, each with the lock that it takes. */
  readonly units?: readonly UnitTask[];
}

export interface UnitTask {
  readonly key: string;
  readonly ms: number;
  readonly lock: string;
}

export type Act =
  /** Waits without blocking. `heedsAbort`: leaves early when it is told to stop. */
  | { readonly kind: "wait"; readonly ms: number; readonly heedsAbort: boolean }
  /** Blocks the event loop all the while. */
  | { readonly kind: "spin"; readonly ms: number }
  /** Kills its worker after a time. */
  | { readonly kind: "die"; readonly afterMs: number };

/**
 * How it ends: well; well and with a child; with an error that no retry fixes; or well, but only at
 * the second attempt.
 */
export type End = "well" | "parent" | "failure" | "retry";

/** No limit on the run, which is the campaign's to choose; everything else is the default. */
export const task = defineJob({ type: "task", payload: typed<Task>(), timeout: false });

/** The same in three phases, of which the second has units. */
export const pipeline = defineJob({ type: "pipeline", payload: typed<Task>(), timeout: false });

export const UNITS_PHASE = "units";

/** The child that a task with the end `parent` brings into being. */
export function childOf({ name }: Task): Task {
  return { name: childName(name), act: waiting(0), end: "well" };
}

export function waiting(ms: number): Act {
  return { kind: "wait", ms, heedsAbort: true };
}
