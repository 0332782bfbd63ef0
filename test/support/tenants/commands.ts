/** The commands that a caller of one tenant tries with what belongs to another tenant. */
import type { Target } from "./requests.ts";

const WHY = ["--reason", "audit"];

/**
 * Every command that takes --server, in an order in which few commands of the right tenant are in
 * the way of later ones. Commands that wait for something are left out.
 */
export function commandsFor(target: Target): readonly (readonly string[])[] {
  return [...readsFor(target), ...switchesFor(target), ...reviewsFor(target), ...endsFor(target)];
}

/** They wait: for a job, for an operation. Their routes are tried as routes. */
export const WAITING_COMMANDS: readonly string[] = ["jobs follow", "operations watch"];

function readsFor(target: Target): readonly (readonly string[])[] {
  const { jobId, failedId, tenant, schedule, cause } = target;
  return [
    ["jobs", "list", "--tenant", tenant],
    ["jobs", "show", jobId],
    ["jobs", "explain", jobId],
    ["jobs", "logs", jobId],
    ["jobs", "units", jobId],
    ["dlq", "list"],
    ["dlq", "stats"],
    ["dlq", "show", failedId],
    ["failures", "list"],
    ["failures", "show", cause],
    ["operations", "list"],
    ["operations", "show", failedId],
    ["operations", "items", failedId],
    ["schedules", "list"],
    ["schedules", "show", schedule],
    ["schedules", "history", schedule],
    ["token", "list"],
    ["tenants", "list"],
    ["tenants", "show", tenant],
    ["tenants", "export", tenant],
    ["audit", "list"],
    ["audit", "export"],
    ["audit", "verify"],
    ["pauses"],
    ["intake", "list"],
    ["limits", "list"],
    ["fairness", "list"],
    ["payloads", "rules", "list"],
    ["types", "list"],
    ["breakers", "list"],
    ["breakers", "show", "bank"],
    ["breakers", "history", "bank"],
    ["attention"],
    ["lanes"],
    ["stats"],
    ["workers", "list"],
  ];
}

function switchesFor({ tenant }: Target): readonly (readonly string[])[] {
  return [
    ["pause", "--tenant", tenant],
    ["resume", "--tenant", tenant],
    ["tenants", "pause", tenant],
    ["tenants", "resume", tenant],
    ["tenants", "quota", tenant, "--waiting", "5"],
    ["limits", "set", "--tenant", tenant, "--concurrency", "1", ...WHY],
    ["limits", "remove", "--tenant", tenant, ...WHY],
    ["fairness", "set", "general", "--weight", `${tenant}=5`],
    ["fairness", "remove", "general"],
    ["payloads", "rules", "set", "--type", tenant, "--hard", "5000"],
    ["payloads", "rules", "remove", "--type", tenant],
    ["types", "override", tenant, "--priority", "5"],
    ["types", "reset", tenant],
    ["breakers", "open", "bank", "--reason", "audit"],
    ["breakers", "reset", "bank"],
    ["enqueue", "report", "--tenant", tenant],
    ["drain", "--tenant", tenant, "--timeout", "1ms"],
  ];
}

function reviewsFor({ failedId, cause }: Target): readonly (readonly string[])[] {
  return [
    ["failures", "acknowledge", cause],
    ["failures", "snooze", cause, "--for", "2h"],
    ["dlq", "acknowledge", failedId],
    ["dlq", "note", failedId, "--notes", "seen"],
    ["dlq", "assign", failedId, "--to", "bob"],
    ["dlq", "reprocess", failedId, "--notes", "fixed"],
    ["failures", "retry", cause, "--notes", "fixed"],
    ["failures", "discard", cause, "--notes", "old"],
    ["dlq", "discard", failedId, "--notes", "old"],
  ];
}

function endsFor(target: Target): readonly (readonly string[])[] {
  const { jobId, failedId, runningId, tokenId, tenant, schedule } = target;
  return [
    ["jobs", "priority", jobId, "--to", "high"],
    ["jobs", "reschedule", jobId, "--delay", "2h"],
    ["jobs", "release", runningId],
    ["jobs", "cancel", jobId],
    ["jobs", "retry", failedId],
    ["jobs", "fail", jobId],
    ["jobs", "delete", jobId],
    ["operations", "stop", failedId],
    // Names belong to the installation, so that only a free one tells nothing.
    ["schedules", "create", `${schedule}-free`, "0 3 * * *", "report", ...WHY],
    ["schedules", "update", schedule, "--cron", "0 4 * * *", ...WHY],
    ["schedules", "pause", schedule, "audit"],
    ["schedules", "resume", schedule],
    ["schedules", "run", schedule],
    ["schedules", "remove", schedule, ...WHY],
    ["token", "create", "eve", "--tenant", tenant],
    ["workers", "quiet", jobId],
    ["workers", "resume", jobId],
    ["workers", "stop", jobId],
    ["intake", "close", "--tenant", tenant],
    ["intake", "open", "--tenant", tenant],
    ["tenants", "remove", tenant, "--reason", "left", "--confirm", tenant],
    // Last: it may be the token of the caller.
    ["token", "revoke", tokenId],
  ];
}
