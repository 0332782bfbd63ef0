import { describe, expect, it } from "vitest";
import { checkDraft, payloadHint } from "./draft.ts";

describe("checkDraft", () => {
  it("reads JSON", () => {
    expect(checkDraft('{ "a": [1, null] }')).toEqual({
      isJson: true,
      warnings: [],
    });
  });

  it("names the line of a mistake", () => {
    const check = checkDraft('{\n  "a": 1\n  "b": 2\n}');
    expect(check).toMatchObject({ isJson: false, line: 3 });
  });

  it("refuses an empty text", () => {
    expect(checkDraft("").isJson).toBe(false);
  });

  it("warns of a hidden value, and of no number: its digits are sent as written", () => {
    const check = checkDraft('{ "id": 9007199254740993, "key": "[redacted]" }');
    expect(check.isJson && check.warnings).toEqual([
      '"[redacted]" is a hidden value: it would replace the real one.',
    ]);
  });
});

describe("payloadHint", () => {
  it("shows the first plain fields", () => {
    const payload = { invoice: 7, customer: { name: "x" }, paid: false, note: "a", more: 1 };
    expect(payloadHint(payload)).toBe("invoice: 7, paid: false, note: a");
  });

  it("marks a number that has lost digits", () => {
    expect(payloadHint({ account: 2 ** 53 })).toBe("account: ≈ 9007199254740992");
  });

  it("is empty for a payload without fields", () => {
    expect(payloadHint("[redacted]")).toBe("");
    expect(payloadHint(null)).toBe("");
  });
});
