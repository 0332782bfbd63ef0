import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { readExactly } from "../lib/exact-json.ts";
import { MillraceError } from "./errors.ts";
import {
  canonicalJson,
  decode,
  DEPTH_MAX,
  encodePayload,
  encodeResult,
  EXACT_DIGITS_MAX,
  PAYLOAD_BYTES_MAX,
} from "./payload.ts";
import type { Encoded } from "./payload.ts";

/** A text as raw JSON, which the types of TypeScript do not declare yet. */
const rawText = (): unknown => Reflect.get(JSON, "rawJSON")('"text"');

function refusal(encode: (value: unknown) => Encoded, value: unknown): MillraceError {
  try {
    encode(value);
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error("It was accepted.");
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < levels; i += 1) value = [value];
  return value;
}

class Invoice {
  readonly total = 5;
}

/** A class that has no name. */
function anonymous(): new () => object {
  return class {
    readonly total = 5;
  };
}

const circle: Record<string, unknown> = {};
circle["self"] = circle;

describe("a payload", () => {
  test("is stored as JSON, with its size in bytes", () => {
    const encoded = encodePayload({ name: "Zoë", list: [1, 2.5, true, null, {}], text: 'a"b\n' });

    expect(encoded.text).toBe('{"name":"Zoë","list":[1,2.5,true,null,{}],"text":"a\\"b\\n"}');
    expect(encoded.bytes).toBe(encoded.text!.length + 1);
  });

  test("may be absent", () => {
    expect(encodePayload(undefined)).toEqual({ text: null, bytes: 0 });
    expect(encodePayload(null)).toEqual({ text: "null", bytes: 4 });
  });

  test.each([
    [{ to: "ada", cc: undefined, n: 1 }, '{"to":"ada","n":1}'],
    [{ cc: undefined, to: "ada" }, '{"to":"ada"}'],
    [-0, "0"],
    [[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER], "[9007199254740991,-9007199254740991]"],
    [5e-324, "5e-324"],
    ["😀", '"😀"'],
    [Object.create(null), "{}"],
    [runInNewContext("({ list: [1] })"), '{"list":[1]}'],
  ])("takes plain values (%#)", (value, text) => {
    expect(encodePayload(value).text).toBe(text);
  });

  test("may be as large as the limit and not a byte larger", () => {
    const fits = "x".repeat(PAYLOAD_BYTES_MAX - 2);

    expect(encodePayload(fits).bytes).toBe(PAYLOAD_BYTES_MAX);
    expect(refusal(encodePayload, `${fits}x`).message).toMatch(/^payload is larger than 1000000 b/);
  });

  test("is measured in bytes, not in letters", () => {
    const letters = "€".repeat(PAYLOAD_BYTES_MAX / 3);

    expect(refusal(encodePayload, letters).message).toMatch(/^payload is larger than/);
  });

  test.each([
    [{ a: [{ body: "x".repeat(PAYLOAD_BYTES_MAX + 1) }] }, "payload.a[0].body"],
    [{ a: Array.from({ length: 400_000 }, () => 12) }, "payload.a"],
    [{ a: { b: "x".repeat(600_000), c: "x".repeat(600_000) } }, "payload.a"],
  ])("names the place that is too large (%#)", (value, path) => {
    expect(refusal(encodePayload, value).details["path"]).toBe(path);
  });

  test("may be nested as deep as the limit and not a level deeper", () => {
    expect(encodePayload(nested(DEPTH_MAX)).bytes).toBe(2 * DEPTH_MAX);
    expect(refusal(encodePayload, nested(DEPTH_MAX + 1)).message).toMatch(
      /^payload(\[0\]){100} is nested deeper than 100 levels\.$/,
    );
  });

  test("that contains itself is refused with the shortest path", () => {
    const order: Record<string, unknown> = { number: 7 };
    order["lines"] = [{ product: "tea" }, { product: "cups", order }];

    expect(refusal(encodePayload, circle).message).toBe(
      "payload.self is payload again: it contains itself.",
    );
    expect(refusal(encodePayload, { orders: [order] }).message).toBe(
      "payload.orders[0].lines[1].order is payload.orders[0] again: it contains itself.",
    );
    expect(refusal(encodeResult, { orders: [order] }).details["path"]).toBe(
      "result.orders[0].lines[1].order",
    );
  });

  test("that makes a new object at each reading is refused for its depth", () => {
    const endless = { toJSON: () => ({ next: endless }) };

    expect(refusal(encodeResult, endless).message).toContain("deeper than 100 levels");
  });

  test("that shares one part a thousandfold is refused before it is written out", () => {
    let value: unknown = "xx";
    for (let i = 0; i < 60; i += 1) value = [value, value];

    expect(refusal(encodePayload, value).message).toContain("is larger than");
  });

  test("keeps the digits of numbers that were read exactly", () => {
    const text = '{"id":9007199254740993,"list":[1.50,12345678901234567890],"n":5}';

    expect(encodePayload(readExactly(text)).text).toBe(text);
    expect(encodePayload(readExactly("[-0, 0.0]")).text).toBe("[0,0]");
    const longest = `-1.${"5".repeat(EXACT_DIGITS_MAX - 3)}`;
    expect(encodePayload(readExactly(longest)).text).toBe(longest);
  });

  test.each([
    [{ at: new Date(0) }, "payload.at", "is an instance of Date: give an ISO string"],
    [{ items: [0, 0, 0, { at: new Date(0) }] }, "payload.items[3].at", "instance of Date"],
    [{ n: 1n }, "payload.n", "is a bigint: give a string"],
    [{ n: Number.NaN }, "payload.n", "is NaN"],
    [[Number.NEGATIVE_INFINITY], "payload[0]", "is -Infinity"],
    [{ n: 2 ** 53 }, "payload.n", "beyond"],
    [{ n: readExactly("1e400") }, "payload.n", "beyond the largest"],
    [{ n: readExactly(`0.${"1".repeat(EXACT_DIGITS_MAX)}`) }, "payload.n", "more than 1000 digits"],
    [{ n: rawText() }, "payload.n", "raw JSON"],
    [{ n: -(2 ** 53) }, "payload.n", "beyond"],
    [{ n: 1e300 }, "payload.n", "beyond"],
    [{ text: "a\0b" }, "payload.text", "U+0000"],
    [{ "a\0": 1 }, 'payload["a\\u0000"]', "U+0000"],
    [{ text: "a\ud800" }, "payload.text", "surrogate"],
    [{ "\udc00": 1 }, 'payload["\\udc00"]', "surrogate"],
    [JSON.parse('{"a":{"__proto__":{"admin":true}}}'), "payload.a.__proto__", "prototype"],
    [{ a: new Map([[1, 2]]) }, "payload.a", "instance of Map: give an array of entries"],
    [{ a: new Set([1]) }, "payload.a", "instance of Set: give an array"],
    [{ a: new Invoice() }, "payload.a", "instance of Invoice: give a plain object"],
    [{ a: new (anonymous())() }, "payload.a", "instance of a class: give a plain object"],
    [{ a: Object.create({ inherited: 1 }) }, "payload.a", "instance of Object"],
    [{ a: Object.create(Object.create(null)) }, "payload.a", "instance of a class"],
    [{ a: Buffer.from("x") }, "payload.a", "instance of Buffer: give a base64 string"],
    [{ a: new Float64Array(1) }, "payload.a", "instance of Float64Array"],
    [{ a: new (class List extends Array {})() }, "payload.a", "instance of List"],
    [{ a: Object("boxed") }, "payload.a", "instance of String"],
    [{ a: /x/ }, "payload.a", "instance of RegExp"],
    [{ a: new TypeError("x") }, "payload.a", "instance of TypeError: give its message"],
    [{ a: Promise.resolve() }, "payload.a", "instance of Promise: give what it resolves to"],
    [{ a: () => 1 }, "payload.a", "is a function"],
    [{ toJSON: () => 1 }, "payload.toJSON", "is a function"],
    [{ a: Symbol("x") }, "payload.a", "is a symbol"],
    [{ a: { [Symbol("x")]: 1 } }, "payload.a", "symbol as key"],
    [[1, undefined], "payload[1]", "is undefined: give null"],
    // oxlint-disable-next-line no-sparse-arrays -- A hole is what is tested.
    [[1, , 3], "payload[1]", "hole"],
    [{ a: "abc".match(/b/) }, "payload.a", "named properties"],
    [{ "odd key": [() => 1] }, 'payload["odd key"][0]', "is a function"],
    [{ "": 1n }, 'payload[""]', "is a bigint"],
    [{ größe: { $x_1: 1n } }, "payload.größe.$x_1", "is a bigint"],
    [() => 1, "payload", "is a function"],
  ])("refuses what would not come back as it was (%#)", (value, path, reason) => {
    const error = refusal(encodePayload, value);

    expect(error.code).toBe("PAYLOAD_REFUSED");
    expect(error.details["path"]).toBe(path);
    expect(error.details["reason"]).toContain(reason);
    expect(error.message).toBe(`${path} ${String(error.details["reason"])}.`);
  });

  test("is refused when it cannot be read, with the cause", () => {
    const cause = new Error("no");
    const trap = {
      get secret(): string {
        throw cause;
      },
    };

    const error = refusal(encodePayload, { deep: trap });

    expect(error.message).toBe("payload.deep.secret cannot be read.");
    expect(error.cause).toBe(cause);
  });

  test("is read once, so that what is checked is what is stored", () => {
    let reads = 0;
    const moody = {
      get at(): unknown {
        reads += 1;
        return reads === 1 ? "calm" : new Date(0);
      },
    };

    expect(encodePayload(moody).text).toBe('{"at":"calm"}');
  });

  test("is refused with a path of bounded length", () => {
    const { path } = refusal(encodePayload, { ["k".repeat(5_000)]: 1n }).details;

    expect(path).toHaveLength(1_000);
    expect(path).toMatch(/^payload\.k+…$/);
  });
});

