import { expect, test } from "vitest";
import type { Json } from "../payload.ts";
import { jsonDifference } from "./json-difference.ts";

test.each([
  [{ a: 1 }, { a: 1 }, []],
  [{ a: 1 }, { a: 2 }, [{ path: "$.a", before: 1, after: 2 }]],
  [{ a: 1 }, {}, [{ path: "$.a", before: 1 }]],
  [{}, { a: null }, [{ path: "$.a", after: null }]],
  [undefined, 5, [{ path: "$", after: 5 }]],
  [5, undefined, [{ path: "$", before: 5 }]],
  [
    [1, { b: 2 }],
    [1, { b: 3 }, 4],
    [
      { path: "$[1].b", before: 2, after: 3 },
      { path: "$[2]", after: 4 },
    ],
  ],
  [{ a: [1] }, { a: { 0: 1 } }, [{ path: "$.a", before: [1], after: { 0: 1 } }]],
  [{ a: 1 }, null, [{ path: "$", before: { a: 1 }, after: null }]],
] as [Json | undefined, Json | undefined, object[]][])(
  "from %j to %j",
  (before, after, changes) => {
    expect(jsonDifference(before, after)).toEqual(changes);
  },
);

test("has at most 100 changes, short values and a bounded depth", () => {
  const many = jsonDifference(
    [],
    Array.from({ length: 200 }, (_, n) => n),
  );
  const [long] = jsonDifference("", "x".repeat(1_000));
  const deep = (leaf: Json): Json =>
    Array.from({ length: 60 }).reduce<Json>((inner) => ({ a: inner }), leaf);

  expect(many).toHaveLength(100);
  expect(long?.after).toMatch(/^"x{499}…$/);
  expect(jsonDifference(deep(1), deep(2))).toMatchObject([{ path: `$${".a".repeat(50)}` }]);
});
