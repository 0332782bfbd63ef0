import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { head, headBytes, shown, storable, utf8Bytes } from "./text.ts";

const anyText = fc.string({ unit: "binary", maxLength: 60 });

describe("utf8Bytes", () => {
  test("counts what an encoder would write", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  test.each([
    ["a", 1],
    ["\u007f", 1],
    ["\u0080", 2],
    ["\u07ff", 2],
    ["\u0800", 3],
    ["\uffff", 3],
    ["😀", 4],
  ])("counts %j as %i", (text, bytes) => {
    expect(utf8Bytes(text)).toBe(bytes);
  });
});

describe("head", () => {
  test("leaves short text alone", () => {
    expect(head("abc", 3)).toBe("abc");
  });

  test("cuts to the length", () => {
    expect(head("abcd", 3)).toBe("abc");
  });

  test("gives a letter up rather than half of it", () => {
    expect(head("ab😀", 3)).toBe("ab");
    expect(head("ab😀c", 4)).toBe("ab😀");
  });
});

describe("headBytes", () => {
  test("cuts between letters, at most at the given number of bytes", () => {
    expect(headBytes("aé€😀", 9)).toBe("aé€");
    expect(headBytes("aé€😀", 10)).toBe("aé€😀");
    expect(headBytes("aé€", 2)).toBe("a");
  });

  test("is the longest beginning that fits", () => {
    fc.assert(
      fc.property(anyText, fc.nat(100), (raw, bytesMax) => {
        const text = raw.toWellFormed();
        const cut = headBytes(text, bytesMax);
        const [next] = text.slice(cut.length);
        const nextBytes = next === undefined ? Number.POSITIVE_INFINITY : utf8Bytes(next);

        expect(text.startsWith(cut)).toBe(true);
        expect(utf8Bytes(cut)).toBeLessThanOrEqual(bytesMax);
        expect(utf8Bytes(cut) + nextBytes).toBeGreaterThan(bytesMax);
      }),
    );
  });
});

describe("storable text", () => {
  test("says that it was cut", () => {
    expect(storable("abcdef", 4)).toBe("abc…");
    expect(storable("abcd", 4)).toBe("abcd");
  });

  test("is bounded, well-formed and free of U+0000, for any input", () => {
    const wild = fc.array(fc.nat(0xffff), { maxLength: 40 }).map((u) => String.fromCharCode(...u));
    fc.assert(
      fc.property(wild, fc.integer({ min: 1, max: 30 }), (text, unitsMax) => {
        const stored = storable(`${text}\0\ud800`, unitsMax);

        expect(stored.length).toBeLessThanOrEqual(unitsMax);
        expect(stored.isWellFormed()).toBe(true);
        expect(stored).not.toContain("\0");
      }),
    );
  });
});

describe("a value in an error message", () => {
  test.each([
    ["5 minutes", '"5 minutes"'],
    [12n, "12n"],
    [null, "null"],
    [{}, "an object"],
    [[1], "an array"],
    [() => 1, "a function"],
    [Symbol("x"), "a symbol"],
    [Number.NaN, "NaN"],
    [true, "true"],
    [undefined, "undefined"],
  ])("is shown plainly (%#)", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test("stays short", () => {
    expect(shown("x".repeat(500))).toHaveLength(100);
    expect(shown(10n ** 500n)).toHaveLength(100);
  });
});
