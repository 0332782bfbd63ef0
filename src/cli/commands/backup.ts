/** `millrace backup`: copies a store into a file while workers run. */
import { existsSync } from "node:fs";
import { MillraceError } from "../../core/errors.ts";
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { openFile } from "../open-file.ts";
import { json, type Format } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Copies the store into the new file `file`. */
export async function backup(
  file: string,
  options: { readonly db: string; readonly output: Format },
  terminal: Terminal,
): Promise<ExitCode> {
  checkSource(options.db);
  const store = await openFile(options.db, "use pg_dump to back up a PostgreSQL database");
  try {
    await store.backup(file);
  } finally {
    await store.close();
  }
  const { output } = options;
  const db = shownUrl(options.db);
  terminal.out(output === "json" ? json({ db, file }) : `${db} is copied to ${file}.\n`);
  return EXIT.success;
}

/** Opening a store creates it, and a backup of an empty new store is a mistake. */
function checkSource(url: string): void {
  const address = parseDatabaseUrl(url);
  if (address.kind !== "sqlite") return;
  const { path } = address;
  if (path === ":memory:") {
    throw new MillraceError(
      "OPTION_INVALID",
      "--db: a store in memory cannot be backed up by another process",
    );
  }
  if (!existsSync(path)) {
    throw new MillraceError("OPTION_INVALID", `--db: there is no store at ${path}`);
  }
}
