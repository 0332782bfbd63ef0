/** Translates errors of a caller's transaction. */
import { MillraceError } from "../../../core/errors.ts";
import { failureOf, Outdated } from "../database/errors.ts";

/** Properties in which libraries wrap the error of the server, which has the SQLSTATE. */
const WRAPPINGS = ["cause", "driverError", "meta", "driverAdapterError"];
const DEPTH_MAX = 6;

/** SQLSTATEs of missing or changed objects. */
const MISSING = /^(3F000|42P01|42883|42703)$/;

/** Translates an error of any library. `storeError` translates the rest. */
export function callerError(error: unknown, schema: string): unknown {
  if (error instanceof MillraceError || error instanceof Outdated) return error;
  if (failureOf(error) === "lost") return error;
  const state = sqlStateIn(error, DEPTH_MAX);
  if (state === null) return unusable(`it did not run the statement: ${firstLine(error)}`, error);
  if (state === "25P02") {
    const message = "the transaction was aborted by an earlier error and must be rolled back";
    return new MillraceError("TX_ABORTED", message, { cause: error });
  }
  if (MISSING.test(state)) return otherDatabase(schema, error);
  if (state === "25006") return unusable("it is read-only", error);
  const plain = new Error(firstLine(error), { cause: error });
  return Object.assign(plain, { code: state });
}

export function otherDatabase(schema: string, cause?: unknown): MillraceError {
  const where = "it belongs to another database than the store";
  return unusable(`${where}, or the schema ${JSON.stringify(schema)} is gone`, cause);
}

function unusable(why: string, cause: unknown): MillraceError {
  return new MillraceError("TX_INVALID", `tx cannot be used: ${why}`, { cause });
}

function sqlStateIn(error: unknown, depth: number): string | null {
  if (typeof error !== "object" || error === null || depth === 0) return null;
  const code: unknown = Reflect.get(error, "code");
  const isOwn = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !("syscall" in error);
  // Prisma's own codes, such as P2010, have five characters too; no SQLSTATE class has this form.
  if (isOwn && !/^P[1-9]/.test(code)) return code;
  for (const wrapping of WRAPPINGS) {
    const state = sqlStateIn(Reflect.get(error, wrapping), depth - 1);
    if (state !== null) return state;
  }
  return null;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n").find((line) => line.trim() !== "") ?? "";
}
