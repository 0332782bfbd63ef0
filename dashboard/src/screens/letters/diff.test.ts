import { describe, expect, it } from "vitest";
import { changeCount, diffLines, shortened } from "./diff.ts";

function drawn(before: string, after: string): string {
  const sign = { same: " ", del: "-", ins: "+" };
  return diffLines(before, after)
    .map(({ kind, text }) => sign[kind] + text)
    .join("\n");
}

/** What is left of a text when only its lines of the difference are taken. */
function side(before: string, after: string, without: "del" | "ins"): string {
  return diffLines(before, after)
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join("\n");
}

describe("diffLines", () => {
  it("finds no change in equal texts", () => {
    const lines = diffLines("a\nb", "a\nb");
    expect(lines.map(({ kind }) => kind)).toEqual(["same", "same"]);
    expect(changeCount(lines)).toBe(0);
  });

  it("shows a replaced line as removed and added", () => {
    expect(drawn("{\n1\n}", "{\n2\n}")).toBe(" {\n-1\n+2\n }");
  });

  it("keeps lines that moved down beside an added line", () => {
    expect(drawn("a\nb\nc", "a\nx\nb\nc")).toBe(" a\n+x\n b\n c");
    expect(drawn("a\nx\nb\nc", "a\nb\nc")).toBe(" a\n-x\n b\n c");
  });

  it("keeps a common line between two changes", () => {
    expect(drawn("1\nk\n2", "3\nk\n4")).toBe("-1\n+3\n k\n-2\n+4");
  });

  it("numbers lines as they stand in each text", () => {
    const lines = diffLines("a\nb\nc", "a\nx\ny\nc");
    expect(lines.map(({ before, after }) => [before, after])).toEqual([
      [1, 1],
      [2, null],
      [null, 2],
      [null, 3],
      [3, 4],
    ]);
  });

  it("gives back both texts, whatever they are", () => {
    const texts = ["", "a", "a\na", "a\nb\na\nb", "b\nb\na", "c\na\nb\nd\n", "\n\n"];
    for (const before of texts) {
      for (const after of texts) {
        expect(side(before, after, "ins")).toBe(before);
        expect(side(before, after, "del")).toBe(after);
      }
    }
  });

  it("replaces the whole middle when the texts are too large to compare", () => {
    const before = Array.from({ length: 3_000 }, (_, n) => `a${n}`);
    const after = before.map((line, n) => (n === 1_500 ? line : `b${line}`));
    const lines = diffLines(before.join("\n"), after.join("\n"));
    expect(lines.filter(({ kind }) => kind === "same")).toHaveLength(0);
    expect(lines).toHaveLength(6_000);
  });
});

describe("the mark of a line", () => {
  function marks(before: string, after: string): readonly string[] {
    return diffLines(before, after).map(({ text, mark }) =>
      mark === undefined ? "" : text.slice(mark.from, mark.to),
    );
  }

  it("is what differs between the two lines", () => {
    expect(marks('"currency": "dkk",', '"currency": "DKK",')).toEqual(["dkk", "DKK"]);
  });

  it("does not cut a character that has two units", () => {
    expect(marks("x😀y", "x😁y")).toEqual(["😀", "😁"]);
  });

  it("is missing where the number of lines differs", () => {
    expect(marks("a", "b\nc")).toEqual(["", "", ""]);
  });
});

describe("changeCount", () => {
  it("counts places, not lines", () => {
    expect(changeCount(diffLines("1\nk\n2", "3\nk\n4\n5"))).toBe(2);
  });
});

describe("shortened", () => {
  const text = Array.from({ length: 20 }, (_, n) => String(n)).join("\n");

  it("hides lines far from a change", () => {
    const lines = shortened(diffLines(text, text.replace("\n10\n", "\nten\n")), 2);
    expect(lines[0]).toEqual({ kind: "gap", count: 8 });
    expect(lines.at(-1)).toEqual({ kind: "gap", count: 7 });
    expect(lines).toHaveLength(8);
  });

  it("shows a single line instead of a gap", () => {
    const lines = shortened(diffLines("a\nb\nc", "a\nb\nx"), 1);
    expect(lines.map(({ kind }) => kind)).toEqual(["same", "same", "del", "ins"]);
  });
});
