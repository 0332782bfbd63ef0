import { describe, expect, test } from "vitest";
import { terminalLogger } from "./log.ts";

const circular: Record<string, unknown> = { rows: 10n };
circular["self"] = circular;

function logged(isWatched: boolean, fields: object): string {
  let text = "";
  const err = (part: string): void => void (text += part);
  terminalLogger({ out: () => {}, err, isWatched }, { now: () => 0 }).warn("rows", fields);
  return text;
}

describe("what a worker logs", () => {
  test("is a line of JSON for programs, whatever its fields are", () => {
    const line = logged(false, { circular, name: "\u009b2J" });

    expect(JSON.parse(line)).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      msg: "rows",
      circular: { rows: "10", self: "[circular]" },
      name: "\u009b2J",
    });
    expect(line).toContain(String.raw`\u009b2J`);
  });

  test("is a line for people, and a stack with its causes keeps its lines", () => {
    expect(logged(true, { circular, name: "\u009b2J" })).toBe(
      '00:00:00 warn rows circular={"rows":"10","self":"[circular]"} name=\ufffd2J\n',
    );
    const error = new Error("outer", { cause: new Error("inner") });
    expect(logged(true, { error })).toMatch(
      /error: Error: outer\n +at [^]+\nCaused by: Error: inner/,
    );
  });
});
