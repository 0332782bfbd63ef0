/**
 * What a tenant is told about acts of the installation: that they were done, when and to what. The
 * person, and a reason that may tell about other tenants, are left out.
 */
import type { AuditName } from "../../core/audit/names.ts";
import { remarkForTenant } from "../../core/control/bulk.ts";
import type { AuditRecord } from "../../store/types/audit.ts";
import type { JobHistory } from "../../store/types/notes.ts";
import type { DeadLetterRecord } from "../../store/types/records.ts";

/** Acts about a tenant that its own mill is refused. */
const OF_INSTALLATION: ReadonlySet<string> = new Set<AuditName>([
  "quota_set",
  "quota_removed",
  "limit_set",
  "limit_removed",
  "fairness_set",
  "fairness_removed",
  "tenant_removal_requested",
]);

export function entryForTenant(entry: AuditRecord): AuditRecord {
  if (OF_INSTALLATION.has(entry.name)) return { ...entry, actor: null, reason: null };
  const { remark, isHidden } = remarkForTenant(entry.reason);
  return isHidden ? { ...entry, actor: null, reason: remark } : entry;
}

export function jobForTenant<Job extends { readonly cancelReason: string | null }>(job: Job): Job {
  return { ...job, cancelReason: remarkForTenant(job.cancelReason).remark };
}

export function attemptForTenant<Attempt extends { readonly reason: string | null }>(
  attempt: Attempt,
): Attempt {
  return { ...attempt, reason: remarkForTenant(attempt.reason).remark };
}

export function historyForTenant(history: JobHistory): JobHistory {
  return { ...history, attempts: history.attempts.map(attemptForTenant) };
}

export function letterForTenant(letter: DeadLetterRecord): DeadLetterRecord {
  const { remark: notes, isHidden } = remarkForTenant(letter.notes);
  return {
    ...letter,
    notes,
    reviewedBy: isHidden ? null : letter.reviewedBy,
    reviews: letter.reviews.map((entry) => {
      const own = remarkForTenant(entry.notes);
      return own.isHidden ? { ...entry, by: OPERATION_RUNNER, notes: own.remark } : entry;
    }),
  };
}

/** A review has a reviewer. */
const OPERATION_RUNNER = "installation";
