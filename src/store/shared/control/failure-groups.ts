/** Puts the rows of groups of failures together, for both stores. */
import type { GroupDecision } from "../../../core/failures/group-status.ts";
import type { JobId } from "../../../core/job.ts";
import {
  GROUP_COUNT_MAX,
  type FailureDecisionRecord,
  type FailureGroupRecord,
  type NewGroupDecision,
  type ReprocessOutcome,
} from "../../types/failures.ts";
import type { EnqueueAnswer } from "../../types/jobs-and-runs.ts";
import type { DeadLetterRecord } from "../../types/records.ts";
import { codec, type Codec } from "../codes.ts";
import type { NameLookup } from "../decode-jobs.ts";

/** The tenant of decisions about the failures of all tenants. */
export const ALL_TENANTS = 0;

const decisionCodec: Codec<GroupDecision["kind"]> = codec({
  acknowledged: 1,
  snoozed: 2,
  retried: 3,
  discarded: 4,
});

const HOURS = 24;

/** The causes of a list behind one of them; none if the list does not have it. */
export function causesBehind(
  rows: readonly { readonly cause: string }[],
  after: string | undefined,
): readonly string[] {
  const causes = rows.map(({ cause }) => cause);
  if (after === undefined) return causes;
  const at = causes.indexOf(after);
  return at < 0 ? [] : causes.slice(at + 1);
}

interface HourRow {
  readonly type: number;
  readonly hour: number;
  readonly letters: number;
}

interface DecisionRow {
  readonly decision: number;
  readonly decided_at: number;
  readonly until: number | null;
  readonly by: string;
  readonly notes: string | null;
}

export function failureGroupRecord(
  names: NameLookup,
  found: {
    readonly cause: string;
    readonly firstAt: number;
    readonly hours: readonly HourRow[];
    readonly sample: DeadLetterRecord;
    readonly decision: DecisionRow | undefined;
  },
): FailureGroupRecord {
  const { cause, firstAt, sample, decision } = found;
  const hours = Array.from({ length: HOURS }, () => 0);
  for (const { hour, letters } of found.hours) if (hour >= 0) hours[hour]! += letters;
  const count = found.hours.reduce((sum, { letters }) => sum + letters, 0);
  return {
    cause,
    count: Math.min(count, GROUP_COUNT_MAX),
    isExact: count <= GROUP_COUNT_MAX,
    firstAt,
    lastAt: sample.diedAt,
    types: [...new Set(found.hours.map(({ type }) => names.text(type)))].toSorted(),
    hours,
    sample,
    decision: decision === undefined ? null : decisionOf(decision),
  };
}

export function decisionRecord(
  row: DecisionRow & { readonly cause: string },
): FailureDecisionRecord {
  return { cause: row.cause, ...decisionOf(row) };
}

function decisionOf(row: DecisionRow): NonNullable<FailureGroupRecord["decision"]> {
  const { decided_at: at, until, by, notes } = row;
  return { kind: decisionCodec.word(row.decision), at, until, by, notes };
}

/** The columns of a decision. */
export function decisionParams(decision: NewGroupDecision): {
  readonly decision: number;
  readonly for_ms: number | null;
  readonly by: string;
  readonly notes: string | null;
} {
  const { kind, by, notes } = decision;
  const forMs = kind === "snoozed" ? decision.forMs : null;
  return { decision: decisionCodec.code[kind], for_ms: forMs, by, notes };
}

export function reprocessOutcome(id: JobId, answer: EnqueueAnswer): ReprocessOutcome {
  if (answer.status === "refused") return { id, status: "refused", job: null };
  if (answer.status === "created") return { id, status: "created", job: answer.id };
  return { id, status: answer.by === "dedup" ? "held" : "existing", job: answer.id };
}
