/** failureGroups, failureDecisions, lettersOfCause, decideGroup, reprocessMany and discardMany. */
import type { JobId } from "../../../core/job.ts";
import type { LetterPage } from "../../types/letters.ts";
import {
  ALL_TENANTS,
  causesBehind,
  decisionParams,
  decisionRecord,
  failureGroupRecord,
  reprocessOutcome,
} from "../../shared/control/failure-groups.ts";
import { groupDecided } from "../../shared/audit/drafts.ts";
import { bounded } from "../../shared/limits.ts";
import { PAGE_MAX } from "../../shared/lists/bounds.ts";
import {
  CAUSES_MAX,
  GROUP_COUNT_MAX,
  LETTER_CHUNK_MAX,
  type FailureDecisionRecord,
  type FailureGroupRecord,
  type FailureScope,
  type NewGroupDecision,
  type ReprocessOutcome,
} from "../../types/failures.ts";
import type { NewJob } from "../../types/jobs-and-runs.ts";
import type { DeadLetterRecord } from "../../types/records.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { boundary, letterOf, reprocess, review } from "./dead-letters.ts";

export function failureGroups(
  session: Session,
  scope: FailureScope,
  limit: number,
  after?: string,
): FailureGroupRecord[] {
  const tenant = tenantOf(session, scope);
  if (tenant === undefined) return [];
  const { sql } = session;
  const rows =
    tenant === null
      ? sql.all("failure_causes", { max: CAUSES_MAX })
      : sql.all("failure_causes_of_tenant", { tenant, max: CAUSES_MAX });
  const page = causesBehind(rows, after).slice(0, bounded(limit, CAUSES_MAX));
  return page.flatMap((cause) => groupOf(session, tenant, cause) ?? []);
}

export function failureGroup(
  session: Session,
  cause: string,
  scope: FailureScope,
): FailureGroupRecord | null {
  const tenant = tenantOf(session, scope);
  return tenant === undefined ? null : groupOf(session, tenant, cause);
}

/** Null: all tenants. Undefined: the tenant has no jobs. */
function tenantOf({ names }: Session, { tenant }: FailureScope): number | null | undefined {
  return tenant === undefined ? null : names.find("tenant", tenant);
}

function groupOf(
  session: Session,
  tenant: number | null,
  cause: string,
): FailureGroupRecord | null {
  const { sql, clock, names } = session;
  const asked = { cause, now: clock.now(), max: GROUP_COUNT_MAX + 1 };
  const [sample] = pageOfCause(session, tenant, cause, { limit: 1 });
  const first =
    tenant === null
      ? sql.get("first_failure", { cause })
      : sql.get("first_failure_of_tenant", { tenant, cause });
  if (sample === undefined || first === undefined) return null;
  const hours =
    tenant === null
      ? sql.all("failure_hours", asked)
      : sql.all("failure_hours_of_tenant", { ...asked, tenant });
  const decision = sql.get("find_failure_group", { tenant: tenant ?? ALL_TENANTS, cause });
  return failureGroupRecord(names, { cause, firstAt: first.first_at, hours, sample, decision });
}

export function failureDecisions(
  { sql, names }: Session,
  of: string,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
): FailureDecisionRecord[] {
  const tenant = names.find("tenant", of);
  if (tenant === undefined) return [];
  const page = { tenant, after, limit: bounded(limit, PAGE_MAX) };
  return sql.all("failure_decisions", page).map(decisionRecord);
}

export function lettersOfCause(
  session: Session,
  cause: string,
  scope: FailureScope,
  page: LetterPage,
): DeadLetterRecord[] {
  const tenant = tenantOf(session, scope);
  return tenant === undefined ? [] : pageOfCause(session, tenant, cause, page);
}

function pageOfCause(
  session: Session,
  tenant: number | null,
  cause: string,
  page: LetterPage,
): DeadLetterRecord[] {
  const before = boundary(session, page);
  if (before === null) return [];
  const asked = { ...before, cause, limit: bounded(page.limit, LETTER_CHUNK_MAX) };
  const rows =
    tenant === null
      ? session.sql.all("letters_of_cause", asked)
      : session.sql.all("letters_of_cause_of_tenant", { ...asked, tenant });
  return rows.map((row) => letterOf(session, row));
}

export function decideGroup(
  session: Session,
  cause: string,
  scope: FailureScope,
  decision: NewGroupDecision,
): boolean {
  const tenant = tenantOf(session, scope) ?? ALL_TENANTS;
  // Without a job, the tenant has no group.
  if (scope.tenant !== undefined && tenant === ALL_TENANTS) return false;
  const now = session.clock.now();
  session.sql.run("decide_failure_group", { tenant, cause, now, ...decisionParams(decision) });
  writeAudits(session, [groupDecided(cause, scope.tenant, decision)]);
  return true;
}

export function reprocessMany(
  session: Session,
  successors: readonly (NewJob & { readonly retryOf: JobId })[],
  by: string,
  notes: string | null,
): ReprocessOutcome[] {
  return successors.slice(0, LETTER_CHUNK_MAX).map((successor) => {
    const id = successor.retryOf;
    const answer = reprocess(session, id, successor, by, notes);
    if (answer.status === "reprocessed") return reprocessOutcome(id, answer.answer);
    const job = answer.status === "closed" ? answer.letter.successor : null;
    return { id, status: job === null ? "closed" : "existing", job };
  });
}

export function discardMany(
  session: Session,
  ids: readonly JobId[],
  by: string,
  notes: string | null,
): number {
  return ids
    .slice(0, LETTER_CHUNK_MAX)
    .map((id) => review(session, id, { status: "discarded", by, notes }))
    .filter(({ status }) => status === "reviewed").length;
}
