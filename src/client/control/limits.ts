/** `mill.limits`. */
import { actOf } from "../../jobs/acted-by.ts";
import type { QueuedCount } from "../../api/client.ts";
import { aLimit } from "../../api/control/limit-rule.ts";
import type { Limit, Limits, LimitTarget } from "../../api/control/limits.ts";
import { limitTargetOf } from "../../api/control/targets.ts";
import { MillraceError } from "../../core/errors.ts";
import { insistOn } from "../../jobs/check-text.ts";
import { aKey } from "../../jobs/enqueue-options.ts";
import { storedRule } from "../../jobs/limit-rule.ts";
import type { JobStore } from "../../store/store.ts";
import { KEY_WAITING_MAX, type LimitName, type LimitRecord } from "../../store/types/limits.ts";

/** The rows of each place that `list` reads to count jobs, over all limits. */
const QUEUED_MAX = 100_000;

/** `tenant` is that of keys without one. */
export function makeLimits(store: JobStore, tenant: string): Limits {
  return {
    async set(target, rule, by) {
      const act = actOf("limits.set", by);
      const limit = nameOf("limits.set", target, tenant);
      insistOn("limits.set", aLimit, rule, "");
      const stored = storedRule(rule);
      if (limit.kind === "key" && stored.concurrency !== null) throw onlyRate();
      await store.setLimit(limit, stored, act.by, act.reason);
    },
    async remove(target, by) {
      const act = actOf("limits.remove", by);
      return store.removeLimit(nameOf("limits.remove", target, tenant), act);
    },
    async list() {
      const found = await store.limits();
      const rows = Math.ceil(QUEUED_MAX / Math.max(1, found.length));
      const limits: Limit[] = [];
      for (const limit of found) limits.push(viewOf(limit, await queuedOf(store, limit, rows)));
      return limits;
    },
  };
}

function onlyRate(): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    "limits.set: a key takes a rate and no concurrency: one job of a key runs at a time",
    { hint: 'For example: { rate: { limit: 10, per: "1m" } }' },
  );
}

function nameOf(verb: string, target: LimitTarget, ownTenant: string): LimitName {
  const named = limitTargetOf(verb, target);
  if ("kind" in named) return named;
  const { key: name, tenant = ownTenant } = named;
  insistOn(verb, aKey, name, "key");
  return { kind: "key", name, tenant };
}

async function queuedOf(
  store: JobStore,
  { kind, name, waiting }: LimitRecord,
  rows: number,
): Promise<QueuedCount> {
  if (kind === "key") return { queued: waiting ?? 0, atLeast: waiting === KEY_WAITING_MAX };
  if (kind === "installation") {
    const { queued, cutShort } = await store.stats(rows);
    return { queued, atLeast: cutShort.includes("queued") };
  }
  const { jobs, shared, isExact } = await store.countBehind({ kind, name }, rows);
  return { queued: jobs + shared, atLeast: !isExact };
}

function viewOf(limit: LimitRecord, queued: QueuedCount): Limit {
  const { kind, name, tenant = null, concurrency, rate, used } = limit;
  const { nextTokenMs, owner, by, setAt } = limit;
  return {
    kind,
    name,
    tenant,
    concurrency,
    rate: rate === null ? null : { limit: rate.count, perMs: rate.perMs, burst: rate.burst },
    used,
    nextStartMs: nextTokenMs,
    owner,
    setBy: by,
    setAt: new Date(setAt),
    ...queued,
  };
}
