import { describe, expect, test } from "vitest";
import { MillraceError } from "../../core/errors.ts";
import { exitCodeOfState, CommandFailure, reportError } from "./exit-codes.ts";

describe("an error that ends a command", () => {
  test("prints its code, message and hint, and no stack", () => {
    const error = new MillraceError("STORE_IS_FOLDER", "./jobs is a folder, not a database file");

    const { text } = report(error);

    expect(text).toBe(
      "STORE_IS_FOLDER: ./jobs is a folder, not a database file\nName a file inside the folder.\n",
    );
  });

  test.each([
    ["OPTION_INVALID", 2],
    ["BACKUP_EXISTS", 2],
    ["STORE_CORRUPT", 5],
    ["SQLITE_TOO_OLD", 5],
    ["SERVER_UNREACHABLE", 5],
    ["SERVER_REFUSED", 1],
    ["JOB_FAILED", 1],
    ["ID_INVALID", 2],
    ["PAYLOAD_INVALID", 2],
    ["WAIT_TIMED_OUT", 124],
  ] as const)("%s leaves with exit code %i", (code, exitCode) => {
    expect(report(new MillraceError(code, "x")).exitCode).toBe(exitCode);
  });

  test("is told without a stack when the user can fix it", () => {
    const failure = new CommandFailure("There is no file jobs.ts.", {
      hint: "Check it.",
      exitCode: 2,
    });

    expect(report(failure)).toEqual({
      text: "There is no file jobs.ts.\nCheck it.\n",
      exitCode: 2,
    });
  });

  test("shows its stack when it is a mistake of ours", () => {
    const { text, exitCode } = report(new TypeError("x is not a function"));

    expect(text).toContain("please report it:\nTypeError: x is not a function\n    at ");
    expect(exitCode).toBe(1);
  });
});

describe("a job that was waited for", () => {
  test.each([
    ["completed", 0],
    ["failed", 1],
    ["completed_with_errors", 3],
    ["cancelled", 4],
  ] as const)("%s leaves with exit code %i", (state, exitCode) => {
    expect(exitCodeOfState(state)).toBe(exitCode);
  });
});

function report(error: unknown): { text: string; exitCode: number } {
  let text = "";
  const exitCode = reportError(error, { out: () => {}, err: (part) => void (text += part) });
  return { text, exitCode };
}
