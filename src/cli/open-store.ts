/** The composition root's choice of a store. */
import { makeSqliteStore } from "../store/sqlite/make.ts";
import { parseDatabaseUrl } from "../client/database-url.ts";

/** A store with all its verbs, as the commands use it. */
export type OpenedStore = ReturnType<typeof makeSqliteStore>;

/** Opens the store that `url` names, bringing its tables up to date. */
export async function openStore(url: string): Promise<OpenedStore> {
  const store = makeSqliteStore({ path: parseDatabaseUrl(url).path });
  await store.open();
  return store;
}
