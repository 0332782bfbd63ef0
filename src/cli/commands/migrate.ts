/** `millrace migrate`: brings the tables of a store up to date. */
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { makeStore } from "../../make-store.ts";
import { newestOf, type Migration } from "../../store/shared/migrations.ts";
import { migrationScripts as postgresScripts } from "../../store/postgres/create.ts";
import { migrationScripts as sqliteScripts } from "../../store/sqlite/create.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { json, type Format } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface MigrateOptions {
  readonly db: string;
  readonly output: Format;
}

/** Opening is migrating, so there is nothing more to do. */
export async function migrate(
  { db, output }: MigrateOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const store = await makeStore(parseDatabaseUrl(db));
  store.onWarning?.((notice) => terminal.err(`${notice}\n`));
  await store.open();
  await store.close();
  const schema = newestOf(scriptsFor(db));
  terminal.out(output === "json" ? json({ db, schema }) : `${db} is up to date.\n`);
  return EXIT.success;
}

/** The SQL of every migration, to be read first or run by hand. Opens nothing. */
export function printMigrations({ db, output }: MigrateOptions, terminal: Terminal): ExitCode {
  const scripts = scriptsFor(db);
  const sql = scripts.map(({ name, sql: text }) => `-- ${name}\n${text}`).join("\n");
  terminal.out(output === "json" ? json(scripts) : sql);
  return EXIT.success;
}

function scriptsFor(url: string): readonly Migration[] {
  const address = parseDatabaseUrl(url);
  return address.kind === "sqlite" ? sqliteScripts() : postgresScripts(address.schema);
}
