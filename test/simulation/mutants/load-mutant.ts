/**
 * Preloaded with `node --import`: plants the mutant that the environment names into the source as
 * it is loaded.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { mutants, type Mutant } from "./all.ts";

const ROOT = new URL("../../../", import.meta.url);
const GENERATED = "src/store/sqlite/database/queries.gen.ts";
const QUERY = /text: (".*"),\n\s*parameters: (\[.*\])/g;

const wanted = process.env["MILLRACE_MUTANT"];
const mutant = mutants.find(({ name }) => name === wanted);
if (mutant !== undefined) plant(mutant);
else if (wanted !== undefined) throw new Error(`there is no mutant "${wanted}"`);

function plant(chosen: Mutant): void {
  const isQuery = chosen.file.endsWith(".sql");
  const file = new URL(isQuery ? GENERATED : chosen.file, ROOT);
  const text = readFileSync(file, "utf8");
  const source = isQuery ? inQueries(text, chosen) : inText(text, chosen);
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === file.href ? { ...loaded, source } : loaded;
    },
  });
}

function inText(text: string, { name, file, now, planted }: Mutant): string {
  const parts = text.split(now);
  assert.equal(parts.length, 2, `${name}: the text must occur once in ${file}`);
  return parts.join(planted);
}

/** The generated queries bind their parameters by position. */
function inQueries(text: string, { name, file, now, planted }: Mutant): string {
  let found = 0;
  const source = text.replaceAll(QUERY, (entry, query: string, list: string) => {
    const parameters: readonly string[] = JSON.parse(list);
    const parts = String(JSON.parse(query)).split(positional(now, parameters));
    if (parts.length === 1) return entry;
    found += parts.length - 1;
    const changed = parts.join(positional(planted, parameters));
    return `text: ${JSON.stringify(changed)},\n parameters: ${list}`;
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
