/** `millrace migrate`: applies the migrations of a store. */
import { parseDatabaseUrl, type DatabaseAddress } from "../../client/database-url.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { MillraceError } from "../../core/errors.ts";
import { makeStore } from "../../make-store.ts";
import { newestOf, type Migration } from "../../store/shared/migrations.ts";
import {
  makePostgresStore,
  migrationScripts as postgresScripts,
} from "../../store/postgres/create.ts";
import { migrationScripts as sqliteScripts } from "../../store/sqlite/create.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { ExitCode } from "../terminal/exit-codes.ts";
import { json, type Format } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";

export interface MigrateCommandOptions {
  readonly db: string;
  readonly output: Format;
  readonly print?: boolean;
  readonly roles?: boolean;
  readonly sharedRoles?: boolean;
}

/** Opening a store applies its migrations. */
export async function migrate(
  { db, output }: MigrateCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const address = parseDatabaseUrl(db);
  const store =
    address.kind === "sqlite" ? await makeStore(address) : makePostgresStore(placeOf(address));
  store.onWarning?.((warning) => terminal.err(`${warning}\n`));
  await store.open();
  try {
    // A release may change queries and no table: then no migration has brought its routines.
    if ("migrateRoutines" in store) await store.migrateRoutines();
  } finally {
    await store.close();
  }
  const schema = newestOf(scriptsFor(db));
  const shown = shownUrl(db);
  const answer = { db: shown, schema };
  terminal.out(output === "json" ? json(answer) : `${shown} is up to date.\n`);
  return EXIT.success;
}

/** Makes the roles of an installation on PostgreSQL, or prints the statements that would. */
export async function migrateRoles(
  { db, output, print = false, sharedRoles = false }: MigrateCommandOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const address = parseDatabaseUrl(db);
  if (address.kind === "sqlite") {
    throw new MillraceError("STORE_UNSUITABLE", "SQLite has no roles: --roles needs PostgreSQL");
  }
  const store = makePostgresStore(placeOf(address), { create: !print });
  await store.open();
  try {
    if (!sharedRoles) requireOwnRoles(await store.roleDatabases(), address.schema);
    const statements = await store.roleStatements();
    const sql = statements.map((statement) => `${statement};\n`).join("");
    if (!print) await store.runSql(sql);
    const shown = shownUrl(db);
    if (output === "json") terminal.out(json({ db: shown, statements }));
    else terminal.out(print ? sql : `${shown} has its roles and their grants.\n`);
    return EXIT.success;
  } finally {
    await store.close();
  }
}

/** Roles belong to the whole server: a member of one has its rights in each of the databases. */
function requireOwnRoles(databases: readonly string[], schema = "millrace"): void {
  if (databases.length === 0) return;
  const names = databases.join(", ");
  throw new MillraceError(
    "OPTION_INVALID",
    `the role ${schema}_owner owns objects of another database (${names}), and its members would ` +
      "have the same rights here: install Millrace in a schema of another name, or give " +
      "--shared-roles if the databases may share their roles",
    { details: { databases } },
  );
}

/** Prints the SQL of every migration without opening the store. */
export function printMigrations(
  { db, output }: MigrateCommandOptions,
  terminal: Terminal,
): ExitCode {
  const scripts = scriptsFor(db);
  const sql = scripts.map(({ name, sql: text }) => `-- ${name}\n${text}`).join("\n");
  terminal.out(output === "json" ? json(scripts) : sql);
  return EXIT.success;
}

function placeOf({ url, schema }: Extract<DatabaseAddress, { kind: "postgres" }>) {
  return schema === undefined ? { url } : { url, schema };
}

function scriptsFor(url: string): readonly Migration[] {
  const address = parseDatabaseUrl(url);
  return address.kind === "sqlite" ? sqliteScripts() : postgresScripts(address.schema);
}
