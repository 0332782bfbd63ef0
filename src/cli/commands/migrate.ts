/** `millrace migrate`: brings the tables of a store up to date. */
import { parseDatabaseUrl } from "../../client/database-url.ts";
import { migrations as postgres } from "../../store/postgres/make.ts";
import { migrations as sqlite } from "../../store/sqlite/make.ts";
import { EXIT } from "../exit-codes.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openStore } from "../open-store.ts";
import { json, type Format } from "../output.ts";
import type { Terminal } from "../terminal.ts";

interface MigrateOptions {
  readonly db: string;
  readonly output: Format;
}

/** Opening is migrating, so there is nothing more to do. */
export async function migrate(
  { db, output }: MigrateOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const store = await openStore(db);
  await store.close();
  const schema = migrationsOf(db).at(-1)?.version ?? 0;
  terminal.out(output === "json" ? json({ db, schema }) : `${db} is up to date.\n`);
  return EXIT.success;
}

/** The SQL of every migration, for those who want to read it first. Opens nothing. */
export function printMigrations({ db, output }: MigrateOptions, terminal: Terminal): ExitCode {
  const migrations = migrationsOf(db);
  const sql = migrations.map((each) => `-- ${each.name}\n${each.sql.trimEnd()}\n`).join("\n");
  terminal.out(output === "json" ? json(migrations) : sql);
  return EXIT.success;
}

function migrationsOf(url: string): typeof sqlite {
  return parseDatabaseUrl(url).kind === "sqlite" ? sqlite : postgres;
}
