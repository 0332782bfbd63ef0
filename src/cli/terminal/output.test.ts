import { afterEach, describe, expect, test, vi } from "vitest";
import { table } from "./output.ts";

const HEADINGS = ["ID", "STATE", "LAST ERROR"];
const ROWS = [
  ["01JCR5M4X2E8T9V6B3N7K0QWAZ", "queued", ""],
  ["01JCR5M4X2E8T9V6B3N7K0QWB0", "failed", "TransientError: the bank said 503"],
];
const BLOCKS = `id: 01JCR5M4X2E8T9V6B3N7K0QWAZ
state: queued

id: 01JCR5M4X2E8T9V6B3N7K0QWB0
state: failed
last error: TransientError: the bank said 503
`;

describe("a table", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test("has columns where the terminal is wide enough, and in a file", () => {
    const columns = table(HEADINGS, ROWS, 120);

    expect(columns).toMatch(
      /^ID {24} {2}STATE {3}LAST ERROR\n01JC.+ {2}queued\n.+ {2}failed {2}Tra/,
    );
    expect(table(HEADINGS, ROWS, Infinity)).toBe(columns);
    expect(table(HEADINGS, ROWS, 80)).toBe(columns);
  });

  test("has a block for each row at 40 columns", () => {
    expect(table(HEADINGS, ROWS, 40)).toBe(BLOCKS);
  });

  test("keeps its columns at 40 columns if they fit", () => {
    expect(table(["KIND", "NAME"], [["type", "email"]], 40)).toBe("KIND  NAME\ntype  email\n");
  });

  test("knows the width of the terminal behind the output", () => {
    const { stdout } = process;
    vi.stubGlobal("process", { ...process, stdout: { isTTY: true, columns: 40 } });
    expect(table(HEADINGS, ROWS)).toBe(BLOCKS);
    vi.stubGlobal("process", { ...process, stdout: { isTTY: false } });
    expect(table(HEADINGS, ROWS)).toMatch(/^ID /);
    vi.stubGlobal("process", { ...process, stdout: { ...stdout, isTTY: true, columns: 0 } });
    expect(table(HEADINGS, ROWS)).toMatch(/^ID /);
  });
});
