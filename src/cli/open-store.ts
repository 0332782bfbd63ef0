/** The composition root's choice of a store. */
import { parseDatabaseUrl, shownAddress } from "../client/database-url.ts";
import { MillraceError } from "../core/errors.ts";
import { makeStore } from "../make-store.ts";
import { makeSqliteStore } from "../store/sqlite/make.ts";
import type { JobStore } from "../store/store.ts";

/** A store in a file, with what only a file can do. */
export type FileStore = ReturnType<typeof makeSqliteStore>;

/** Opens the store that `url` names, bringing its tables up to date. */
export async function openStore(url: string): Promise<JobStore> {
  const store = await makeStore(parseDatabaseUrl(url));
  await store.open();
  return store;
}

/** The same for what only a file can do. `instead` says how it is done on PostgreSQL. */
export async function openFile(url: string, instead: string): Promise<FileStore> {
  const address = parseDatabaseUrl(url);
  if (address.kind !== "sqlite") {
    throw new MillraceError("OPTION_INVALID", `${shownAddress(address)} is no file: ${instead}`);
  }
  const store = makeSqliteStore({ path: address.path });
  await store.open();
  return store;
}
