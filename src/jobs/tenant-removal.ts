/**
 * Removals of tenants: `mill.tenants.remove`, and the duty that continues them. The row of a
 * removal says who has asked for it; everything else follows from the rows that are left, so that
 * any process continues a removal where the rows say, also several at the same time.
 */
import { wait, type Clock } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import type { JobStore } from "../store/store.ts";
import type { IntakeRecord, JobKey } from "../store/types/jobs-and-runs.ts";
import type { Remark } from "../store/types/quotas.ts";
import { REMOVAL_STEP_MAX, type RemovalRecord, type TenantRows } from "../store/types/tenants.ts";

/** Jobs of one page that are cancelled. */
const PAGE = 100;
/** The time between two looks at jobs that cannot be removed yet. */
const LOOK_MS = 200;

interface RemovalParts {
  readonly store: JobStore;
  readonly clock: Clock;
}

/** Null: the time is over, and the next call continues. */
export async function removeTenant(
  { store, clock }: RemovalParts,
  tenant: string,
  { graceMs, withinMs, ...why }: Remark & { readonly graceMs: number; readonly withinMs: number },
): Promise<TenantRows | null> {
  const since = clock.monotonic();
  const isOver = (): boolean => clock.monotonic() - since >= withinMs;
  await begin(store, tenant, why);
  await cancelAll(store, tenant, why, isOver);
  let movedAt = clock.monotonic();
  do {
    const step = await store.removeOfTenant(tenant, REMOVAL_STEP_MAX);
    if (step.status === "done") return step.rows;
    if (!step.isBlocked) {
      movedAt = clock.monotonic();
      continue;
    }
    if (clock.monotonic() - movedAt >= graceMs) throw await busy(store, tenant, graceMs);
    await wait(clock, LOOK_MS);
    // A run that is being cancelled may have enqueued children.
    await cancelAll(store, tenant, why, isOver);
  } while (!isOver());
  return null;
}

/**
 * Continues a removal that another process has begun, for as long as rows can be deleted. Answers
 * whether there is more to delete at once.
 */
export async function continueRemoval(
  { store, clock }: RemovalParts,
  { tenant, by, reason }: RemovalRecord,
  withinMs: number,
): Promise<boolean> {
  const since = clock.monotonic();
  const isOver = (): boolean => clock.monotonic() - since >= withinMs;
  await cancelAll(store, tenant, { by, reason }, isOver);
  do {
    const step = await store.removeOfTenant(tenant, REMOVAL_STEP_MAX);
    if (step.status === "done" || step.isBlocked) return false;
  } while (!isOver());
  return true;
}

/**
 * The intake is closed first: a process that dies in between leaves no removal that goes on behind
 * an open intake. A call that only continues leaves no further entries in the audit.
 */
async function begin(store: JobStore, tenant: string, why: Remark): Promise<void> {
  const known = await store.removal(tenant);
  const isOpen = known !== null && known.doneAt === null;
  const isOwn = ({ kind, name }: IntakeRecord): boolean => kind === "tenant" && name === tenant;
  if (!isOpen || !(await store.intakes()).some(isOwn)) {
    await store.closeIntake({ kind: "tenant", name: tenant }, why);
  }
  if (!isOpen || known.by !== why.by || known.reason !== why.reason) {
    await store.beginRemoval(tenant, why);
  }
}

/**
 * Waiting jobs are cancelled at once, running ones are asked to stop. A job that was listed before
 * the removal was found to be under way is not one of a tenant that has come back.
 */
async function cancelAll(
  store: JobStore,
  tenant: string,
  { by, reason }: Remark,
  isOver: () => boolean,
): Promise<void> {
  for (let after: JobKey | undefined; !isOver();) {
    const filter = { tenant, states: ["scheduled", "queued", "running"] } as const;
    const { jobs, next } = await store.list(filter, { limit: PAGE, ...(after && { after }) });
    if ((await store.removal(tenant))?.doneAt !== null) return;
    for (const { id, cancelRequested } of jobs) {
      if (!cancelRequested) await store.cancel(id, by, reason);
    }
    if (next === null) return;
    after = next;
  }
}

async function busy(store: JobStore, tenant: string, graceMs: number): Promise<MillraceError> {
  const { count: left } = await store.count({ tenant }, REMOVAL_STEP_MAX);
  const message =
    `${left === REMOVAL_STEP_MAX ? "at least " : ""}${left} jobs of the tenant ` +
    `${JSON.stringify(tenant)} cannot be removed after ${graceMs} ms: they run, or jobs of other ` +
    "tenants need them";
  return new MillraceError("TENANT_BUSY", message, { details: { tenant, left } });
}
