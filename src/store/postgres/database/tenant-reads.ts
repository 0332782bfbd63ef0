/**
 * The second line of tenants: reads that a caller makes for one tenant run as a role that row level
 * security limits to that tenant. Role and tenant are set within each transaction, so that a pooler
 * can give the connection to another client afterwards.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Session } from "./session.ts";

const ROLE = "millrace_tenant";
/** No tenant has this number: a name that the store does not know sees no row. */
const UNKNOWN = "-1";

const tenants = new AsyncLocalStorage<string | null>();

/** The number of the tenant for which the present call reads; null: it reads for all. */
export function readingFor(): string | null {
  return tenants.getStore() ?? null;
}

export function readsForTenant(): boolean {
  return readingFor() !== null;
}

/** Limits the rest of a transaction to the rows of a tenant. A number needs no quotes. */
export function asTenant(tenant: string): string {
  return `SET LOCAL millrace_reads.tenant = '${tenant}'; SET LOCAL ROLE ${ROLE}`;
}

/** Whether row level security can limit reads to a tenant here. */
export async function hasTenantReads({ read, schema }: Session): Promise<boolean> {
  const row = await read.get("second_line", { schema });
  return row?.active === true;
}

/** Runs `read` for a tenant, whose number may be unknown. */
export function readAs<Answer>(
  tenant: number | undefined,
  read: () => Promise<Answer>,
): Promise<Answer> {
  return tenants.run(tenant === undefined ? UNKNOWN : String(tenant), read);
}

/** Runs a read inside {@link readAs} for all tenants, such as one of gates. */
export function readForAll<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  return tenants.run(null, read);
}
