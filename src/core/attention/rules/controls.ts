/** What operators have closed and may have forgotten, and bulk operations. */
import { formatDuration } from "../../duration.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import type { ClosedFact, Facts, OperationFact, PauseFact } from "../facts.ts";
import type { FindingOf } from "../finding.ts";

/** How long a pause or a closed intake may last without a question. */
const CLOSED_MS = 24 * 3_600_000;
/** How long an operation may wait for a runner. */
const RUNNER_MS = 60_000;
/** How long a failed operation is reported. */
const FAILED_MS = 24 * 3_600_000;

export function oldPauses({ pauses }: Facts, now: number): readonly FindingOf<"pause">[] {
  return pauses
    .filter(({ isOfEngine, closedAt }) => isOfEngine || now - closedAt > CLOSED_MS)
    .map(({ kind, name, reason, by, closedAt, isOfEngine }) => ({
      rule: "pause",
      level: isOfEngine ? "broken" : "look",
      subject: { kind, name },
      sentence: isOfEngine
        ? `The engine has paused the type ${name}, because its jobs end their process.`
        : `${targetText({ kind, name })} has been paused for ${formatDuration(now - closedAt)}.`,
      details: { kind, name, reason, by, isOfEngine },
      since: new Date(closedAt),
      screen: kind === "type" ? "types" : kind === "lane" ? "lanes" : "settings",
      action: { operation: "resume", command: `millrace resume ${targetOption({ kind, name })}` },
    }));
}

export function oldIntakes({ intakes }: Facts, now: number): readonly FindingOf<"intake">[] {
  return intakes
    .filter(({ closedAt }) => now - closedAt > CLOSED_MS)
    .map(({ kind, name, reason, by, closedAt }) => ({
      rule: "intake",
      level: "look",
      subject: { kind, name },
      sentence:
        `${targetText({ kind, name })} has refused new jobs for ` +
        `${formatDuration(now - closedAt)}.`,
      details: { kind, name, reason, by },
      since: new Date(closedAt),
      screen: "settings",
      action: {
        operation: "openIntake",
        command: `millrace intake open ${targetOption({ kind, name })}`,
      },
    }));
}

type Target = Pick<PauseFact | ClosedFact, "kind" | "name">;

function targetText({ kind, name }: Target): string {
  return kind === "installation" ? "The whole installation" : `The ${kind} ${name}`;
}

function targetOption({ kind, name }: Target): string {
  return kind === "installation" ? "--all" : `--${kind} ${shellWord(name)}`;
}

export function stuckOperations(
  { operations }: Facts,
  now: number,
): readonly FindingOf<"operation">[] {
  return operations.flatMap((operation) => {
    const { status, finishedAt, createdAt, isNext } = operation;
    if (status === "failed" && now - (finishedAt ?? now) < FAILED_MS) {
      return [operationFinding(operation, "failed")];
    }
    const isLate = status === "pending" && isNext && now - createdAt > RUNNER_MS;
    return isLate ? [operationFinding(operation, "no_runner")] : [];
  });
}

function operationFinding(
  { id, action, createdAt, finishedAt, error }: OperationFact,
  problem: "failed" | "no_runner",
): FindingOf<"operation"> {
  const hasFailed = problem === "failed";
  return {
    rule: "operation",
    level: "broken",
    subject: { kind: "operation", name: id },
    sentence: hasFailed
      ? `The operation ${id} (${action}) has failed.`
      : `The operation ${id} (${action}) waits for a process that runs it.`,
    details: { operation: id, action, problem, error },
    since: new Date(hasFailed ? (finishedAt ?? createdAt) : createdAt),
    screen: "operations",
    action: {
      operation: hasFailed ? null : "stopOperation",
      command: `millrace operations show ${id}`,
    },
  };
}
