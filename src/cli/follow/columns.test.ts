import { describe, expect, test } from "vitest";
import { columnsOf, cutTo, fitTo } from "./columns.ts";

describe("the columns of a text", () => {
  test.each([
    ["editions", 8],
    ["ÄÖÜ", 3],
    ["e\u0301a", 2],
    ["文書", 4],
    ["한글、ＡＢ", 10],
    ["🚀 up", 5],
    ["👩‍👩‍👧", 2],
    ["█░", 2],
    ["\u200b", 0],
    ["", 0],
  ])("of %j are %i", (text, columns) => {
    expect(columnsOf(text)).toBe(columns);
  });
});

describe("a text that is cut", () => {
  test.each([
    ["editions", 8, "editions"],
    ["editions", 7, "editio…"],
    ["editions", 1, "…"],
    ["editions", 0, ""],
    ["文書出版", 6, "文書…"],
    ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
  ])("turns %j at %i columns into %j", (text, columns, cut) => {
    expect(cutTo(text, columns)).toBe(cut);
  });

  test("is filled where it is too short for its column", () => {
    expect(fitTo("ab", 4)).toBe("ab  ");
    expect(fitTo("文書", 5)).toBe("文書 ");
    expect(fitTo("文書出", 5)).toBe("文書…");
    expect(fitTo("文書出", 4)).toBe("文… ");
  });
});
