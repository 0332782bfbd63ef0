/** `mill.limits`, over HTTP. */
import type { Limit, LimitRule, Limits, LimitTarget } from "../api/control/limits.ts";
import { limitTargetOf } from "../api/control/targets.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteLimits(calls: ServerCalls): Limits {
  return {
    async set(target, rule) {
      await calls.json(pathOf("limits.set", target), { method: "PUT", body: bodyOf(rule) });
    },
    async remove(target) {
      const path = pathOf("limits.remove", target);
      return (await calls.json<{ wasSet: boolean }>(path, { method: "DELETE" })).wasSet;
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
  const { key, tenant } = named;
  // A URL drops these parts of a path, and would name another route.
  if (key === "" || key === "." || key === "..") {
    const message = `${verb}: the key ${JSON.stringify(key)} cannot be named over HTTP`;
    throw new MillraceError("OPTION_INVALID", message, { hint: "Name the store with --db." });
  }
  const query = tenant === undefined ? "" : `?tenant=${encodeURIComponent(tenant)}`;
  return `/api/v1/limits/key/${encodeURIComponent(key)}${query}`;
}
