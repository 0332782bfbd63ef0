import { describe, expect, test } from "vitest";
import { parseQuery, queryText, withTerm } from "./query.ts";

describe("the query language", () => {
  test("reads keys, signs and values, and words without a key", () => {
    expect(parseQuery("type:email payload.user.id=42 age<1h refund")).toEqual({
      terms: [
        { key: "type", sign: ":", value: "email" },
        { key: "payload.user.id", sign: "=", value: "42" },
        { key: "age", sign: "<", value: "1h" },
      ],
      words: ["refund"],
    });
  });

  test("reads values in quotes, also with quotes inside, and one that does not end", () => {
    expect(parseQuery('error:"time \\"out\\"" "two words"')).toEqual({
      terms: [{ key: "error", sign: ":", value: 'time "out"' }],
      words: ["two words"],
    });
    expect(parseQuery('error:"open').terms).toEqual([{ key: "error", sign: ":", value: "open" }]);
  });

  test("writes what it has read", () => {
    const text = 'state:failed error:"time out" payload.a="x \\"y\\"" word';

    expect(queryText(parseQuery(text))).toBe(text);
  });

  test("replaces and removes a term", () => {
    expect(withTerm("type:email state:failed", "state", "running")).toBe(
      "type:email state:running",
    );
    expect(withTerm("type:email state:failed", "state", null)).toBe("type:email");
  });
});
