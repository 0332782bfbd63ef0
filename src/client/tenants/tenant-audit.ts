/** The audit as one tenant sees it: its own entries, and its own chain. */
import type { AuditStore } from "../../store/roles/audit.ts";
import { entryForTenant } from "./tenant-remarks.ts";
import { concernsAll, ownAmong, type TenantScope } from "./tenant-scope.ts";

type Rules = {
  readonly [Name in keyof AuditStore]: (scope: TenantScope) => AuditStore[Name];
};

export const AUDIT_RULES: Rules = {
  requestReprocess: (scope) => async (requests, act) => {
    const own = await ownAmong(
      scope,
      requests.map(({ id }) => id),
    );
    const mine = requests.filter(({ id }) => own.has(id));
    return mine.length === 0 ? 0 : scope.store.requestReprocess(mine, act);
  },
  audits:
    ({ store, tenant }) =>
    async (query, page) =>
      query.tenant === undefined || query.tenant === tenant
        ? (await store.audits({ ...query, tenant }, page)).map(entryForTenant)
        : [],
  auditSeals:
    ({ store, tenant }) =>
    async (asked, page) =>
      asked.tenant === undefined || asked.tenant === tenant
        ? store.auditSeals({ tenant }, page)
        : [],
  chainStart: (scope) => async (tenant) =>
    tenant === scope.tenant ? scope.store.chainStart(tenant) : null,
  newestSealed:
    ({ store, tenant }) =>
    () =>
      store.newestSealed({ tenant }),
  unsealedAudits:
    ({ store, tenant }) =>
    async (asked, page) =>
      asked.tenant === undefined || asked.tenant === tenant
        ? store.unsealedAudits({ tenant }, page)
        : { entries: [], next: null },
  // Chains of all tenants.
  sealAudit:
    ({ tenant }) =>
    () =>
      Promise.reject(concernsAll("sealAudit", tenant)),
};
