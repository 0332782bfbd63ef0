/**
 * Turns `sql/<dialect>/**.sql` into `queries.gen.ts` and `migrations.gen.ts` of
 * `src/store/<dialect>/database`, and the templates of PostgreSQL into `templates.gen.ts`.
 *
 * The `.sql` files are the source: readable, pasteable into a console, mirrored between dialects.
 * The package contains the generated modules, so that bundlers and single-file builds work.
 * `--check` writes nothing and fails when a module is stale. `--functions` writes nothing either:
 * it prints the named queries of PostgreSQL, or all of them, as functions.
 *
 *     node scripts/embed-sql.ts [--check]
 *     node scripts/embed-sql.ts --functions [query …]
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { queryFiles, type Dialect } from "./sql/files.ts";
import { describeQueries } from "./sql/headers.ts";
import { renderMigrations, renderQueries, renderTemplates } from "./sql/module.ts";
import { canBeFunction, queryFunction } from "./sql/query-function.ts";

const { values, positionals } = parseArgs({
  options: { check: { type: "boolean" }, functions: { type: "boolean" } },
  allowPositionals: true,
});

if (values.functions === true) printFunctions(positionals);
else embedAll();

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

function printFunctions(names: readonly string[]): void {
  const { queries: all } = describeQueries("postgres", queryFiles("postgres"));
  const queries = all.filter(canBeFunction);
  const unknown = names.find((wanted) => !queries.some(({ name }) => name === wanted));
  if (unknown !== undefined) throw new Error(`no query ${unknown} can be a function`);
  const chosen = queries.filter(({ name }) => names.length === 0 || names.includes(name));
  console.log(chosen.map(queryFunction).join("\n\n"));
}
