import { describe, expect, test } from "vitest";
import type { Json } from "../payload.ts";
import { NODES_MAX, searchPayload, TEXT_MAX } from "./detect.ts";
import cases from "../../../test/support/payload-cases.json" with { type: "json" };
import { SENSITIVE_SETS } from "./rule.ts";

const SETS = new Set(SENSITIVE_SETS);
const SECRETS: Readonly<Record<string, readonly Json[]>> = cases.secrets;
const INNOCENT: readonly Json[] = cases.innocent;

function found(payload: Json | undefined): readonly string[] {
  const { findings } = searchPayload(payload, { forbidden: [], sets: SETS });
  return findings.map(({ path, rule }) => `${path} ${rule}`);
}

describe("searchPayload", () => {
  test.each(Object.entries(SECRETS).flatMap(([set, list]) => list.map((each) => [set, each])))(
    "finds one of %s in %j",
    (set, payload) => {
      const rules = searchPayload(payload, { forbidden: [], sets: SETS }).findings;
      expect(rules.map(({ rule }) => rule)).toContain(set);
    },
  );

  test.each(INNOCENT)("finds nothing in %j", (payload) => {
    expect(found(payload)).toEqual([]);
  });

  test("names the place of a value, and cuts keys that may be secrets themselves", () => {
    const key = `ghp_${"a1B2".repeat(20)}`;
    expect(found({ users: [{ a: { password: "hunter2" } }] })).toEqual([
      "users[0].a.password passwords",
    ]);
    expect(found({ [key]: true })).toEqual(["ghp_a1B2… tokens"]);
    expect(found("Bearer abc123def456ghi789")).toEqual(["payload tokens"]);
    expect(found(undefined)).toEqual([]);
    expect(found({ a: undefined, b: null, c: true })).toEqual([]);
  });

  test("looks for the given sets alone", () => {
    const payload = { password: "hunter2", card_number: "4111111111111111" };
    const sets = new Set(["cards"] as const);

    expect(searchPayload(payload, { forbidden: [], sets }).findings).toMatchObject([
      { path: "card_number" },
    ]);
  });

  test("looks at a bounded number of values and characters", () => {
    const values = Array.from({ length: NODES_MAX + 1 }, () => 1);
    const texts = Array.from({ length: 12 }, () => "x ".repeat(50_000));
    const deep = JSON.parse(`${"[".repeat(300)}1${"]".repeat(300)}`);
    const search = { forbidden: [], sets: SETS };

    expect(searchPayload(values, search).isCutShort).toBe(true);
    expect(texts.join("").length).toBeGreaterThan(TEXT_MAX);
    expect(searchPayload(texts, search).isCutShort).toBe(true);
    expect(searchPayload(deep, search).isCutShort).toBe(true);
    const many = Array.from({ length: 200 }, () => ({ password: "hunter2" }));
    expect(searchPayload(many, search).findings).toHaveLength(100);
  });

  test("reads a bounded number of assignments in a text, and remembers as many names", () => {
    const harmless = Array.from({ length: 5_100 }, (_, n) => `a${n}=b${n}xx`).join(" ");

    expect(found({ note: `api_token=hunter22a9 ${harmless}` })).toHaveLength(1);
    expect(found({ note: `${harmless} api_token=hunter22a9` })).toEqual([]);
    for (let n = 0; n < 5_100; n += 1)
      expect(found({ [`n${n}_password`]: "x1y2" })).toHaveLength(1);
  });

  test("reads a bounded number of words of a command", () => {
    const harmless = "a ".repeat(4_000);

    expect(found({ cmd: `sshpass -p Tulip77 ${harmless}` })).toHaveLength(1);
    expect(found({ cmd: `ls -l ${harmless} sshpass -p Tulip77` })).toEqual([]);
  });

  test("takes no longer for a text that is made to slow it down", () => {
    const parts = ["a", "4 ", "a=", "a b ", "eyJ", "Bearer ", "login ", "a://b:", '"d":"', "$2b$"];
    for (const part of parts) {
      expect(found({ body: part.repeat(100_000 / part.length) })).toBeDefined();
    }
  });
});
