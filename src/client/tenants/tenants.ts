/** `mill.tenants`. */
import type {
  TenantAct,
  QuotaRule,
  QuotaUsed,
  TenantDetails,
  TenantQuota,
  TenantRemoval,
  Tenants,
  TenantView,
} from "../../api/control/tenants.ts";
import { aName, anObject, aWholeNumber, isDuration, must } from "../../api/rules.ts";
import { LIMIT_BOUNDS } from "../../api/control/limit-rule.ts";
import type { Clock } from "../../core/clock.ts";
import type { Quota } from "../../core/control/quotas.ts";
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkRemark, insistOn } from "../../jobs/check-text.ts";
import { removeTenant } from "../../jobs/tenant-removal.ts";
import type { JobStore } from "../../store/store.ts";
import type { FairLaneRecord } from "../../store/types/fairness.ts";
import type { LimitRecord } from "../../store/types/limits.ts";
import type { IntakeRecord } from "../../store/types/jobs-and-runs.ts";
import type { QuotaRecord, Remark } from "../../store/types/quotas.ts";
import type { Gate, GroupedStats } from "../../store/types/records.ts";
import type { RemovalRecord } from "../../store/types/tenants.ts";
import { exportTenant } from "./export.ts";

/** Tenants of one page. */
const PAGE = { default: 100, max: 1_000 } as const;
/** Jobs of each place, and groups of them, that the counts read. */
const ROWS_MAX = 100_000;
const GROUPS_MAX = 10_000;
/** Every tenant without a quota of its own. */
const ANY = "*";

const WITHIN = "tenants.remove: within";

const aCount = aWholeNumber(LIMIT_BOUNDS);
const QUOTA = anObject(
  {
    required: {},
    optional: {
      waiting: aWholeNumber({ ...LIMIT_BOUNDS, min: 0 }),
      payloadBytes: aCount,
      rate: anObject(
        {
          required: {
            limit: aCount,
            per: must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "1m"'),
          },
          optional: { burst: aCount },
        },
        'an object such as { limit: 100, per: "1m" }',
      ),
    },
  },
  "an object such as { waiting: 10000 }",
);

export function makeTenants(store: JobStore, clock: Clock): Tenants {
  return {
    async list({ after, limit = PAGE.default } = {}) {
      insistOn("tenants.list", aWholeNumber({ min: 1, max: PAGE.max }), limit, "limit");
      const page = { limit: limit + 1, ...(after !== undefined && { after }) };
      const names = await store.tenantNames(page);
      const settings = await settingsOf(store);
      const stats = await store.groupedStats({ rows: ROWS_MAX, groups: GROUPS_MAX });
      const shown = names.slice(0, limit);
      const next = names.length > limit ? (shown.at(-1) ?? null) : null;
      return { tenants: shown.map((name) => viewOf(name, settings, stats)), next };
    },
    get: (tenant) => detailsOf(store, tenant),
    async quotas() {
      return (await store.quotas()).map(quotaView);
    },
    async setQuota(tenant, quota, by) {
      const why = remarkOf("tenants.setQuota", by);
      await store.setQuota(quotaTenant("tenants.setQuota", tenant), quotaOf(quota), why);
    },
    async removeQuota(tenant, by) {
      const why = remarkOf("tenants.removeQuota", by);
      const of = quotaTenant("tenants.removeQuota", tenant);
      return { wasSet: await store.removeQuota(of, why) };
    },
    export(tenant) {
      insistOn("tenants.export", aName, tenant, "tenant");
      return exportTenant(store, clock, tenant);
    },
    async remove(tenant, { confirm, grace = "1m", within, ...by }) {
      insistOn("tenants.remove", aName, tenant, "tenant");
      const why = remarkOf("tenants.remove", by);
      const graceMs = durationMs(grace, "tenants.remove: grace");
      const withinMs = within === undefined ? Infinity : durationMs(within, WITHIN);
      if (confirm !== tenant) throw unconfirmed(tenant);
      const times = { graceMs, withinMs };
      const rows = (await removeTenant({ store, clock }, tenant, { ...why, ...times })) ?? {};
      const done = await store.removal(tenant);
      if (done === null) throw new Error("the store has no removal of the tenant");
      return { ...removalView(done), rows };
    },
  };
}

function remarkOf(verb: string, { actor, reason }: TenantAct): Remark {
  checkRemark(verb, "actor", actor);
  checkRemark(verb, "reason", reason);
  return { by: actor, reason };
}

function quotaTenant(verb: string, tenant: string): string | null {
  insistOn(verb, aName, tenant, "tenant");
  return tenant === ANY ? null : tenant;
}