describe("a result", () => {
  test("may be nothing", () => {
    expect(encodeResult(undefined)).toEqual({ text: null, bytes: 0 });
    expect(encodeResult({ toJSON: () => undefined })).toEqual({ text: null, bytes: 0 });
  });

  test.each([
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [[new Date(Number.NaN)], "[null]"],
    [{ home: new URL("https://example.org/") }, '{"home":"https://example.org/"}'],
    [
      { deep: { toJSON: () => ({ at: new Date(0) }) } },
      '{"deep":{"at":"1970-01-01T00:00:00.000Z"}}',
    ],
    [{ n: 1, run: () => 1, mark: Symbol("x"), [Symbol("y")]: 2 }, '{"n":1}'],
    [{ gone: { toJSON: () => undefined } }, "{}"],
    [{ toJSON: "a word", n: null }, '{"toJSON":"a word","n":null}'],
    ["abc".match(/b/), '["b"]'],
  ])("is stored as its public type says (%#)", (value, text) => {
    expect(encodeResult(value).text).toBe(text);
  });

  test.each([
    [{ big: 1n }, "result.big"],
    [{ m: new Map() }, "result.m"],
    [[() => 1], "result[0]"],
    [[{ toJSON: () => undefined }], "result[0]"],
    [{ invoice: new Invoice() }, "result.invoice"],
    [{ deep: { toJSON: () => ({ n: Number.NaN }) } }, "result.deep.n"],
    [() => 1, "result"],
  ])("obeys the same rule otherwise (%#)", (value, path) => {
    const error = refusal(encodeResult, value);

    expect(error.code).toBe("RESULT_REFUSED");
    expect(error.details["path"]).toBe(path);
  });

  test("is refused when its toJSON throws", () => {
    const broken = {
      toJSON: () => {
        throw new Error("no");
      },
    };

    expect(refusal(encodeResult, { broken }).message).toBe("result.broken cannot be read.");
  });
});

describe("decode", () => {
  test("gives back what was stored, and undefined where nothing was", () => {
    expect(decode('{"a":[1]}')).toEqual({ a: [1] });
    expect(decode(null)).toBeUndefined();
  });

  test("names a text that was damaged", () => {
    expect(() => decode("[1,", "the result of job 7")).toThrow(
      expect.objectContaining({
        code: "STORE_CORRUPT",
        message: "the result of job 7 is damaged: it is not JSON",
      }),
    );
    expect(() => decode("")).toThrow("a stored value is damaged");
  });
});

describe("canonicalJson", () => {
  test.each([
    ['{"b":1,"a":{"d":[{"z":1,"y":2}],"c":null}}', '{"a":{"c":null,"d":[{"y":2,"z":1}]},"b":1}'],
    ['{"10":1,"9":2,"é":3,"z":4,"Z":5}', '{"10":1,"9":2,"Z":5,"z":4,"é":3}'],
    ['{ "n": 1.0, "s": "\\u00e9" }', '{"n":1,"s":"é"}'],
    ["true", "true"],
  ])("writes %s in one way only", (text, canonical) => {
    expect(canonicalJson(text)).toBe(canonical);
  });
});
