import { afterEach, describe, expect, test, vi } from "vitest";
import { stderrLogger, sturdyLogger } from "./stderr-logger.ts";

afterEach(() => void vi.restoreAllMocks());

describe("the default logger", () => {
  test("writes one JSON object per line, whatever the fields are", () => {
    const lines = capture();
    const fields = { rows: 10n, name: "\u009b2J", error: new Error("no", { cause: "disk" }) };

    stderrLogger("warn", () => 0).warn("rows", fields);

    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[\u0020-\u007e]+\n$/);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      msg: "rows",
      rows: "10",
      name: "\u009b2J",
      error: 'Error: no; caused by "disk"',
    });
  });

  test("leaves out what is less grave than asked", () => {
    const lines = capture();

    stderrLogger("warn", () => 0).info("hello");

    expect(lines).toEqual([]);
  });
});

describe("a logger that throws", () => {
  test("does not harm what it reports on", () => {
    const said: string[] = [];
    const throwing = {
      debug() {},
      info() {},
      warn: (message: string) => void said.push(message),
      error() {
        throw new Error("the log is full");
      },
    };

    const logger = sturdyLogger(throwing);
    logger.error("one");
    logger.warn("two");

    expect(said).toEqual(["two"]);
  });
});

function capture(): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  return lines;
}
