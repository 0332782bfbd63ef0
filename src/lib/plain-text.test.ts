import { describe, expect, test } from "vitest";
import { plain, plainJson, plainLines } from "./plain-text.ts";

const STEERING = "\u001b[2J\u0007 \u009b31m\u0085 \u202e\u2066\u200f\u061c \u007f";

describe("plain text", () => {
  test("has marks in the place of what steers a terminal, and nothing else is changed", () => {
    expect(plain(`a\n${STEERING}Zoë 日本 🚀`)).toBe("a��[2J� �31m� ���� �Zoë 日本 🚀");
  });

  test("of several lines keeps lines and tabs", () => {
    expect(plainLines("one\n\ttwo\r\u009b")).toBe("one\n\ttwo��");
  });

  test("as JSON has the same value, and is pure of what steers", () => {
    const value = { [STEERING]: [STEERING, "Zoë 🚀"] };

    const json = plainJson(JSON.stringify(value, null, 2));

    expect(JSON.parse(json)).toEqual(value);
    expect(plainLines(json)).toBe(json);
    expect(json).toContain(String.raw`\u009b31m`);
    expect(json).toContain(String.raw`\u202e`);
  });
});
