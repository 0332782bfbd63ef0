/** The tenant that a mill is limited to, and what the rules of its store have in common. */
import { MillraceError } from "../../core/errors.ts";
import type { JobId } from "../../core/job.ts";
import type { JobStore } from "../../store/store.ts";

/** The ids whose tenants one statement reads. */
const IDS_PER_READ = 5_000;

export interface TenantScope {
  /** The store of all tenants. */
  readonly store: JobStore;
  readonly tenant: string;
}

/** The ids of jobs and dead letters of the tenant, in the order given. */
export async function ownAmong(
  { store, tenant }: TenantScope,
  ids: readonly JobId[],
): Promise<ReadonlySet<JobId>> {
  const own = new Set<JobId>();
  for (let from = 0; from < ids.length; from += IDS_PER_READ) {
    const part = ids.slice(from, from + IDS_PER_READ);
    const tenants = await store.tenantsOf(part);
    part.forEach((id, index) => {
      if (tenants[index] === tenant) own.add(id);
    });
  }
  return own;
}

/** The error for a call that concerns all tenants. */
export function concernsAll(call: string, tenant: string): MillraceError {
  return forbiddenTenant(tenant, `${call} concerns all tenants`);
}

export function forbiddenTenant(tenant: string, why: string): MillraceError {
  const message = `${why}, and this mill is limited to the tenant ${JSON.stringify(tenant)}`;
  return new MillraceError("FORBIDDEN_TENANT", message, { details: { tenant } });
}
