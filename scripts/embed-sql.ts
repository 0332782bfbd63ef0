/**
 * Turns `sql/<dialect>/**.sql` into `src/store/<dialect>/database/queries.gen.ts`.
 *
 * The `.sql` files are the source: readable, pasteable into a console, mirrored between dialects.
 * The package contains the generated module, so that bundlers and single-file builds work.
 * `--check` writes nothing and fails when a module is stale.
 *
 *     node scripts/embed-sql.ts [--check]
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "./sql/files.ts";
import { renderModule } from "./sql/module.ts";

const check = process.argv.includes("--check");

const stale = (["sqlite", "postgres"] as const).filter((dialect) => !embed(dialect));
if (stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Run: node scripts/embed-sql.ts`);
  process.exitCode = 1;
}

/** Writes one module, or only compares it. Answers whether it is fresh afterwards. */
function embed(dialect: Dialect): boolean {
  const target = join(import.meta.dirname, `../src/store/${dialect}/database/queries.gen.ts`);
  const text = renderModule(dialect);
  if (check) return existsSync(target) && readFileSync(target, "utf8") === text;
  writeFileSync(target, text);
  return true;
}
