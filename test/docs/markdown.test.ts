import { describe, expect, test } from "vitest";
import { anchorsOf, blocksOf, linksOf } from "./markdown.ts";
import { hasLines, isShown, promisedLines } from "./shown-output.ts";

const FENCE = "```";

describe("the blocks of a page", () => {
  test("have a language, code and a line", () => {
    const page = `# Title\n\n${FENCE}ts\nhello();\n\nbye();\n${FENCE}\n`;

    expect(blocksOf(page)).toMatchObject([
      { line: 3, language: "ts", code: "hello();\n\nbye();\n", notRun: null, setup: "" },
    ]);
  });

  test("have what the comments right above them say", () => {
    const page = [
      "<!-- not run: it takes hours -->",
      "",
      `${FENCE}sh\nslow\n${FENCE}`,
      "<!-- wait for: sent to ada -->",
      "<!-- setup:",
      "const a = 1;",
      "-->",
      "<!-- then: bye(a); -->",
      `${FENCE}ts\nhello(a);\n${FENCE}`,
    ].join("\n");

    expect(blocksOf(page)).toMatchObject([
      { notRun: "it takes hours", waitFor: null, setup: "", behind: "" },
      { notRun: null, waitFor: "sent to ada", setup: "const a = 1;\n", behind: "bye(a);\n" },
    ]);
  });

  test("have nothing of a comment with text between it and the block", () => {
    const page = `<!-- not run: a reason -->\n\nText.\n\n${FENCE}sh\nls\n${FENCE}\n`;

    expect(blocksOf(page)).toMatchObject([{ notRun: null }]);
  });

  test("must have an end", () => {
    expect(() => blocksOf(`${FENCE}sh\nls\n`)).toThrow("line 1");
  });
});

describe("the links and anchors of a page", () => {
  test("are those outside of code", () => {
    const page = `[a](a.md#b-c) and \`[b](b.md)\`\n\n${FENCE}sh\n[c](c.md)\n${FENCE}\n[d](d.md)\n`;

    expect(linksOf(page)).toEqual([
      { line: 1, target: "a.md#b-c" },
      { line: 6, target: "d.md" },
    ]);
  });

  test("are made of headings as code hosts make them", () => {
    const page = "# What `--fix` does\n## Retries, errors: both\n";

    expect([...anchorsOf(page)]).toEqual(["what---fix-does", "retries-errors-both"]);
  });
});

describe("the output that a page shows", () => {
  test("matches with other ids, instants, dates, durations and widths of columns", () => {
    const shown = "ID                          AGE\n01M7MM9VFDEHNTTBMQY3BHN3PE  5.4 s\n";

    expect(isShown(shown, "ID  AGE\n01M7MM9XMNEM090FWKA9CP24GF  2 min 3 s\n")).toBe(true);
    expect(isShown("at 2026-11-17T11:29:33.558Z", "at 2027-01-01T00:00:00.000Z\n")).toBe(true);
    expect(isShown("ends 2026-12-17", "ends 2026-12-18\n")).toBe(true);
  });

  test("has no other line, and no line less", () => {
    expect(isShown("a\nb", "a\nb\n")).toBe(true);
    expect(isShown("a\nb", "a\n")).toBe(false);
    expect(isShown("a", "a\nb\n")).toBe(false);
    expect(isShown("a.c", "abc\n")).toBe(false);
  });

  test("may leave out lines and parts of lines", () => {
    expect(isShown("a\n…\nd", "a\nb\nc\nd\n")).toBe(true);
    expect(isShown("pid … on …", "pid 12 on vm\n")).toBe(true);
    expect(isShown("a\n…", "b\n")).toBe(false);
  });

  test("is also what the comments behind console.log promise", () => {
    const promised = promisedLines("console.log(a); // Hello\nconsole.log(b);\n");

    expect(promised).toEqual(["Hello"]);
    expect(hasLines(promised, "Hello\nelse\n")).toBe(true);
    expect(hasLines(promised, "Hello Ada\n")).toBe(false);
    expect(hasLines(["a", "b"], "b\na\n")).toBe(false);
  });
});
