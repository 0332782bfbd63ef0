/** `mill.limits`. */
import type { QueuedCount } from "../../api/client.ts";
import type { Limit, LimitRule, Limits, LimitTarget } from "../../api/control/limits.ts";
import { aName, anObject, aWholeNumber, isDuration, must } from "../../api/rules.ts";
import { LIMIT_BOUNDS } from "../../api/settings.ts";
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkRemark, insistOn } from "../../jobs/check-text.ts";
import { aKey } from "../../jobs/enqueue-options.ts";
import type { JobStore } from "../../store/store.ts";
import { checkTarget } from "../pauses.ts";
import {
  KEY_WAITING_MAX,
  type LimitName,
  type LimitRecord,
  type StoredRule,
} from "../../store/types/limits.ts";

/** The rows of each place that `list` reads to count jobs, over all limits. */
const QUEUED_MAX = 100_000;

const aCount = aWholeNumber(LIMIT_BOUNDS);
const RULE = anObject(
  {
    required: {},
    optional: {
      concurrency: aCount,
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
  "an object such as { concurrency: 5 }",
);

/** `tenant` is that of keys without one. */
export function makeLimits(store: JobStore, tenant: string): Limits {
  return {
    async set(target, rule, by) {
      if (by !== undefined) checkRemark("limits.set", "actor", by.actor);
      const limit = nameOf("limits.set", target, tenant);
      const stored = ruleOf(rule);
      if (limit.kind === "key" && stored.concurrency !== null) throw onlyRate();
      await store.setLimit(limit, stored, by?.actor ?? null);
    },
    remove: async (target) => store.removeLimit(nameOf("limits.remove", target, tenant)),
    async list() {
      const found = await store.limits();
      const rows = Math.ceil(QUEUED_MAX / Math.max(1, found.length));
      const limits: Limit[] = [];
      for (const limit of found) limits.push(viewOf(limit, await queuedOf(store, limit, rows)));
      return limits;
    },
  };
}

function ruleOf(rule: LimitRule): StoredRule {
  insistOn("limits.set", RULE, rule, "");
  const { concurrency = null, rate } = rule;
  if (concurrency === null && rate === undefined) {
    throw new MillraceError(
      "OPTION_INVALID",
      "limits.set: name concurrency, rate or both, such as { concurrency: 5 }",
      { hint: "To start no job at all, use mill.pause." },
    );
  }
  if (rate === undefined) return { concurrency, rate: null };
  const { limit: count, per, burst = rate.limit } = rate;
  return { concurrency, rate: { count, perMs: durationMs(per, "per"), burst } };
}

function onlyRate(): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    "limits.set: a key takes a rate and no concurrency: one job of a key runs at a time",
    { hint: 'For example: { rate: { limit: 10, per: "1m" } }' },
  );
}

/** A target must name exactly one of type, tenant, service, installation and key. */
function nameOf(verb: string, target: LimitTarget, ownTenant: string): LimitName {
  checkTarget(verb, target);
  if ("key" in target) return keyOf(verb, { tenant: ownTenant, ...target });
  const [entry, ...more] = Object.entries(target);
  const [kind, name] = entry ?? [];
  if (more.length === 0 && kind === "installation" && name === true) return { kind, name: "all" };
  const isNamed = kind === "type" || kind === "tenant" || kind === "service";
  if (more.length === 0 && isNamed && typeof name === "string") {
    insistOn(verb, aName, name, kind);
    return { kind, name };
  }
  throw new MillraceError(
    "OPTION_INVALID",
    `${verb}: name one of { type }, { tenant }, { service }, { key } or ` +
      '{ installation: true }, such as { type: "email" }',
  );
}

function keyOf(verb: string, target: { key: string; tenant: string }): LimitName {
  const { key, tenant, ...others } = target;
  insistOn(verb, aKey, key, "key");
  insistOn(verb, aName, tenant, "tenant");
  const [other] = Object.keys(others);
  if (other === undefined) return { kind: "key", name: key, tenant };
  throw new MillraceError("OPTION_INVALID", `${verb}: name { key, tenant } without ${other}`);
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
