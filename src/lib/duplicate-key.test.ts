import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duplicateKey } from "./duplicate-key.ts";

describe("a key that is given twice", () => {
  test.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":{"b":[{},{"c":1,"d":[1,2],"c":2}]}}', "a.b[1].c"],
    ['[1,{"x":{"y":"z"},"x":3}]', "[1].x"],
    ['{"a":1,"\\u0061":2}', "a"],
    [String.raw`{"a\"":"}{,\\","b":"\"","a\"":1}`, 'a"'],
    ['{"__proto__":1, "__proto__":2}', "__proto__"],
    ['{"":1,\n"" :2}', ""],
  ])("is found in %s", (text, path) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(duplicateKey(text)).toBe(path);
  });

  test.each([
    '{"a":{"a":[{"a":1},{"a":1}]},"b":{"a":"a"}}',
    '["a","a",{"a":"a"}]',
    '{"a":"\\"a\\":1,","b":"a","A":1}',
    '"a"',
    "3",
  ])("is not found in %s", (text) => {
    expect(duplicateKey(text)).toBeNull();
  });

  test("is never found in a text that JSON.stringify wrote", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(duplicateKey(JSON.stringify(value, null, 1))).toBeNull();
      }),
    );
  });

  test("has a bounded path, at any depth", () => {
    const deep = `${'{"key":'.repeat(10_000)}{"a":1,"a":2}${"}".repeat(10_000)}`;

    expect(duplicateKey(deep)).toMatch(/^(key\.){50}…$/);
  });
});
