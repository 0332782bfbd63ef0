/** The facts that the rules are about. Instants are milliseconds since the epoch. */
import type { GroupStatus } from "../failures/group-status.ts";
import type { Fault } from "../outcome.ts";
import type { Taker, Wanted } from "../takers.ts";
import type { Counted, ScheduleProblem } from "./finding.ts";

export interface Facts {
  readonly breakers: readonly BreakerFact[];
  readonly causes: readonly CauseFact[];
  readonly groups: readonly WaitingFact[];
  /** Null: not known. */
  readonly workers: readonly WorkerFact[] | null;
  readonly runs: readonly RunsFact[];
  readonly schedules: readonly ScheduleFact[];
  readonly pauses: readonly PauseFact[];
  readonly intakes: readonly ClosedFact[];
  readonly letters: readonly LetterFact[];
  readonly operations: readonly OperationFact[];
}

export type FactName = keyof Facts;

export interface BreakerFact {
  readonly service: string;
  readonly state: "closed" | "open" | "half_open";
  readonly failures: number;
  readonly types: readonly string[];
  readonly waiting: Counted;
  readonly openedAt: number | null;
  readonly probeAt: number | null;
  readonly reason: string | null;
  readonly by: string | null;
}

export interface CauseFact {
  readonly cause: string;
  readonly status: GroupStatus;
  readonly jobs: Counted;
  readonly types: readonly string[];
  readonly firstAt: number;
  readonly lastAt: number;
  readonly jobId: string;
  readonly error: Fault;
}

/** Jobs of one type, lane and tenant that a free slot would start. */
export interface WaitingFact extends Wanted {
  readonly waiting: Counted;
  /** Null: none waits. */
  readonly oldestMs: number | null;
}

export interface WorkerFact extends Taker {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly isAlive: boolean;
  readonly isQuiet: boolean;
  readonly heartbeatAgoMs: number;
  readonly running: number;
}

/** The runs of a type that ended within {@link ERROR_RATE_MS}, and had a verdict. */
export interface RunsFact {
  readonly type: string;
  readonly runs: number;
  readonly errors: number;
}

export interface ScheduleFact {
  readonly name: string;
  readonly type: string;
  readonly isPaused: boolean;
  /** False: an operator has not made it, and the code of no living worker declares it. */
  readonly isDeclared: boolean;
  readonly nextSlot: number | null;
  /** The newest slot, apart from those that a person asked for. */
  readonly lastTick: { readonly outcome: ScheduleProblem | "well"; readonly slot: number } | null;
  readonly lastJobId: string | null;
  readonly hasFailed: boolean;
}

export interface ClosedFact {
  readonly kind: "lane" | "type" | "tenant" | "installation";
  readonly name: string;
  readonly reason: string;
  readonly by: string | null;
  readonly closedAt: number;
}

export interface PauseFact extends Omit<ClosedFact, "kind"> {
  readonly kind: ClosedFact["kind"] | "service";
  readonly isOfEngine: boolean;
}

/** Dead letters of one type that wait for a review. */
export interface LetterFact {
  readonly type: string;
  /** Those that died more than {@link REVIEW_MS} ago. */
  readonly old: number;
  readonly oldestAt: number;
}

export interface OperationFact {
  readonly id: string;
  readonly action: string;
  readonly status: "pending" | "running" | "completed" | "stopped" | "failed";
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  /** A runner would have begun it by now, if there were one. */
  readonly isNext: boolean;
}

/** The stretch of time over which errors are counted. */
export const ERROR_RATE_MS: number = 15 * 60_000;
/** How long a dead letter may wait for a review. `store.letterGroups` counts those of a day. */
export const REVIEW_MS: number = 24 * 3_600_000;
