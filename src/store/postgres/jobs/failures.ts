/** failureGroups, failureDecisions, lettersOfCause, decideGroup, reprocessMany and discardMany. */
import { writeAudits } from "../audit/write.ts";
import type { Act } from "../../types/audit.ts";
import { RETRIED_BY } from "../../shared/control/operations.ts";
import { groupDecided, reprocessed, reviewed, type AuditDraft } from "../../shared/audit/drafts.ts";
import type { JobId } from "../../../core/job.ts";
import type { LetterPage } from "../../types/letters.ts";
import { deadLetterCodec } from "../../shared/codes.ts";
import {
  ALL_TENANTS,
  causesBehind,
  decisionParams,
  decisionRecord,
  failureGroupRecord,
  reprocessOutcome,
} from "../../shared/control/failure-groups.ts";
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
import type { DeadLetterRecord, ReviewAnswer } from "../../types/records.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";
import {
  isOpenLetter,
  lettersOf,
  LOCK_MS,
  lockLetters,
  pageStart,
  type LockedLetter,
} from "./dead-letters.ts";
import { enqueueWithin } from "./enqueue.ts";
import { internJobs } from "./job-rows.ts";

export async function failureGroups(
  session: Session,
  scope: FailureScope,
  limit: number,
  after?: string,
): Promise<readonly FailureGroupRecord[]> {
  const tenant = await tenantOf(session, scope);
  if (tenant === undefined) return [];
  const { read } = session;
  const rows =
    tenant === null
      ? await read.all("failure_causes", { max: CAUSES_MAX })
      : await read.all("failure_causes_of_tenant", { tenant, max: CAUSES_MAX });
  const groups: FailureGroupRecord[] = [];
  for (const cause of causesBehind(rows, after).slice(0, bounded(limit, CAUSES_MAX))) {
    const group = await groupOf(session, tenant, cause);
    if (group !== null) groups.push(group);
  }
  return groups;
}

export async function failureGroup(
  session: Session,
  cause: string,
  scope: FailureScope,
): Promise<FailureGroupRecord | null> {
  const tenant = await tenantOf(session, scope);
  return tenant === undefined ? null : groupOf(session, tenant, cause);
}

/** Null: all tenants. Undefined: the tenant has no jobs. */
async function tenantOf(
  { names }: Session,
  { tenant }: FailureScope,
): Promise<number | null | undefined> {
  return tenant === undefined ? null : names.id("tenant", tenant);
}

async function groupOf(
  session: Session,
  tenant: number | null,
  cause: string,
): Promise<FailureGroupRecord | null> {
  const { read, names } = session;
  const asked = { cause, max: GROUP_COUNT_MAX + 1 };
  const [sample] = await pageOfCause(session, tenant, cause, { limit: 1 });
  const first =
    tenant === null
      ? await read.get("first_failure", { cause })
      : await read.get("first_failure_of_tenant", { tenant, cause });
  if (sample === undefined || first === undefined) return null;
  const hours =
    tenant === null
      ? await read.all("failure_hours", asked)
      : await read.all("failure_hours_of_tenant", { ...asked, tenant });
  const decision = await read.get("find_failure_group", { tenant: tenant ?? ALL_TENANTS, cause });
  await names.learn(hours.map(({ type }) => type));
  return failureGroupRecord(names, { cause, firstAt: first.first_at, hours, sample, decision });
}

