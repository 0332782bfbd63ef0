import { describe, expect, test } from "vitest";
import { logLine } from "./log-line.ts";

describe("a line of a log", () => {
  test("of letters beyond the first plane is cut between them, not within one", () => {
    const { message, fields } = logLine(0, "info", "😀".repeat(3_000), { x: "😀".repeat(3_000) });

    expect(message.isWellFormed()).toBe(true);
    expect(JSON.parse(fields ?? "").cut.isWellFormed()).toBe(true);
  });

  test("tells an escape that is no text from one that only looks like it", () => {
    const { fields } = logLine(0, "info", "m", { a: "\0", b: "\\u0000", c: "\\\0", d: "\u0001" });

    expect(JSON.parse(fields ?? "")).toEqual({ a: "�", b: "\\u0000", c: "\\�", d: "\u0001" });
    expect(fields).not.toContain(String.raw`:"\u0000`);
  });

  test("takes a text or bytes in the place of fields as one, not letter by letter", () => {
    const fieldsOf = (given: unknown): unknown =>
      JSON.parse(logLine(0, "info", "m", given).fields ?? "");

    expect(fieldsOf("body")).toEqual({ fields: "body" });
    expect(fieldsOf(new Uint8Array(5))).toEqual({ fields: "[5 bytes]" });
    expect(fieldsOf({ body: Buffer.alloc(7) })).toEqual({ body: "[7 bytes]" });
  });

  test("of exactly 4,000 characters is whole", () => {
    expect(logLine(0, "info", "x".repeat(4_000), undefined)).toEqual({
      at: 0,
      level: "info",
      message: "x".repeat(4_000),
      fields: null,
    });
  });
});
