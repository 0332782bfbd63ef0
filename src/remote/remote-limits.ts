/** `mill.limits`, over HTTP. */
import type { Limit, LimitRule, Limits, LimitTarget } from "../api/control/limits.ts";
import { durationMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export function remoteLimits(calls: ServerCalls): Limits {
  return {
    async set(target, rule) {
      await calls.json(pathOf(target), { method: "PUT", body: bodyOf(rule) });
    },
    async remove(target) {
      return (await calls.json<{ wasSet: boolean }>(pathOf(target), { method: "DELETE" })).wasSet;
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

function pathOf(target: LimitTarget): string {
  if ("installation" in target) return "/api/v1/limits/installation/all";
  if ("key" in target) {
    const query = target.tenant === undefined ? "" : `?tenant=${encodeURIComponent(target.tenant)}`;
    return `/api/v1/limits/key/${encodeURIComponent(target.key)}${query}`;
  }
  const [[kind, name] = ["", ""]] = Object.entries(target);
  return `/api/v1/limits/${kind}/${encodeURIComponent(name)}`;
}
