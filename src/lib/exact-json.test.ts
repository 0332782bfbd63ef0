import { describe, expect, test } from "vitest";
import { isExactNumber, readExactly } from "./exact-json.ts";

describe("readExactly", () => {
  test("keeps the digits of numbers that JavaScript cannot hold", () => {
    const text = '{"id":12345678901234567890,"rate":0.10000000000000000001,"list":[1e400,1.0]}';

    expect(JSON.stringify(readExactly(text))).toBe(text);
  });

  test("reads everything else as JSON.parse does", () => {
    const text = '{"a":[1,2.5,true,null,"x"],"b":{"c":-3}}';

    expect(readExactly(text)).toEqual(JSON.parse(text));
    expect(isExactNumber(readExactly("12"))).toBe(false);
    expect(isExactNumber(readExactly("12345678901234567890"))).toBe(true);
  });
});