export async function failureDecisions(
  session: Session,
  of: string,
  { after = "", limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly FailureDecisionRecord[]> {
  const tenant = await session.names.id("tenant", of);
  if (tenant === undefined) return [];
  const page = { tenant, after, limit: bounded(limit, PAGE_MAX) };
  return (await session.read.all("failure_decisions", page)).map(decisionRecord);
}

export async function lettersOfCause(
  session: Session,
  cause: string,
  scope: FailureScope,
  page: LetterPage,
): Promise<readonly DeadLetterRecord[]> {
  const tenant = await tenantOf(session, scope);
  return tenant === undefined ? [] : pageOfCause(session, tenant, cause, page);
}

async function pageOfCause(
  session: Session,
  tenant: number | null,
  cause: string,
  page: LetterPage,
): Promise<DeadLetterRecord[]> {
  const before = await pageStart(session, page);
  if (before === null) return [];
  const asked = { ...before, cause, limit: bounded(page.limit, LETTER_CHUNK_MAX) };
  const rows =
    tenant === null
      ? await session.read.all("letters_of_cause", asked)
      : await session.read.all("letters_of_cause_of_tenant", { ...asked, tenant });
  return lettersOf(session.names, rows);
}

export async function decideGroup(
  session: Session,
  cause: string,
  scope: FailureScope,
  decision: NewGroupDecision,
): Promise<boolean> {
  const tenant = (await tenantOf(session, scope)) ?? ALL_TENANTS;
  // Without a job, the tenant has no group.
  if (scope.tenant !== undefined && tenant === ALL_TENANTS) return false;
  const params = { tenant, cause, ...decisionParams(decision) };
  await repeating(session.dice, (isRepeat) =>
    session.transaction(async (sql) => {
      await sql.run("decide_failure_group", params);
      await writeAudits(sql, [groupDecided(cause, scope.tenant, decision)], isRepeat);
    }),
  );
  return true;
}

export async function reprocessMany(
  session: Session,
  given: readonly (NewJob & { readonly retryOf: JobId })[],
  by: string,
  notes: string | null,
): Promise<readonly ReprocessOutcome[]> {
  const successors = given.slice(0, LETTER_CHUNK_MAX);
  const interned = await internJobs(session.names, successors);
  return repeating(session.dice, () =>
    session.transaction(
      (transaction) => reprocessWithin(transaction, { successors, interned, by, notes }),
      { lockMs: LOCK_MS },
    ),
  );
}

/**
 * The same within another transaction. Letters are locked in the order of their ids, so that two
 * calls cannot deadlock.
 */
export async function reprocessWithin(
  transaction: StoreTransaction,
  request: {
    readonly successors: readonly (NewJob & { readonly retryOf: JobId })[];
    readonly interned: Awaited<ReturnType<typeof internJobs>>;
    readonly by: string;
    readonly notes: string | null;
  },
): Promise<readonly ReprocessOutcome[]> {
  const { successors, interned, by, notes } = request;
  const rows = await lockLetters(
    transaction,
    successors.map(({ retryOf }) => retryOf),
  );
  const isOpen = ({ retryOf }: { retryOf: JobId }): boolean =>
    isOpenLetter(rows.get(retryOf)?.status);
  const open = successors.filter(isOpen);
  const jobs = interned.filter((_, index) => isOpen(successors[index]!));
  const answers = await enqueueWithin(transaction, jobs, open);
  const done = open.map(({ retryOf }, index) => reprocessOutcome(retryOf, answers[index]!));
  const created = done.filter(({ status }) => status === "created");
  await reviewLetters(transaction, "reprocessed", created, { by, notes });
  await writeAudits(transaction, reprocessDrafts(created, rows, { by, reason: notes }));
  const outcomes = new Map(done.map((outcome) => [outcome.id, outcome]));
  return successors.map(
    ({ retryOf: id, id: own }) => outcomes.get(id) ?? closedOutcome(id, own, rows.get(id)),
  );
}

/** Jobs were repeated by their ids: the open ones of their letters are reprocessed by them. */
export async function closeRepeated(
  transaction: StoreTransaction,
  letters: ReadonlyMap<JobId, LockedLetter>,
  repeated: readonly { readonly id: JobId; readonly job: JobId }[],
  act: Act,
): Promise<void> {
  const open = repeated.filter(({ id }) => isOpenLetter(letters.get(id)?.status));
  if (open.length === 0) return;
  const by = { by: act.by ?? RETRIED_BY, notes: act.reason };
  await reviewLetters(transaction, "reprocessed", open, by);
  await writeAudits(transaction, reprocessDrafts(open, letters, act));
}

function reprocessDrafts(
  created: readonly { readonly id: JobId; readonly job: JobId | null }[],
  rows: ReadonlyMap<JobId, LockedLetter>,
  act: Act,
): AuditDraft[] {
  return created.flatMap(({ id, job: successor }) => {
    const row = rows.get(id);
    if (row === undefined || successor === null) return [];
    const before = deadLetterCodec.word(row.status);
    return [reprocessed({ id, tenant: row.tenant }, act, { before, successor })];
  });
}

/** After a lost answer, a letter with the successor of this call was closed by the first try. */
function closedOutcome(id: JobId, own: JobId, row: LockedLetter | undefined): ReprocessOutcome {
  const job = row?.successor ?? null;
  if (job === own) return { id, status: "created", job };
  return { id, status: job === null ? "closed" : "existing", job };
}

export async function discardMany(
  session: Session,
  ids: readonly JobId[],
  by: string,
  notes: string | null,
): Promise<number> {
  const asked = ids.slice(0, LETTER_CHUNK_MAX);
  const done = await session.transaction(
    (transaction) => reviewWithin(transaction, asked, "discarded", { by, notes }),
    { lockMs: LOCK_MS },
  );
  return done.filter(({ status }) => status === "reviewed").length;
}

/** Discards or acknowledges the open ones of these letters, within another transaction. */
export async function reviewWithin(
  transaction: StoreTransaction,
  ids: readonly JobId[],
  act: "discarded" | "acknowledged",
  by: { readonly by: string; readonly notes: string | null },
): Promise<readonly { readonly id: JobId; readonly status: ReviewAnswer["status"] }[]> {
  const rows = await lockLetters(transaction, ids);
  const isOpen = (id: JobId): boolean => isOpenLetter(rows.get(id)?.status);
  const open = ids.filter(isOpen).map((id) => ({ id, job: null }));
  await reviewLetters(transaction, act, open, by);
  const drafts = open.map(({ id }) => {
    const { status, tenant } = rows.get(id)!;
    const statuses = { before: deadLetterCodec.word(status), after: act };
    return reviewed({ id, tenant }, { by: by.by, reason: by.notes }, statuses);
  });
  await writeAudits(transaction, drafts);
  return ids.map((id) => ({
    id,
    status: isOpen(id) ? "reviewed" : rows.has(id) ? "closed" : "unknown",
  }));
}

async function reviewLetters(
  transaction: StoreTransaction,
  act: "reprocessed" | "discarded" | "acknowledged",
  closed: readonly { readonly id: JobId; readonly job: JobId | null }[],
  { by, notes }: { readonly by: string; readonly notes: string | null },
): Promise<void> {
  if (closed.length === 0) return;
  const letters = closed.map(({ id, job }) => ({
    id: uuidOf(id),
    successor: job === null ? null : uuidOf(job),
  }));
  await transaction.run("review_dead_letters", {
    letters: JSON.stringify(letters),
    status: deadLetterCodec.code[act],
    act,
    reviewed_by: by,
    notes,
  });
}