function quotaOf(rule: QuotaRule): Quota {
  insistOn("tenants.setQuota", QUOTA, rule, "");
  const { waiting = null, rate, payloadBytes = null } = rule;
  if (waiting === null && rate === undefined && payloadBytes === null) {
    throw new MillraceError(
      "OPTION_INVALID",
      "tenants.setQuota: name waiting, rate, payloadBytes or several of them",
      { hint: "To refuse all jobs of a tenant, use mill.intake.close." },
    );
  }
  if (rate === undefined) return { waiting, rate: null, payloadBytes };
  const { limit: count, per, burst = rate.limit } = rate;
  return { waiting, rate: { count, perMs: durationMs(per, "per"), burst }, payloadBytes };
}

function unconfirmed(tenant: string): MillraceError {
  const name = JSON.stringify(tenant);
  const message = `tenants.remove: confirm must be the name of the tenant, ${name}`;
  return new MillraceError("OPTION_INVALID", message, { details: { option: "confirm" } });
}

/** What operators have set about tenants. */
interface Settings {
  readonly gates: readonly Gate[];
  readonly intakes: readonly IntakeRecord[];
  readonly quotas: readonly QuotaRecord[];
  readonly limits: readonly LimitRecord[];
  readonly lanes: readonly FairLaneRecord[];
}

async function settingsOf(store: JobStore): Promise<Settings> {
  const [gates, intakes, quotas, limits, lanes] = await Promise.all([
    store.gates(),
    store.intakes(),
    store.quotas(),
    store.limits(),
    store.fairLanes(),
  ]);
  return { gates, intakes, quotas, limits, lanes };
}

async function detailsOf(store: JobStore, tenant: string): Promise<TenantDetails> {
  insistOn("tenants.get", aName, tenant, "tenant");
  const limits = { rows: ROWS_MAX, groups: GROUPS_MAX };
  const stats = await store.groupedStats(limits, tenant);
  const use = await store.quotaUse(tenant);
  const removal = await store.removal(tenant);
  const quota: QuotaUsed | null =
    use === null ? null : { ...quotaView(use.record), waitingNow: use.waiting, tokens: use.tokens };
  const view = viewOf(tenant, await settingsOf(store), stats);
  return { ...view, quota, removal: removal === null ? null : removalView(removal) };
}

function viewOf(tenant: string, settings: Settings, stats: GroupedStats): TenantView {
  const isOwn = ({ kind, name }: { readonly kind: string; readonly name: string }): boolean =>
    kind === "tenant" && name === tenant;
  const gate = settings.gates.find(isOwn);
  const intake = settings.intakes.find(isOwn);
  const limit = settings.limits.find(isOwn);
  const quota =
    settings.quotas.find((each) => each.tenant === tenant) ??
    settings.quotas.find((each) => each.tenant === null);
  return {
    tenant,
    ...countsOf(tenant, stats),
    pause:
      gate === undefined
        ? null
        : { reason: gate.reason, pausedBy: gate.by, pausedAt: new Date(gate.closedAt) },
    intake: intake === undefined ? null : intakeView(intake),
    quota: quota === undefined ? null : quotaView(quota),
    limit:
      limit === undefined
        ? null
        : {
            concurrency: limit.concurrency,
            rate: limit.rate === null ? null : rateView(limit.rate),
          },
    weights: Object.fromEntries(
      settings.lanes.map(({ lane, weights }) => [lane, weights[tenant] ?? 1]),
    ),
  };
}

function countsOf(
  tenant: string,
  { groups, cutShort, hasMore }: GroupedStats,
): Pick<TenantView, "counts" | "atLeast"> {
  const counts = { scheduled: 0, queued: 0, held: 0, running: 0, failed: 0 };
  const names = ["scheduled", "queued", "held", "running", "failed"] as const;
  for (const group of groups.filter((each) => each.tenant === tenant)) {
    for (const name of names) counts[name] += group[name];
  }
  return { counts, atLeast: hasMore ? names : cutShort };
}

function rateView(rate: {
  readonly count: number;
  readonly perMs: number;
  readonly burst: number;
}): {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
} {
  return { limit: rate.count, perMs: rate.perMs, burst: rate.burst };
}

function quotaView(record: QuotaRecord): TenantQuota {
  const { tenant, waiting, rate, payloadBytes, reason, by, setAt } = record;
  return {
    tenant: tenant ?? ANY,
    waiting,
    rate: rate === null ? null : rateView(rate),
    payloadBytes,
    reason,
    setBy: by,
    setAt: new Date(setAt),
  };
}

function intakeView({ kind, name, reason, by, closedAt }: IntakeRecord): TenantView["intake"] {
  return { kind, name, reason, closedBy: by, closedAt: new Date(closedAt) };
}

function removalView({ reason, by, begunAt, doneAt, removed }: RemovalRecord): TenantRemoval {
  return {
    reason,
    begunBy: by,
    begunAt: new Date(begunAt),
    doneAt: doneAt === null ? null : new Date(doneAt),
    removed,
  };
}
