import { expect, test } from "vitest";
import { isInexact, markedJson } from "./inexact.ts";

test.each([
  [{ id: 2 ** 53, text: "9007199254740992", near: [2 ** 53 - 1, 1.5] }, "≈ 9007199254740992"],
  [[-(2 ** 53)], "≈ -9007199254740992"],
  [1e300, "≈ 1e+300"],
])("a number that may have lost digits is marked in %j", (value, marked) => {
  const text = markedJson(value) ?? "";

  expect(text).toContain(marked);
  expect(text.split("≈")).toHaveLength(2);
  expect(text.replace("≈ ", "")).toBe(JSON.stringify(value));
});

test("other values are written as they are", () => {
  const value = { a: [1, "≈", '"7', null, true], b: { c: 0.1 } };

  expect(markedJson(value)).toBe(JSON.stringify(value));
  expect(markedJson(undefined)).toBeNull();
  expect([isInexact("9007199254740992"), isInexact(7)]).toEqual([false, false]);
});
