/**
 * Jobs of two tenants, alike in everything but their texts: those of the other tenant bear
 * {@link CANARY}, which no answer to a mill of the first tenant may contain.
 */
import { causeOf } from "../../../src/core/failures/fingerprint.ts";
import type { Fault } from "../../../src/core/outcome.ts";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { TokenId } from "../../../src/store/types/tokens.ts";
import {
  completed,
  failedWith,
  fault,
  newJob,
  newOperation,
  newSchedule,
  newToken,
  retention,
} from "../factories.ts";
import { done, halfway, keep, running } from "../notes.ts";
import { add, settleAll, takeOne } from "../steps.ts";

const DAY_MS = 86_400_000;

export const CANARY = "CANARY";
export const OWN = "acme";
export const OTHER = `${CANARY}-umbra`;
export const TYPE = "audit";
/** What jobs of the other tenant are found by: a unit, keys, a tag, a correlation id. */
const MARK = `${CANARY}-mark`;
/** A unit that a job of each tenant works on. */
export const SHARED_UNIT = "pages/1";

/** The jobs of one tenant. */
export interface TenantIds {
  readonly failed: JobId;
  readonly completed: JobId;
  readonly running: JobId;
  readonly queued: JobId;
  readonly scheduled: JobId;
  readonly waiting: JobId;
  readonly cancelled: JobId;
}

export interface TenantScene {
  readonly own: TenantIds;
  readonly other: TenantIds;
  /** A job of the first tenant that waits for one of the other, as only a full mill makes it. */
  readonly linked: JobId;
  /** A token of the first tenant, and tokens that reach the other tenant. */
  readonly ownToken: TokenId;
  readonly otherTokens: readonly TokenId[];
}

/** What a call asks about: something of the other tenant, or something that does not exist. */
export interface Probe {
  readonly id: JobId;
  readonly tenant: string;
  /** A unit, a key, a tag. */
  readonly text: string;
}

export async function fillTenants(store: JobStore): Promise<TenantScene> {
  const own = await fillTenant(store, OWN, "own");
  const other = await fillTenant(store, OTHER, MARK);
  const [linked] = await add(
    store,
    jobOf(OWN, "linked", { after: [other.queued] }),
    jobOf(OTHER, MARK, { after: [own.queued] }),
  );
  await store.setLimit({ kind: "tenant", name: OTHER }, { concurrency: 99, rate: null }, CANARY);
  await store.setFairness("general", { [OTHER]: 77, [OWN]: 2 }, CANARY);
  await store.pause({ kind: "tenant", name: OTHER }, { reason: `${CANARY} is late`, by: CANARY });
  const decision = { kind: "acknowledged", by: CANARY, notes: CANARY } as const;
  await store.decideGroup(causeIn(OTHER), { tenant: OTHER }, decision);
  // Retention has removed the beginning of the chains.
  await store.sealAudit(100);
  await store.prune(retention({ auditMs: -2 * DAY_MS }), 100);
  await breakBank(store);
  const everywhere = { scope: "installation", name: "all" } as const;
  await store.setPayloadRule(everywhere, { softBytes: 10_000 }, { by: CANARY, reason: CANARY });
  const view = { name: "shared", screen: "jobs", query: "", by: CANARY };
  await store.saveView({ ...view, tenant: null });
  await store.saveView({ ...view, tenant: OWN, by: "own" });
  await store.saveView({ ...view, tenant: OTHER, name: MARK, query: CANARY });
  const closed = { kind: "tenant", name: `${CANARY}-closed` } as const;
  await store.closeIntake(closed, { reason: CANARY, by: CANARY });
  const mine = newToken({ tenant: OWN });
  const others = [OTHER, null].map((tenant) => newToken({ tenant, name: CANARY, actor: CANARY }));
  for (const token of [mine, ...others]) await store.createToken(token);
  const [ours, theirs] = [OWN, OTHER].map((tenant) => {
    const job = { tenant, createdBy: secretOf(tenant) };
    return newSchedule({ name: tenant === OTHER ? MARK : "ours", job });
  });
  // The entries of the schedules have no seal.
  await store.sealAudit(100);
  for (const schedule of [ours!, theirs!]) {
    await store.saveSchedule(schedule, { revision: null, by: schedule.name }, () => 1);
    const tick = { ticks: [], missed: { first: 1_000, last: 2_000 }, nextSlot: 8e12 };
    await store.tickSchedule(schedule.name, () => tick);
  }
  const why = { by: CANARY, reason: CANARY };
  const quota = { waiting: 10_000, rate: null, payloadBytes: null };
  await store.setQuota(OTHER, quota, why);
  await store.beginRemoval(OTHER, why);
  const otherTokens = others.map(({ id }) => id);
  return { own, other, linked, ownToken: mine.id, otherTokens };
}

