/** What a campaign leaves behind for the checker: everything that was seen from outside. */
import type { State } from "../../../../src/core/job.ts";
import type { OutcomeName } from "../../../../src/core/outcome.ts";
import type { LedgerLine } from "./ledger.ts";
import type { End, Task } from "./task.ts";

export interface History {
  readonly acks: readonly Ack[];
  readonly ledger: readonly LedgerLine[];
  readonly store?: ReadonlyMap<string, StoredJob>;
  readonly leaseMs: number;
  readonly cancels?: readonly Cancel[];
  readonly exits?: readonly Exit[];
  /** What the doctor of the store found, and what did not go on as it should. */
  readonly ailments?: readonly string[];
}

/** A promise to a producer: the job is durable. */
export interface Ack {
  readonly id: string;
  readonly at?: number;
  readonly key?: string;
  /** A delayed job must not begin before. */
  readonly dueAt?: number;
}

/** A client asked for a cancellation. `state`: what it was told of the job; absent: nothing. */
export interface Cancel {
  readonly id: string;
  readonly at: number;
  readonly state?: State;
}

/** The end of a process. `told`: what it was told to do. */
export interface Exit {
  readonly pid: number;
  readonly told: "nothing" | "stop" | "killed";
  readonly code: number | NodeJS.Signals;
  readonly at?: number;
}

/** The exit code of a worker that stopped as it should, but could not wait for a deaf handler. */
export const DEAF_EXIT = 75;

export interface StoredJob {
  readonly state: State;
  /** Charged attempts. */
  readonly charged: number;
  readonly attempts: readonly StoredAttempt[];
  readonly key?: string | null;
  readonly parent?: string | null;
  /** Of its task, where it is one. */
  readonly name?: string;
  readonly end?: End;
  /** What else was asked for. */
  readonly asked?: Pick<Task, "after" | "onFailed" | "lines" | "units">;
  readonly logs?: readonly StoredLine[];
  readonly units?: readonly StoredUnit[];
}

export interface StoredLine {
  readonly line: number;
  readonly message: string;
}

export interface StoredUnit {
  readonly key: string;
  readonly state: string;
  /** The fence of the run that completed it. */
  readonly fence: number | null;
}

export interface StoredAttempt {
  readonly fence: number | null;
  readonly outcome: OutcomeName;
  readonly finishedAt: number;
  /** Charged until then. */
  readonly crashes?: number;
}

/** Kinds of findings, in the order in which they are printed. */
export const FINDINGS = [
  "lost",
  /** Two finishes were accepted, or an effect happened twice without need. */
  "doubled",
  "overlap",
  /** A later run whose fence had not grown. */
  "unfenced",
  /** One request became several jobs. */
  "copied",
  /** A success without its child, or a child without the success. */
  "childless",
  /** It ended otherwise than its task says. */
  "unlike",
  /** It began after its cancellation was acknowledged. */
  "unheeded",
  "early",
  /** Two runs or units had one lock at the same time. */
  "shared",
  /** It ran before a job that it was to run after. */
  "disordered",
  /** A unit ran again after its result was stored, or has a result that no run made. */
  "repeated",
  /** Lines of a log are missing, out of order, or too many. */
  "garbled",
  /** A process ended by itself, or not well. */
  "exit",
  /** The doctor of the store found something, or work did not go on. */
  "ailing",
] as const;

export interface Finding {
  readonly kind: (typeof FINDINGS)[number];
  /** The job, or what else it is about. */
  readonly job: string;
  readonly why: string;
}

/** What the child of a task is called. */
export function childName(parent: string): string {
  return `${parent}.child`;
}

/** What a run logs as its line of this number. */
export function logLine(fence: number, turn: number): string {
  return `${fence} ${turn}`;
}
