import { describe, expect, it } from "vitest";
import { isDuration, isSafeTemplate, retentionName, retentionWords, ruleWords } from "./words.ts";

it("names retention periods", () => {
  expect(retentionName("deadLetters")).toBe("Dead letters");
  expect(retentionWords(604_800_000)).toBe("removed 7 d after the end");
  expect(retentionWords(null)).toBe("kept for ever");
});

it("takes templates of http and https alone", () => {
  expect(isSafeTemplate("https://trace.example/{trace_id}")).toBe(true);
  expect(isSafeTemplate("HTTP://x/{id}")).toBe(true);
  for (const bad of ["javascript:alert(1)", " https://x", "//x", "data:text/html,x"]) {
    expect(isSafeTemplate(bad)).toBe(false);
  }
});

describe("ruleWords", () => {
  it("says what a rule asks for", () => {
    expect(
      ruleWords({
        required: { document_id: "integer" },
        softBytes: 1_024,
        hardBytes: 65_536,
        forbidden: ["password"],
        sensitive: { mail_bodies: "reject" },
        strict: true,
      }),
    ).toEqual([
      "needs document_id (integer)",
      "warns above 1.0 KB",
      "refuses above 64 KB",
      "forbids password",
      "mail bodies: reject",
      "strict",
    ]);
  });

  it("says nothing of an empty rule", () => {
    expect(ruleWords({})).toEqual([]);
  });
});

it("knows durations", () => {
  expect(["30d", "1.5h", "10m"].every(isDuration)).toBe(true);
  expect(["30", "d", "1w", "-1d", ""].some(isDuration)).toBe(false);
});
