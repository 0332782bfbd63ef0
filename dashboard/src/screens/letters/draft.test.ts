import { describe, expect, it } from "vitest";
import { checkDraft, payloadHint, roundedNumbers } from "./draft.ts";

describe("checkDraft", () => {
  it("reads JSON", () => {
    expect(checkDraft('{ "a": [1, null] }')).toEqual({
      isJson: true,
      value: { a: [1, null] },
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

  it("warns of a number that would lose digits, and of a hidden value", () => {
    const check = checkDraft('{ "id": 9007199254740993, "key": "[redacted]" }');
    expect(check.isJson && check.warnings).toEqual([
      "9007199254740993 would be sent as 9007199254740992: write it as a text.",
      '"[redacted]" is a hidden value: it would replace the real one.',
    ]);
  });
});

describe("roundedNumbers", () => {
  it("lets every exact way of writing pass", () => {
    expect(roundedNumbers("[0, -0, 0.0, 1.50, 15e-1, 1e3, 1000, -2.5E+2, 1e21, 0.1]")).toEqual([]);
  });

  it("finds numbers with too many digits or too large a power", () => {
    expect(roundedNumbers("[12345678901234567891, 0.12345678901234567891, 1e400]")).toEqual([
      "12345678901234567891",
      "0.12345678901234567891",
      "1e400",
    ]);
  });

  it("leaves texts alone", () => {
    expect(roundedNumbers('{"9007199254740993": "9007199254740993"}')).toEqual([]);
  });
});

describe("payloadHint", () => {
  it("shows the first plain fields", () => {
    const payload = { invoice: 7, customer: { name: "x" }, paid: false, note: "a", more: 1 };
    expect(payloadHint(payload)).toBe("invoice: 7, paid: false, note: a");
  });

  it("is empty for a payload without fields", () => {
    expect(payloadHint("[redacted]")).toBe("");
    expect(payloadHint(null)).toBe("");
  });
});
