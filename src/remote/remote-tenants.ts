/** `mill.tenants` of a server. An export and a removal need the store. */
import type { QuotaRule, TenantDetails, Tenants, TenantView } from "../api/control/tenants.ts";
import { durationMs } from "../core/duration.ts";
import { withDates } from "./dates.ts";
import type { ServerCalls } from "./server-calls.ts";

export type RemoteTenants = Pick<Tenants, "list" | "get" | "setQuota" | "removeQuota">;

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
  };
}

function pathOf(tenant: string): string {
  return `/api/v1/tenants/${encodeURIComponent(tenant)}`;
}

function bodyOf({ rate, ...rest }: QuotaRule): object {
  if (rate === undefined) return rest;
  const { per, ...others } = rate;
  return { ...rest, rate: { ...others, perMs: durationMs(per, "per") } };
}
