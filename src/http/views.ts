/** Views of the library as a caller may read them. */
import type { AuditEntry } from "../api/control/audit.ts";
import type { DeadLetter, Explanation, JobView } from "../api/client.ts";
import type { AttentionFinding } from "../core/attention/finding.ts";
import type { JobDetails } from "../api/details.ts";
import type { AttemptView } from "../api/jobs.ts";
import type { BreakerChangeView, BreakerView } from "../api/services/breakers.ts";
import type { LogView } from "../api/logs.ts";
import type { ProgressView, UnitView } from "../api/progress.ts";
import { readExactly } from "../lib/exact-json.ts";
import type { Redactor } from "./redaction.ts";

export function redactedJob(job: JobView, redactor: Redactor): object {
  const { payload, result, error, cancelReason } = job;
  return {
    ...job,
    payload: redactor.value(payload),
    result: redactor.value(result),
    error: redactor.fault(error),
    cancelReason: cancelReason === null ? null : redactor.text(cancelReason),
  };
}

/**
 * JSON as text. Numbers that lose digits when they are read stay as they are written. A text that
 * is damaged or has too many levels cannot be redacted, and is shown to those alone who see all.
 */
export function redactedText(text: string | null, redactor: Redactor): string | null {
  if (text === null || redactor.seesAll) return text;
  try {
    return JSON.stringify(redactor.value(readExactly(text)));
  } catch {
    return null;
  }
}

export function redactedProgress(progress: ProgressView, redactor: Redactor): object {
  return {
    ...progress,
    data: redactor.value(progress.data),
    phases: progress.phases.map((phase) => ({ ...phase, result: redactor.value(phase.result) })),
  };
}

export function redactedUnit(unit: UnitView, redactor: Redactor): object {
  return { ...unit, result: redactor.value(unit.result), error: redactor.fault(unit.error) };
}

export function redactedAttempt(attempt: AttemptView, redactor: Redactor): object {
  return { ...attempt, error: redactor.fault(attempt.error) };
}

export function redactedDetails(details: JobDetails, redactor: Redactor): object {
  return {
    ...details,
    job: redactedJob(details.job, redactor),
    progress: redactedProgress(details.progress, redactor),
    failedUnits: details.failedUnits.map((unit) => redactedUnit(unit, redactor)),
    attempts: details.attempts.map((attempt) => redactedAttempt(attempt, redactor)),
  };
}

/** Sentences about retries and services have the message of an error. */
export function redactedExplanation(explanation: Explanation, redactor: Redactor): object {
  const { until, sentence } = explanation;
  if (redactor.text(sentence) === sentence) return explanation;
  if (explanation.reason === "retrying") {
    const when = until === undefined ? "" : ` at ${until.toISOString()}`;
    return { ...explanation, sentence: `It waits for its next attempt${when}.` };
  }
  if (explanation.reason === "breaker") {
    const { details } = explanation;
    const reason = redactor.stateReason(details.reason, details.by);
    if (reason === details.reason) return explanation;
    const words = sentence.replaceAll(details.reason ?? "", reason ?? "");
    return { ...explanation, sentence: words, details: { ...details, reason } };
  }
  if (explanation.reason === "rate_limited") {
    const { service } = explanation.details;
    const when = explanation.details.until.toISOString();
    return {
      ...explanation,
      sentence: `The service ${service} has asked for a pause until ${when}.`,
    };
  }
  return explanation;
}

export function redactedBreaker(breaker: BreakerView, redactor: Redactor): object {
  const { reason, changedBy, parkedUntil } = breaker;
  return {
    ...breaker,
    reason: redactor.stateReason(reason, changedBy),
    parkedUntil: parkedUntil.map((park) => ({ ...park, reason: redactor.text(park.reason) })),
  };
}

/** The texts of errors are in the details. Operators write the reasons of pauses and intakes. */
export function redactedFinding(finding: AttentionFinding, redactor: Redactor): object {
  if (finding.rule === "breaker") {
    const { reason, by } = finding.details;
    return {
      ...finding,
      details: { ...finding.details, reason: redactor.stateReason(reason, by) },
    };
  }
  if (finding.rule === "failure_cause") {
    const { error } = finding.details;
    return { ...finding, details: { ...finding.details, error: redactor.fault(error) } };
  }
  if (finding.rule === "operation" && finding.details.error !== null) {
    const { name, message } = finding.details.error;
    const error = { name, message: redactor.text(message) };
    return { ...finding, details: { ...finding.details, error } };
  }
  return finding;
}

export function redactedBreakerChange(change: BreakerChangeView, redactor: Redactor): object {
  return { ...change, reason: redactor.stateReason(change.reason, change.changedBy) };
}

export function redactedLine(line: LogView, redactor: Redactor): object {
  const fields: unknown = redactor.value(line.fields);
  const isHidden = typeof fields === "string";
  return { ...line, message: redactor.text(line.message), fields: isHidden ? null : fields };
}

/** An entry of the audit: the values of a changed payload are hidden from all but managers. */
export function redactedAudit(entry: AuditEntry, redactor: Redactor): object {
  if (redactor.seesAll) return entry;
  const after: any = entry.after;
  if (!Array.isArray(after?.changes)) return entry;
  const changes = after.changes.map(({ path }: { path: string }) => ({ path }));
  return { ...entry, after: { ...after, changes } };
}

export function redactedLetter(letter: DeadLetter, redactor: Redactor): object {
  return {
    ...letter,
    payload: redactor.value(letter.payload),
    error: redactor.fault(letter.error),
    notes: letter.notes === null ? null : redactor.text(letter.notes),
    reviews: letter.reviews.map((entry) => ({
      ...entry,
      notes: entry.notes === null ? null : redactor.text(entry.notes),
      // A change has no fields around it by which a rule could hide it.
      changes: redactor.seesAll ? entry.changes : entry.changes.map(({ path }) => ({ path })),
    })),
    history: letter.history.map((run) => ({ ...run, error: redactor.fault(run.error) })),
  };
}
