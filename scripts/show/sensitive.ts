/**
 * How much sensitive content the rules of the preset `practice` find, and how often they are wrong.
 *
 *     node --conditions=source scripts/show/sensitive.ts [--corpus FILE]
 *
 * A corpus is a list of `{ id, kind, secret, payload }`. The three corpora were written by authors
 * who did not know the rules. The rules were then widened by what they missed in the first and in
 * the second, so only the third says how they do on payloads that their author has not seen. Exit
 * code 0: at least 95 % of the secrets are found, and at most 2 % of the innocent payloads are
 * taken for one.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Json } from "../../src/index.ts";
import { searchPayload } from "../../src/core/payload-rules/detect.ts";
import { SENSITIVE_SETS } from "../../src/core/payload-rules/rule.ts";

const FOUND_WANTED = 0.95;
const WRONG_ALLOWED = 0.02;
const CORPORA = ["first", "second", "third"].map((name) => `test/payload-corpus/${name}.json`);
const SEARCH = { forbidden: [], sets: new Set(SENSITIVE_SETS) };

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly secret: boolean;
  readonly payload: Json;
}

const { values } = parseArgs({ options: { corpus: { type: "string", multiple: true } } });
for (const file of values.corpus ?? CORPORA) judge(file);

function judge(file: string): void {
  const corpus: readonly Entry[] = JSON.parse(readFileSync(file, "utf8"));
  const judged = corpus.map((entry) => ({
    ...entry,
    findings: searchPayload(entry.payload, SEARCH).findings,
  }));
  const secrets = judged.filter(({ secret }) => secret);
  const innocent = judged.filter(({ secret }) => !secret);
  const missed = secrets.filter(({ findings }) => findings.length === 0);
  const wrong = innocent.filter(({ findings }) => findings.length > 0);
  for (const { id, kind } of missed) console.log(`missed: ${id} (${kind})`);
  for (const { id, kind, findings } of wrong) {
    const told = findings.map(({ path, rule, what }) => `${path} ${rule}: ${what}`).join("; ");
    console.log(`false alarm: ${id} (${kind}): ${told}`);
  }
  const found = share(secrets.length - missed.length, secrets.length);
  const alarms = share(wrong.length, innocent.length);
  console.log(
    `${file}: found ${secrets.length - missed.length} of ${secrets.length} (${percent(found)}, ` +
      `${percent(FOUND_WANTED)} wanted), false alarms ${wrong.length} of ${innocent.length} ` +
      `(${percent(alarms)}, ${percent(WRONG_ALLOWED)} allowed)`,
  );
  if (found < FOUND_WANTED || alarms > WRONG_ALLOWED) process.exitCode = 1;
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
