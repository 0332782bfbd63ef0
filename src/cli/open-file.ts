/** Files are opened by what only they can do. */
import { parseDatabaseUrl, shownAddress } from "../client/database-url.ts";
import { MillraceError } from "../core/errors.ts";
import { makeSqliteStore } from "../store/sqlite/create.ts";

/** A store in a file, with what only a file can do. */
export type FileStore = ReturnType<typeof makeSqliteStore>;

/** Opens the file that `url` names. `instead` says how the same is done on PostgreSQL. */
export async function openFile(url: string, instead: string): Promise<FileStore> {
  const address = parseDatabaseUrl(url);
  if (address.kind !== "sqlite") {
    throw new MillraceError("OPTION_INVALID", `${shownAddress(address)} is no file: ${instead}`);
  }
  const store = makeSqliteStore({ path: address.path });
  await store.open();
  return store;
}
