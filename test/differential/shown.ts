/**
 * Answers without what the port leaves open:
 *
 * - the numbers of jobs, leases and positions, and the secrets of leases;
 * - the order in which gates are named;
 * - how the feed deals events into entries, and the order of events of different jobs;
 * - how many entries of the feed retention removes;
 * - where a page of a list ends, and in which text a dead letter's spec is written;
 * - which of several jobs that did not end well a job is cancelled with.
 */
import type {
  AttemptRecord,
  DeadLetterRecord,
  FeedEntry,
  Gate,
  JobRecord,
  ReprocessAnswer,
  ReviewAnswer,
} from "../../src/store/types/records.ts";
import type { JobKey, OverdueRun, Renewal } from "../../src/store/types/jobs-and-runs.ts";
import type { Checkpoints } from "../../src/store/types/notes.ts";
import type { Subject } from "./perform.ts";

export function withoutKey<Row extends { readonly key: JobKey }>(row: Row): Omit<Row, "key"> {
  const { key: _key, ...rest } = row;
  return rest;
}

export function record(found: JobRecord | null): unknown {
  if (found === null) return null;
  return { ...withoutKey(found), cancelReason: reasonOf(found.cancelReason) };
}

export function attempts({ claims }: Subject, rows: readonly AttemptRecord[]): unknown {
  return rows.map(({ fence, ...row }) => {
    return {
      ...row,
      reason: reasonOf(row.reason),
      claim: claims.findIndex(({ lease }) => lease.number === fence),
    };
  });
}

function reasonOf(text: string | null): string | null {
  return text?.replace(/^job .*, which it was to run after, .*$/, "after") ?? null;
}

export function gates(found: readonly Gate[]): unknown {
  return found.map((gate) => JSON.stringify(gate, Object.keys(gate).toSorted())).toSorted();
}

export function letter(found: DeadLetterRecord | null): unknown {
  if (found === null) return null;
  const spec: unknown = JSON.parse(found.spec);
  // What only people read is compared by the conformance suites.
  return { ...found, spec, history: [], reviews: [] };
}

export function letterAnswer(answer: ReviewAnswer | ReprocessAnswer): unknown {
  return "letter" in answer ? { ...answer, letter: letter(answer.letter) } : answer;
}

/** What happened to each job, in its order. */
export function feed(entries: readonly FeedEntry[]): unknown {
  const told = new Map<string, string[]>();
  for (const { kind, at, jobs, details } of entries) {
    for (const [index, id] of jobs.entries()) {
      const detail: unknown = JSON.parse(details?.[index] ?? "null");
      const line = `${kind} at ${at}: ${JSON.stringify(detail)}`;
      told.set(id, [...(told.get(id) ?? []), line]);
    }
  }
  return [...told].toSorted(([left], [right]) => (left < right ? -1 : 1));
}

/** As an object of the language: how a database orders the names of phases is left open. */
export function checkpoints({ failedUnits, ...rest }: Checkpoints): unknown {
  return { ...rest, failedUnits: { ...failedUnits } };
}

export function overdue(subject: Subject, runs: readonly OverdueRun[]): unknown {
  return runs.map(({ lease, key: _key, ...run }) => {
    const claim = subject.claims.findIndex((each) => each.lease.number === lease.number);
    return { ...run, claim, isProven: subject.claims[claim]?.lease.secret === lease.secret };
  });
}

export function renewal({ ids }: Subject, answer: Renewal): unknown {
  if (answer.status === "lost") return answer;
  const { cancel, ended, ...rest } = answer;
  return {
    ...rest,
    cancel: cancel.map(({ key, n, reason }) => ({ id: ids.get(key), n, reason })),
    ended: ended.map(({ key, n }) => ({ id: ids.get(key), n })),
  };
}
