import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, decode, encodePayload, encodeResult } from "./payload.ts";

const key = fc
  .string({ unit: "grapheme", maxLength: 8 })
  .filter((text) => text !== "__proto__" && !text.includes("\0"));
const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc
    .double({ noNaN: true, min: -(2 ** 53) + 1, max: 2 ** 53 - 1 })
    .map((number) => (number === 0 ? 0 : number)),
  fc.string({ unit: "binary" }).filter((text) => text.isWellFormed() && !text.includes("\0")),
);
const { tree: json } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
  ),
}));

/** Each is refused wherever it stands. */
const nasty = fc.constantFrom<unknown>(
  Number.NaN,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  -(2 ** 60),
  "a\0",
  "\ud83d",
  "\ude00x",
  10n,
  new Map(),
  new Set(),
  /x/,
  new Error("x"),
  new Uint8Array(1),
  { ["\0"]: 1 },
  Object.defineProperty({}, "__proto__", { value: 1, enumerable: true }),
);

describe("a payload that is accepted", () => {
  test("comes back from JSON as it was", () => {
    fc.assert(
      fc.property(json, (value) => {
        const { text, bytes } = encodePayload(value);

        expect(decode(text)).toEqual(value);
        expect(bytes).toBe(Buffer.byteLength(text!));
      }),
    );
  });

  test("is written as JSON.stringify writes it", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(encodePayload(value).text).toBe(JSON.stringify(value));
        expect(encodeResult(value).text).toBe(JSON.stringify(value));
      }),
    );
  });

  test("has one canonical form, whatever the order of its keys", () => {
    const shuffled = fc
      .dictionary(key, json, { minKeys: 2 })
      .chain((object) =>
        fc.tuple(
          fc.constant(object),
          fc.shuffledSubarray(Object.entries(object), { minLength: Object.keys(object).length }),
        ),
      );
    fc.assert(
      fc.property(shuffled, ([object, entries]) => {
        const text = JSON.stringify(object);
        const canonical = canonicalJson(text);

        expect(canonicalJson(JSON.stringify(Object.fromEntries(entries)))).toBe(canonical);
        expect(decode(canonical)).toEqual(decode(text));
      }),
    );
  });
});

describe("a nasty value", () => {
  const steps = fc.array(fc.oneof(fc.nat(3), fc.constantFrom("a", "b2", "$c")), { maxLength: 6 });

  test("is refused at its own path, however deep it lies", () => {
    fc.assert(
      fc.property(nasty, steps, json, (bad, path, good) => {
        const value = path.reduceRight<unknown>(
          (inner, step) =>
            typeof step === "number"
              ? [...Array.from({ length: step }, () => good), inner]
              : { good, [step]: inner },
          bad,
        );
        const shown = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));

        expect(() => encodePayload(value)).toThrow(
          expect.objectContaining({
            code: "PAYLOAD_REFUSED",
            message: expect.stringContaining(`payload${shown.join("")}`),
          }),
        );
        expect(() => encodeResult(value)).toThrow(
          expect.objectContaining({ code: "RESULT_REFUSED" }),
        );
      }),
    );
  });
});
