/** What a finding says in one line, and what stands below it. Pure. */
import { countText, durationText, plural } from "../../lib/format.ts";
import type { Finding } from "./findings.ts";

export interface Said {
  readonly line: string;
  /** Smaller, below. */
  readonly more: string | null;
}

type Counted = { readonly count: number; readonly atLeast: boolean };

/** Breakers and causes have more to say than the sentence of the API, which names no error. */
export function saidOf(finding: Finding, now: number): Said {
  if (finding.rule === "failure_cause") {
    const { status, jobs, types, error } = finding.details;
    if (error === null) return { line: finding.sentence, more: null };
    const isOne = jobs.count === 1 && !jobs.atLeast;
    const what = isOne ? "1 job" : `${countText(jobs)} jobs`;
    const since = status === "new" ? "New cause" : "Cause came back";
    return {
      line: `${since}: ${error.name}: ${error.message}`,
      more: `${what} of ${types.join(", ")} failed with it.`,
    };
  }
  if (finding.rule === "breaker") {
    const { service, state, probeAt, waiting } = finding.details;
    return {
      line: `Breaker ${service} is ${state === "open" ? "open" : "half open"}`,
      more: `${heldText(waiting)} ${probeText(state, probeAt, now)}`,
    };
  }
  return { line: finding.sentence, more: null };
}

function heldText(waiting: Counted): string {
  if (waiting.count === 0 && !waiting.atLeast) return "No job waits for it.";
  const isOne = waiting.count === 1 && !waiting.atLeast;
  return `${countText(waiting)} ${isOne ? "job waits" : "jobs wait"}, and none loses an attempt.`;
}

function probeText(state: string, probeAt: string | null, now: number): string {
  if (state === "half_open") return "One job tries the service now.";
  if (probeAt === null) return "It stays open until a person resets it.";
  const leftMs = Date.parse(probeAt) - now;
  return leftMs <= 0 ? "A probe is due." : `Next probe in ${durationText(leftMs)}.`;
}

/** How many findings are shown before a person asks for all. */
export const FINDINGS_SHOWN = 6;

export function moreText(all: number): string {
  return `Show ${plural(all - FINDINGS_SHOWN, "more finding")}`;
}
