/**
 * Turns `sql/<dialect>/**.sql` into `src/store/<dialect>/database/queries.gen.ts`.
 *
 * The `.sql` files are the source: readable, pasteable into a console, mirrored between dialects.
 * What ships is the generated module, so that bundlers and single-file builds keep working.
 * `--check` writes nothing and fails when a module is stale.
 *
 *     node scripts/embed-sql.ts [--check]
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  assembleMigrations,
  bindParameters,
  queryFiles,
  splitQueries,
  type Dialect,
} from "./sql/files.ts";

const root = join(import.meta.dirname, "..");
const check = process.argv.includes("--check");

const stale = (["sqlite", "postgres"] as const)
  .filter((dialect) => existsSync(join(root, "sql", dialect)))
  .filter((dialect) => !embed(dialect));

if (stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Run: node scripts/embed-sql.ts`);
  process.exitCode = 1;
}

/** Writes one module, or only compares it. Answers whether it is fresh afterwards. */
function embed(dialect: Dialect): boolean {
  const target = join(root, "src", "store", dialect, "database", "queries.gen.ts");
  const text = render(dialect);
  if (check) return existsSync(target) && readFileSync(target, "utf8") === text;
  writeFileSync(target, text);
  return true;
}

function render(dialect: Dialect): string {
  const queries = queryFiles(dialect)
    .flatMap(({ path, text }) => splitQueries(path, text))
    .map((query) => ({ name: query.name, ...bindParameters(query.text, dialect) }));
  const migrations = assembleMigrations(dialect);

  return [
    `// Generated from sql/${dialect} by scripts/embed-sql.ts. Do not edit.`,
    "",
    "export const migrations: readonly { version: number; name: string; sql: string }[] = [",
    ...migrations.map((migration) => `  ${JSON.stringify(migration)},`),
    "];",
    "",
    "/** The parameters of each named query, in the order in which they are bound. */",
    "export interface QueryParameters {",
    ...queries.map((query) => `  ${query.name}: ${tuple(query.parameters)};`),
    "}",
    "",
    "export const queries: {",
    "  readonly [Name in keyof QueryParameters]: {",
    "    readonly text: string;",
    "    readonly parameters: QueryParameters[Name];",
    "  };",
    "} = {",
    ...queries.map(
      (query) =>
        `  ${query.name}: {
    text: ${JSON.stringify(query.text)},
    parameters: ${JSON.stringify(query.parameters)},
  },`,
    ),
    "};",
    "",
  ].join("\n");
}

function tuple(parameters: readonly string[]): string {
  return `readonly [${parameters.map((name) => JSON.stringify(name)).join(", ")}]`;
}
