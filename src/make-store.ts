/** Makes the store for an address. Its module is loaded on demand. */
import type { DatabaseAddress } from "./client/database-url.ts";
import type { JobStore } from "./store/store.ts";

/** `create: false`: opening refuses a schema of PostgreSQL that has no store. */
export async function makeStore(
  address: DatabaseAddress,
  ports: { readonly create?: boolean } = {},
): Promise<JobStore> {
  const store = await storeOf(address, ports);
  const failpoints = process.env["MILLRACE_FAILPOINTS"] ?? "";
  if (failpoints.trim() === "") return store;
  const { withFailpoints } = await import("./store/failpoints.ts");
  return withFailpoints(store, failpoints);
}

async function storeOf(
  address: DatabaseAddress,
  ports: { readonly create?: boolean },
): Promise<JobStore> {
  if (address.kind === "sqlite") {
    const { makeSqliteStore } = await import("./store/sqlite/create.ts");
    return makeSqliteStore({ path: address.path });
  }
  const { makePostgresStore } = await import("./store/postgres/create.ts");
  const { url, schema } = address;
  return makePostgresStore(schema === undefined ? { url } : { url, schema }, ports);
}
