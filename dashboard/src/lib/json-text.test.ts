import { describe, expect, test } from "vitest";
import { indented, jsonParts } from "./json-text.ts";

describe("indented JSON", () => {
  test("has the digits, the order and the repeated names of the stored text", () => {
    const text = '{"id":12345678901234567890,"a":[1.0,{}],"a":null,"e":[]}';

    expect(indented(text)).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": [\n    1.0,\n    {}\n  ],\n' +
        '  "a": null,\n  "e": []\n}',
    );
  });

  test("tells names from texts, and does not look for signs inside of texts", () => {
    expect(jsonParts('{"a{":"b:,"}').filter(({ kind }) => kind !== "sign")).toEqual([
      { kind: "name", text: '"a{"' },
      { kind: "text", text: '"b:,"' },
    ]);
  });

  test("shows a text that is no JSON", () => {
    expect(indented("[redacted")).toContain("redacted");
  });
});
