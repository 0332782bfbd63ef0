/** What an operator should look at: a sentence, the data behind it, and what to do. */
import type { GroupStatus } from "../failures/group-status.ts";
import type { Fault } from "../outcome.ts";

/** A count that may have stopped at a maximum. */
export interface Counted {
  readonly count: number;
  readonly atLeast: boolean;
}

/**
 * The data of each rule. Texts of the application, such as messages of errors, are here and not in
 * the sentence, so that they can be hidden.
 */
export interface FindingDetails {
  breaker: {
    readonly service: string;
    readonly state: "open" | "half_open";
    readonly failures: number;
    readonly types: readonly string[];
    /** The jobs that wait for the service. */
    readonly waiting: Counted;
    /** Null: no job tries the service before an operator resets the breaker. */
    readonly probeAt: Date | null;
    readonly reason: string | null;
    readonly by: string | null;
  };
  failure_cause: {
    readonly cause: string;
    readonly status: GroupStatus;
    readonly jobs: Counted;
    readonly types: readonly string[];
    /** The newest failure. */
    readonly jobId: string;
    readonly error: Fault;
  };
  waiting: {
    readonly lane: string;
    readonly ageMs: number;
    readonly targetMs: number;
    readonly waiting: Counted;
  };
  error_rate: {
    readonly type: string;
    readonly errorRate: number;
    readonly errors: number;
    readonly runs: number;
    /** The stretch of time, in milliseconds. */
    readonly withinMs: number;
  };
  worker_silent: {
    readonly worker: string;
    readonly host: string;
    readonly pid: number;
    readonly heartbeatAgoMs: number;
    readonly running: number;
  };
  not_taken: {
    readonly type: string;
    /** What no worker takes. */
    readonly missing: "type" | "lane" | "tenant";
    readonly name: string;
    readonly waiting: Counted;
    readonly didYouMean: string | null;
  };
  no_worker: {
    readonly waiting: Counted;
    /** Workers that are alive and claim no jobs. */
    readonly quiet: number;
  };
  schedule: {
    readonly schedule: string;
    readonly type: string;
    readonly problem: ScheduleProblem;
    readonly slotAt: Date | null;
    readonly jobId: string | null;
  };
  pause: Omit<ClosedDetails, "kind"> & {
    readonly kind: ClosedDetails["kind"] | "service";
    /** The engine has paused the type, because its jobs end their process. */
    readonly isOfEngine: boolean;
  };
  intake: ClosedDetails;
  dead_letters: {
    /** Those that have waited for a review for longer than a day. */
    readonly deadLetters: Counted;
    readonly types: readonly string[];
    readonly oldestAt: Date;
  };
  operation: {
    readonly operation: string;
    readonly action: string;
    readonly problem: "failed" | "no_runner";
    readonly error: { readonly name: string; readonly message: string } | null;
  };
}

interface ClosedDetails {
  readonly kind: "lane" | "type" | "tenant" | "installation";
  readonly name: string;
  readonly reason: string;
  readonly by: string | null;
}

/**
 * `late`: a slot is due, and no worker has ticked it. `undeclared`: the same, for a schedule that
 * the code of no worker declares. The others are what came of the last slot.
 */
export type ScheduleProblem =
  | "late"
  | "undeclared"
  | "missed"
  | "refused"
  | "over_quota"
  | "intake_closed"
  | "failed";

export type AttentionRule = keyof FindingDetails;

export interface FindingSubject {
  readonly kind:
    | "service"
    | "cause"
    | "lane"
    | "type"
    | "tenant"
    | "worker"
    | "installation"
    | "schedule"
    | "dead_letters"
    | "operation";
  readonly name: string;
}

export interface FindingAction {
  /** The operation of the HTTP API that helps, for the subject; null: there is no such one. */
  readonly operation: string | null;
  /** The command that helps, or that shows more. */
  readonly command: string;
}

/** The screen of the dashboard that shows more. */
export type FindingScreen =
  | "breakers"
  | "failures"
  | "lanes"
  | "types"
  | "workers"
  | "schedules"
  | "dead_letters"
  | "operations"
  | "settings";

export interface FindingOf<Rule extends AttentionRule> {
  readonly rule: Rule;
  /** `broken`: jobs do not run as they should. `look`: a person should decide. */
  readonly level: "broken" | "look";
  readonly subject: FindingSubject;
  /** Names types, lanes, services and causes, and no text of an error. */
  readonly sentence: string;
  readonly details: FindingDetails[Rule];
  readonly since: Date | null;
  readonly screen: FindingScreen;
  readonly action: FindingAction;
}

export type AttentionFinding = { [Rule in AttentionRule]: FindingOf<Rule> }[AttentionRule];

/** Broken ones first, then the oldest. Those without a time come last. */
export function inOrder(findings: readonly AttentionFinding[]): readonly AttentionFinding[] {
  const rank = ({ level }: AttentionFinding): number => (level === "broken" ? 0 : 1);
  const time = ({ since }: AttentionFinding): number => since?.getTime() ?? Number.MAX_SAFE_INTEGER;
  return findings.toSorted((one, other) => rank(one) - rank(other) || time(one) - time(other));
}
