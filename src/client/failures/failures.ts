/** `mill.failures`: dead letters by cause. */
import type {
  DiscardedFailures,
  FailureActor,
  FailureFilter,
  FailureGroup,
  Failures,
  RetriedFailures,
} from "../../api/control/failures.ts";
import { aName, anObject, aWholeNumber, must, type Rule } from "../../api/rules.ts";
import type { Clock } from "../../core/clock.ts";
import { instantMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { withCause } from "../../core/failures/fingerprint.ts";
import { groupStatus } from "../../core/failures/group-status.ts";
import { listedFault } from "../../core/fault.ts";
import type { JobId } from "../../core/job.ts";
import { anyRemark, insistOn } from "../../jobs/check-text.ts";
import { aMoment } from "../../jobs/enqueue-options.ts";
import { dateOf } from "../../jobs/views.ts";
import type { LetterPlace } from "../../store/types/letters.ts";
import type { JobStore } from "../../store/store.ts";
import type {
  FailureGroupRecord,
  FailureScope,
  NewGroupDecision,
  ReprocessOutcome,
} from "../../store/types/failures.ts";
import type { DeadLetterRecord } from "../../store/types/records.ts";
import { letterSuccessor } from "../../jobs/letter-successor.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 100;
/** The dead letters of one transaction, so that other writers do not wait long. */
const CHUNK = 100;
const LETTERS_DEFAULT = 10_000;
const LETTERS_MAX = 100_000;

interface FailureParts {
  readonly store: JobStore;
  readonly clock: Pick<Clock, "now">;
  readonly newId: () => JobId;
}

export function makeFailures(parts: FailureParts): Failures {
  const { store, clock } = parts;
  return {
    async list(filter = {}) {
      insistOn("failures.list", A_LIST, filter, "");
      const limit = Math.min(filter.limit ?? PAGE_DEFAULT, PAGE_MAX);
      const groups = await store.failureGroups(scopeOf(filter), limit, filter.after);
      return groups.map((group) => groupView(group, clock.now()));
    },
    async get(cause, filter = {}) {
      insistOn("failures.get", A_CAUSE, cause, "cause");
      insistOn("failures.get", A_FILTER, filter, "");
      return groupView(await groupOf(store, cause, filter), clock.now());
    },
    async acknowledge(cause, by) {
      insistOn("failures.acknowledge", actorRule({}), by, "");
      await decide(parts, cause, by, { kind: "acknowledged" });
    },
    async snooze(cause, by) {
      insistOn("failures.snooze", A_SNOOZE, by, "");
      const forMs = Math.max(0, instantMs(by.until, "until") - clock.now());
      await decide(parts, cause, by, { kind: "snoozed", forMs });
    },
    async retry(cause, by) {
      insistOn("failures.retry", A_CHANGE, by, "");
      await decide(parts, cause, by, { kind: "retried" });
      return retryLetters(parts, cause, by);
    },
    async discard(cause, by) {
      insistOn("failures.discard", A_CHANGE, by, "");
      await decide(parts, cause, by, { kind: "discarded" });
      return discardLetters(parts, cause, by);
    },
  };
}

const A_CAUSE: Rule = must(
  (value) => typeof value === "string" && /^[0-9a-f]{16}$/.test(value),
  "a cause of 16 hexadecimal digits, as a dead letter shows it",
);
const A_LIMIT: Rule = aWholeNumber({ min: 1, max: LETTERS_MAX });
const A_FILTER: Rule = anObject(
  { required: {}, optional: { tenant: aName, limit: aWholeNumber({ min: 1 }) } },
  "an object such as { limit: 10 }",
);
const A_LIST: Rule = anObject(
  { required: {}, optional: { tenant: aName, limit: aWholeNumber({ min: 1 }), after: A_CAUSE } },
  "an object such as { limit: 10 }",
);
const A_SNOOZE: Rule = actorRule({}, { until: aMoment });
const A_CHANGE: Rule = actorRule({ limit: A_LIMIT });

function actorRule(
  optional: Readonly<Record<string, Rule>>,
  required: Readonly<Record<string, Rule>> = {},
): Rule {
  return anObject(
    {
      required: { actor: aName, ...required },
      optional: { notes: anyRemark, tenant: aName, ...optional },
    },
    'an object such as { actor: "ada" }',
  );
}

function scopeOf({ tenant }: { readonly tenant?: string }): FailureScope {
  return tenant === undefined ? {} : { tenant };
}

async function groupOf(
  store: JobStore,
  cause: string,
  filter: Pick<FailureFilter, "tenant">,
): Promise<FailureGroupRecord> {
  const group = await store.failureGroup(cause, scopeOf(filter));
  if (group !== null) return group;
  throw new MillraceError("JOB_NOT_FOUND", `no open dead letter has the cause ${cause}`, {
    details: { cause },
    hint: "List the causes with mill.failures.list() or millrace failures list.",
  });
}

type DecisionKind =
  | { readonly kind: "acknowledged" | "retried" | "discarded" }
  | { readonly kind: "snoozed"; readonly forMs: number };

/** A decision needs a group: a mistyped cause is refused. */
async function decide(
  { store }: FailureParts,
  cause: string,
  by: FailureActor,
  kind: DecisionKind,
): Promise<void> {
  insistOn("failures", A_CAUSE, cause, "cause");
  await groupOf(store, cause, by);
  const decision: NewGroupDecision = { ...kind, by: by.actor, notes: by.notes ?? null };
  await store.decideGroup(cause, scopeOf(by), decision);
}

async function retryLetters(
  { store, clock, newId }: FailureParts,
  cause: string,
  by: FailureActor & { readonly limit?: number },
): Promise<RetriedFailures> {
  const counts: Record<ReprocessOutcome["status"], number> = {
    created: 0,
    existing: 0,
    held: 0,
    refused: 0,
    closed: 0,
  };
  const { actor, notes = null } = by;
  const complete = await inChunks(store, cause, by, async (letters) => {
    const successors = letters.flatMap((letter) => {
      try {
        return [letterSuccessor(letter, newId(), { actor, nowMs: clock.now() })];
      } catch {
        // The copy of the request is damaged: the letter stays open, for `doctor` and people.
        counts.refused += 1;
        return [];
      }
    });
    const requests = letters.map(({ id }) => ({ id, changes: null }));
    await store.requestReprocess(requests, { by: actor, reason: notes });
    const outcomes = await store.reprocessMany(successors, actor, notes);
    for (const { status } of outcomes) counts[status] += 1;
  });
  const { created: retried, existing, held, refused } = counts;
  return { retried, existing, held, refused, complete };
}

async function discardLetters(
  { store }: FailureParts,
  cause: string,
  by: FailureActor & { readonly limit?: number },
): Promise<DiscardedFailures> {
  let discarded = 0;
  const complete = await inChunks(store, cause, by, async (letters) => {
    const ids = letters.map(({ id }) => id);
    discarded += await store.discardMany(ids, by.actor, by.notes ?? null);
  });
  return { discarded, complete };
}

/**
 * Calls `change` with the open letters of a cause, newest first. Letters of jobs that fail again
 * meanwhile are newer than the first page, so the walk ends. Answers whether it reached the end.
 */
async function inChunks(
  store: JobStore,
  cause: string,
  by: FailureActor & { readonly limit?: number },
  change: (letters: readonly DeadLetterRecord[]) => Promise<void>,
): Promise<boolean> {
  let left = by.limit ?? LETTERS_DEFAULT;
  let behind: LetterPlace | undefined;
  while (left > 0) {
    const page = { limit: Math.min(CHUNK, left), ...(behind === undefined ? {} : { behind }) };
    const letters = await store.lettersOfCause(cause, scopeOf(by), page);
    if (letters.length > 0) await change(letters);
    if (letters.length < page.limit) return true;
    left -= letters.length;
    behind = letters.at(-1);
  }
  return false;
}

function groupView(group: FailureGroupRecord, now: number): FailureGroup {
  const { cause, count, isExact, types, hours, sample, decision } = group;
  return {
    cause,
    count,
    atLeast: !isExact,
    status: groupStatus(decision, group, now),
    types,
    firstSeenAt: new Date(group.firstAt),
    lastSeenAt: new Date(group.lastAt),
    trend: hours,
    sample: {
      jobId: sample.id,
      tenant: sample.tenant,
      error: listedFault(withCause({ ...sample.fault, cause })),
    },
    decidedBy: decision?.by ?? null,
    decidedAt: dateOf(decision?.at ?? null),
    until: dateOf(decision?.until ?? null),
    notes: decision?.notes ?? null,
  };
}
