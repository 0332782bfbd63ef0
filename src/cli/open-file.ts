/** Opens a SQLite file for commands that only a file supports. */
import { parseDatabaseUrl } from "../client/database-url.ts";
import { MillraceError } from "../core/errors.ts";
import { shownUrl } from "../lib/url-password.ts";
import { makeSqliteStore } from "../store/sqlite/create.ts";

/** A store in a file, with the methods that only a file has. */
export type FileStore = ReturnType<typeof makeSqliteStore>;

/** Opens the file of `url`. `instead` says what to do on PostgreSQL. */
export async function openFile(url: string, instead: string): Promise<FileStore> {
  const address = parseDatabaseUrl(url);
  if (address.kind !== "sqlite") {
    throw new MillraceError("OPTION_INVALID", `${shownUrl(url)} is not a SQLite file: ${instead}`);
  }
  const store = makeSqliteStore({ path: address.path });
  await store.open();
  return store;
}