/** Probes for each job of the other tenant, each with a probe for nothing that is as old. */
export function probesOf({ other }: TenantScene): readonly (readonly [Probe, Probe])[] {
  return Object.values(other).map((id: JobId) => [
    { id, tenant: OTHER, text: MARK },
    // Only the last letters differ: an error about an unknown id names the time of the id.
    { id: `${id.slice(0, -3)}000`, tenant: "absent", text: "nothing" },
  ]);
}

function faultOf(tenant: string): Fault {
  const secret = secretOf(tenant);
  return fault({ message: secret, name: secret });
}

/** The cause of the failure of a tenant. */
export function causeIn(tenant: string): string {
  return causeOf(faultOf(tenant));
}

async function fillTenant(store: JobStore, tenant: string, mark: string): Promise<TenantIds> {
  const tenants = [tenant];
  const secret = secretOf(tenant);
  const keys = {
    idempotency: { key: `${mark}-once`, onConflict: "return-existing" },
    dedup: { key: `${mark}-dedup`, onConflict: "skip" },
  } as const;
  const [failed] = await add(store, jobOf(tenant, mark, {}));
  const lost = await takeOne(store, { tenants });
  await keep(store, lost, { logs: [logLine(secret)] });
  await settleAll(store, lost, failedWith(faultOf(tenant)));
  const [ended] = await add(store, jobOf(tenant, mark, {}));
  const good = await takeOne(store, { tenants });
  await keep(store, good, {
    progress: halfway({ data: `"${secret}"` }),
    completed: { name: "fetch", result: `"${secret}"` },
    units: [done(mark, `"${secret}"`)],
  });
  await settleAll(store, good, completed(`"${secret}"`));
  const [busy] = await add(store, jobOf(tenant, mark, { concurrencyKey: `${mark}-key` }));
  const run = await takeOne(store, { tenants });
  const units = [running(mark), running(SHARED_UNIT)];
  await keep(store, run, { progress: halfway(), units, logs: [logLine(secret)] });
  const [queued, scheduled, cancelled] = await add(
    store,
    jobOf(tenant, mark, keys),
    jobOf(tenant, mark, { due: { delayMs: 86_400_000 } }),
    jobOf(tenant, mark, {}),
  );
  const [waiting] = await add(store, jobOf(tenant, mark, { after: [queued] }));
  await store.cancel(cancelled, secret, secret);
  await operate(store, failed, tenant, ended);
  return { failed, completed: ended, running: busy, queued, scheduled, waiting, cancelled };
}

/** An operation that has ended. Its id is that of a job, so that probes ask about it. */
async function operate(store: JobStore, id: JobId, tenant: string, job: JobId): Promise<void> {
  const secret = secretOf(tenant);
  const by = { id, tenant, actor: secret, reason: secret };
  await store.startOperation(newOperation({ action: "acknowledge", ids: [job] }, by));
  await store.claimOperations("audit");
  const items = [{ id: job, skip: "unknown" }];
  await store.applyChunk(id, { runner: "audit", from: "", to: null, items, idempotencyMs: 0 });
}

/** A service fails for jobs of the other tenant, and has asked this tenant for a pause. */
async function breakBank(store: JobStore): Promise<void> {
  const limits = { failuresMax: 1, openMs: 60_000 };
  const run = { key: 1, n: 1 };
  const reason = `${CANARY} was refused`;
  const call = { outcome: "failed", service: "bank", run, reason, limits, tenant: OTHER } as const;
  const park = { forMs: 60_000, tenant: OTHER };
  await store.reportCalls([call, { ...call, park }]);
  await store.openBreaker("bank", { reason, by: CANARY });
}

function secretOf(tenant: string): string {
  return tenant === OTHER ? `${CANARY}-secret` : "no secret";
}

function jobOf(tenant: string, mark: string, overrides: Partial<NewJob>): NewJob {
  return newJob({
    tenant,
    type: TYPE,
    payload: `{"secret":"${secretOf(tenant)}"}`,
    tags: { customer: mark },
    correlationId: mark,
    createdBy: secretOf(tenant),
    category: mark,
    ...overrides,
  });
}

function logLine(message: string) {
  return { turn: 1, at: 1_700_000_000_000, level: "warn", message, fields: null } as const;
}
