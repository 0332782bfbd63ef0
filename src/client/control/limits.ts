/** `mill.limits`. */
import type { QueuedCount } from "../../api/client.ts";
import type { Limit, LimitRule, Limits, LimitTarget } from "../../api/control/limits.ts";
import { aName, anObject, aWholeNumber, isDuration, must } from "../../api/rules.ts";
import { LIMIT_BOUNDS } from "../../api/settings.ts";
import { durationMs } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkRemark, insistOn } from "../../jobs/check-text.ts";
import type { JobStore } from "../../store/store.ts";
import { checkTarget } from "../pauses.ts";
import type { LimitName, LimitRecord, StoredRule } from "../../store/types/limits.ts";

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

export function makeLimits(store: JobStore): Limits {
  return {
    async set(target, rule, by) {
      if (by !== undefined) checkRemark("limits.set", "actor", by.actor);
      await store.setLimit(nameOf("limits.set", target), ruleOf(rule), by?.actor ?? null);
    },
    remove: async (target) => store.removeLimit(nameOf("limits.remove", target)),
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

/** A target must name exactly one of type, tenant and installation. */
function nameOf(verb: string, target: LimitTarget): LimitName {
  checkTarget(verb, target);
  const [entry, ...more] = Object.entries(target);
  const [kind, name] = entry ?? [];
  if (more.length === 0 && kind === "installation" && name === true) return { kind, name: "all" };
  if (more.length === 0 && (kind === "type" || kind === "tenant") && typeof name === "string") {
    insistOn(verb, aName, name, kind);
    return { kind, name };
  }
  throw new MillraceError(
    "OPTION_INVALID",
    `${verb}: name one of { type }, { tenant } or { installation: true }, such as ` +
      '{ type: "email" }',
  );
}

async function queuedOf(
  store: JobStore,
  { kind, name }: LimitRecord,
  rows: number,
): Promise<QueuedCount> {
  if (kind === "installation") {
    const { queued, cutShort } = await store.stats(rows);
    return { queued, atLeast: cutShort.includes("queued") };
  }
  const { jobs, shared, isExact } = await store.countBehind({ kind, name }, rows);
  return { queued: jobs + shared, atLeast: !isExact };
}

function viewOf(limit: LimitRecord, queued: QueuedCount): Limit {
  const { kind, name, concurrency, rate, used, nextTokenMs, owner, by, setAt } = limit;
  return {
    kind,
    name,
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
