/**
 * Turns `sql/<dialect>/**.sql` into `queries.gen.ts` and `migrations.gen.ts` of
 * `src/store/<dialect>/database`, and the templates of PostgreSQL into `templates.gen.ts`.
 *
 * The `.sql` files are the source: readable, pasteable into a console, mirrored between dialects.
 * The package contains the generated modules, so that bundlers and single-file builds work.
 * `--check` writes nothing and fails when a module is stale.
 *
 *     node scripts/embed-sql.ts [--check]
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Dialect } from "./sql/files.ts";
import { renderMigrations, renderQueries, renderTemplates } from "./sql/module.ts";

const { values } = parseArgs({ options: { check: { type: "boolean" } } });

embedAll();

function embedAll(): void {
  const stale = (["sqlite", "postgres"] as const).filter((dialect) => !embed(dialect));
  if (stale.length === 0) return;
  console.error(`Stale: ${stale.join(", ")}. Run: node scripts/embed-sql.ts`);
  process.exitCode = 1;
}

/** Writes the modules, or only compares them. Answers whether they are fresh afterwards. */
function embed(dialect: Dialect): boolean {
  const isFresh = [
    writeModule(dialect, "queries", renderQueries(dialect)),
    writeModule(dialect, "migrations", renderMigrations(dialect)),
    ...(dialect === "postgres" ? [writeModule(dialect, "templates", renderTemplates())] : []),
  ];
  return isFresh.every(Boolean);
}

function writeModule(dialect: Dialect, name: string, text: string): boolean {
  const target = join(import.meta.dirname, `../src/store/${dialect}/database/${name}.gen.ts`);
  if (values.check === true) return existsSync(target) && readFileSync(target, "utf8") === text;
  writeFileSync(target, text);
  return true;
}
