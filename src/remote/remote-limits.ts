/** `mill.limits`, over HTTP. */
import type { Limit, LimitRule, Limits, LimitTarget } from "../api/control/limits.ts";
import { limitTargetOf } from "../api/control/targets.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { withDates } from "./dates.ts";
import { reasonOf } from "./reason.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteLimits(calls: ServerCalls): Limits {
  return {
    async set(target, rule, by) {
      const path = pathOf("limits.set", target);
      const body = { ...bodyOf(rule), reason: reasonOf(by?.reason, "--reason") };
      await calls.json(path, { method: "PUT", ...tenantOf(target), body });
    },
    async remove(target, by) {
      const path = pathOf("limits.remove", target);
      const why = { ...tenantOf(target).query, reason: reasonOf(by?.reason, "--reason") };
      const call = { method: "DELETE", query: why } as const;
      return (await calls.json<{ wasSet: boolean }>(path, call)).wasSet;
    },
    async list() {
      return withDates((await calls.json<{ limits: Limit[] }>("/api/v1/limits")).limits);
    },
  };
}

function bodyOf({ rate, ...rule }: LimitRule): object {
  if (rate === undefined) return rule;
  const { per, ...counts } = rate;
  return { ...rule, rate: { ...counts, perMs: durationMs(per, "per") } };
}

function pathOf(verb: string, target: LimitTarget): string {
  const named = limitTargetOf(verb, target);
  if ("kind" in named) return `/api/v1/limits/${named.kind}/${encodeURIComponent(named.name)}`;
  const { key } = named;
  // A URL drops these parts of a path, and would name another route.
  if (key === "" || key === "." || key === "..") {
    const message = `${verb}: the key ${JSON.stringify(key)} cannot be named over HTTP`;
    throw new MillraceError("OPTION_INVALID", message, { hint: "Name the store with --db." });
  }
  return `/api/v1/limits/key/${encodeURIComponent(key)}`;
}

/** The tenant of a concurrency key. */
function tenantOf(target: LimitTarget): { readonly query: { readonly tenant?: string } } {
  return { query: "key" in target && target.tenant !== undefined ? { tenant: target.tenant } : {} };
}
