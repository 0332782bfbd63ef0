/** The source of a file with a planted bug. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Mutant } from "./all.ts";

const ROOT = new URL("../../../", import.meta.url);
const GENERATED = "src/store/sqlite/database/queries.gen.ts";
const QUERY = /(\w+): \{\n\s*text: (".*"),\n\s*parameters: (\[.*\])/g;
const QUERY_NAME = /^-- name: (\w+)$/gm;

/** Fails unless the text of the bug occurs once in its file. */
export function plantedSource(mutant: Mutant): { readonly file: URL; readonly source: string } {
  const isQuery = mutant.file.endsWith(".sql");
  const file = new URL(isQuery ? GENERATED : mutant.file, ROOT);
  const text = readFileSync(file, "utf8");
  return { file, source: isQuery ? inQueries(text, mutant) : inText(text, mutant) };
}

function inText(text: string, { name, file, now, planted }: Mutant): string {
  const parts = text.split(now);
  assert.equal(parts.length, 2, `${name}: the text must occur once in ${file}`);
  return parts.join(planted);
}

/** The generated queries bind their parameters by position. Other files may have the same text. */
function inQueries(text: string, { name, file, now, planted }: Mutant): string {
  const sql = readFileSync(new URL(file, ROOT), "utf8");
  const own = new Set([...sql.matchAll(QUERY_NAME)].map(([, query]) => query));
  let found = 0;
  const source = text.replaceAll(QUERY, (entry, key: string, query: string, list: string) => {
    if (!own.has(key)) return entry;
    const parameters: readonly string[] = JSON.parse(list);
    const parts = String(JSON.parse(query)).split(positional(now, parameters));
    if (parts.length === 1) return entry;
    found += parts.length - 1;
    const changed = parts.join(positional(planted, parameters));
    return `${key}: {\n text: ${JSON.stringify(changed)},\n parameters: ${list}`;
  });
  assert.equal(found, 1, `${name}: the text must occur once in ${file}`);
  return source;
}

function positional(text: string, parameters: readonly string[]): string {
  const bound = text.replaceAll(/:(\w+)/g, (whole, parameter: string) => {
    const index = parameters.indexOf(parameter);
    return index === -1 ? whole : `?${index + 1}`;
  });
  return bound.replace(/;$/, "");
}
