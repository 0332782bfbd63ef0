/** `mill.tenants` of a server. */
import type {
  QuotaRule,
  TenantDetails,
  TenantLine,
  TenantRemoved,
  Tenants,
  TenantView,
} from "../api/control/tenants.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { systemClock } from "../lib/system.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export type RemoteTenants = Omit<Tenants, "quotas">;

export function remoteTenants(calls: ServerCalls): RemoteTenants {
  return {
    async list({ after, limit } = {}) {
      const query = new URLSearchParams();
      if (after !== undefined) query.set("after", after);
      if (limit !== undefined) query.set("limit", String(limit));
      type Answer = { readonly tenants: TenantView[]; readonly next: string | null };
      const { tenants, next } = await calls.json<Answer>(`/api/v1/tenants?${query.toString()}`);
      return { tenants: withDates(tenants), next };
    },
    async get(tenant) {
      const details = await calls.json<TenantDetails>(pathOf(tenant));
      return withDates(details);
    },
    async setQuota(tenant, quota, { reason }) {
      const body = { ...bodyOf(quota), reason };
      await calls.json(`${pathOf(tenant)}/quota`, { method: "PUT", body });
    },
    removeQuota: (tenant, { reason }) => {
      const query = new URLSearchParams({ reason }).toString();
      return calls.json(`${pathOf(tenant)}/quota?${query}`, { method: "DELETE" });
    },
    async *export(tenant) {
      for await (const line of calls.lines(`${pathOf(tenant)}/export`)) {
        const parsed: TenantLine = JSON.parse(line);
        yield parsed;
      }
    },
    remove: (tenant, options) => removeAll(calls, tenant, options),
  };
}

/** Each request works for a few seconds, so requests are repeated until the removal has ended. */
async function removeAll(
  calls: ServerCalls,
  tenant: string,
  { reason, confirm, grace = "1m", within }: Parameters<Tenants["remove"]>[1],
): Promise<TenantRemoved> {
  const graceMs = durationMs(grace, "grace");
  const withinMs = within === undefined ? Infinity : durationMs(within, "within");
  const since = systemClock.monotonic();
  for (let [count, movedAt] = [-1, since]; ;) {
    const body = { reason, confirm };
    const path = `${pathOf(tenant)}/removal`;
    const answer = await calls.json<TenantRemoved>(path, { method: "POST", body });
    const now = systemClock.monotonic();
    if (answer.doneAt !== null || now - since >= withinMs) return withDates(answer);
    if (answer.removed !== count) [count, movedAt] = [answer.removed, now];
    if (now - movedAt >= graceMs) {
      const message = `jobs of the tenant ${JSON.stringify(tenant)} cannot be removed yet`;
      throw new MillraceError("TENANT_BUSY", message, { details: { tenant } });
    }
  }
}

function pathOf(tenant: string): string {
  return `/api/v1/tenants/${encodeURIComponent(tenant)}`;
}

function bodyOf({ rate, ...rest }: QuotaRule): object {
  if (rate === undefined) return rest;
  const { per, ...others } = rate;
  return { ...rest, rate: { ...others, perMs: durationMs(per, "per") } };
}
