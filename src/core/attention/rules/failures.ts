/** Failures: new and returned causes, rates of errors, and dead letters without a review. */
import { formatDuration } from "../../duration.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { ERROR_RATE_MS, REVIEW_MS, type CauseFact, type Facts } from "../facts.ts";
import type { FindingOf } from "../finding.ts";
import { jobsText, namesText } from "../words.ts";

/** The least share of errors that is reported, and the least number of runs that tell a share. */
const ERROR_RATE_MIN = 0.2;
const RUNS_MIN = 20;

export function newCauses({ causes }: Facts): readonly FindingOf<"failure_cause">[] {
  return causes
    .filter(({ status }) => status === "new" || status === "returned")
    .map(({ cause, status, jobs, types, firstAt, lastAt, jobId, error }) => ({
      rule: "failure_cause",
      level: "look",
      subject: { kind: "cause", name: cause },
      sentence: causeSentence({ cause, status, jobs, types }),
      details: { cause, status, jobs, types, jobId, error },
      // A cause that was decided about has returned with its newest failure at the latest.
      since: new Date(status === "new" ? firstAt : lastAt),
      screen: "failures",
      action: { operation: "acknowledgeFailure", command: `millrace failures show ${cause}` },
    }));
}

function causeSentence(given: Pick<CauseFact, "cause" | "status" | "jobs" | "types">): string {
  const { cause, status, jobs, types } = given;
  const what = `${jobsText(jobs)} of ${namesText(types)}`;
  return status === "new"
    ? `A new cause of failure, ${cause}: ${what} failed.`
    : `The cause of failure ${cause} has returned: ${what} failed.`;
}

export function errorRates({ runs }: Facts): readonly FindingOf<"error_rate">[] {
  return runs
    .filter((each) => each.runs >= RUNS_MIN && each.errors / each.runs >= ERROR_RATE_MIN)
    .map(({ type, runs: all, errors }) => ({
      rule: "error_rate",
      level: "broken",
      subject: { kind: "type", name: type },
      sentence:
        `${Math.round((100 * errors) / all)} % of ${all} runs of the type ${type} have failed ` +
        `within ${formatDuration(ERROR_RATE_MS)}.`,
      details: { type, errorRate: errors / all, errors, runs: all, withinMs: ERROR_RATE_MS },
      since: null,
      screen: "types",
      action: { operation: null, command: `millrace stats --last 15m --type ${shellWord(type)}` },
    }));
}

export function oldLetters({ letters }: Facts): readonly FindingOf<"dead_letters">[] {
  const old = letters.filter((each) => each.old > 0);
  if (old.length === 0) return [];
  const count = old.reduce((total, each) => total + each.old, 0);
  const oldestAt = Math.min(...old.map((each) => each.oldestAt));
  const types = [...new Set(old.map(({ type }) => type))];
  const letter = count === 1 ? "dead letter waits" : "dead letters wait";
  return [
    {
      rule: "dead_letters",
      level: "look",
      subject: { kind: "dead_letters", name: "pending_review" },
      sentence:
        `${count} ${letter} for a review for more than ${formatDuration(REVIEW_MS)}: ` +
        `jobs of ${namesText(types)}.`,
      details: { deadLetters: { count, atLeast: false }, types, oldestAt: new Date(oldestAt) },
      since: new Date(oldestAt),
      screen: "dead_letters",
      action: { operation: null, command: "millrace dlq list --status pending_review" },
    },
  ];
}
