/**
 * The third corpus of payloads was written by an author who did not know the rules, after they were
 * widened by what they missed in the first two.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Json } from "../../src/core/payload.ts";
import { searchPayload } from "../../src/core/payload-rules/detect.ts";
import { SENSITIVE_SETS } from "../../src/core/payload-rules/rule.ts";

interface Entry {
  readonly id: string;
  readonly secret: boolean;
  readonly payload: Json;
}

const FILE = new URL("../payload-corpus/third.json", import.meta.url);
const SEARCH = { forbidden: [], sets: new Set(SENSITIVE_SETS) };

test("the rules find 95 % of unseen secrets, and take 2 % of innocent payloads for one", () => {
  const corpus: readonly Entry[] = JSON.parse(readFileSync(FILE, "utf8"));
  const isFound = ({ payload }: Entry): boolean =>
    searchPayload(payload, SEARCH).findings.length > 0;
  const secrets = corpus.filter(({ secret }) => secret);
  const innocent = corpus.filter(({ secret }) => !secret);
  expect([secrets.length, innocent.length]).toEqual([200, 200]);

  const missed = secrets.filter((entry) => !isFound(entry)).map(({ id }) => id);
  const alarms = innocent.filter(isFound).map(({ id }) => id);

  expect({ missed, most: missed.length <= secrets.length * 0.05 }).toMatchObject({ most: true });
  expect({ alarms, most: alarms.length <= innocent.length * 0.02 }).toMatchObject({ most: true });
});
