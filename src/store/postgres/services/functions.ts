/** runFunction: calls a function of the application that is registered in the database. */
import { MillraceError, type ErrorCode } from "../../../core/errors.ts";
import type { JsonText } from "../../../core/job.ts";
import { shown } from "../../../core/text.ts";
import { systemClock } from "../../../lib/system.ts";
import type { CallLimits } from "../../types/services.ts";
import { failureOf, sqlState } from "../database/errors.ts";
import { repeating } from "../database/retry.ts";
import type { Session } from "../database/session.ts";

/** The SQLSTATE of `run_function` for a name that is not registered. */
const UNREGISTERED = "MR018";
/** The server has cancelled the statement, for a time-out or at the request of a client. */
const CANCELLED = "57014";
/** The installation has no `run_function`. */
const UNDEFINED_FUNCTION = "42883";

/**
 * Conditions of the server, a session or the installation, and a missing privilege. A function may
 * raise any other code as its own.
 */
const OF_DATABASE = /^(08|25|28|3D|40|53|55|57|58|F0|XX|MR00|42501$)/;

/** Functions are idempotent by their contract, so a call whose answer was lost is repeated. */
export async function runFunction(
  session: Session,
  name: string,
  payload: JsonText,
  { leftMs = null, signal }: CallLimits = {},
): Promise<JsonText> {
  const endsAt = leftMs === null ? null : systemClock.monotonic() + leftMs;
  const call = (): Promise<JsonText> => {
    signal?.throwIfAborted();
    const limitMs = endsAt === null ? null : Math.max(1, endsAt - systemClock.monotonic());
    return session.call(
      async (sql) =>
        (await sql.get("run_function", { schema: session.schema, name, payload }))?.answer ??
        "null",
      { limitMs, signal },
    );
  };
  try {
    return await repeating(session.dice, call);
  } catch (error) {
    // The end of the run decides by itself what has happened.
    signal?.throwIfAborted();
    throw timedOut(error, { name, leftMs }) ?? meaningOf(error, name) ?? error;
  }
}

/** The error of a function that has used up the time of its run; null: it has not. */
function timedOut(
  error: unknown,
  { name, leftMs }: { readonly name: string; readonly leftMs: number | null },
): MillraceError | null {
  if (leftMs === null || sqlState(error) !== CANCELLED || !(error instanceof Error)) return null;
  if (!error.message.includes("statement timeout")) return null;
  const limit = `${Math.round(leftMs)} ms, the time that was left to the run`;
  const message = `the function ${shown(name)} did not end within ${limit}`;
  return failed("FUNCTION_FAILED", message, { name, error });
}

/** What an error of the function means; null: the error is not one of the function. */
function meaningOf(error: unknown, name: string): MillraceError | null {
  const state = sqlState(error);
  if (state === null || !(error instanceof Error)) return null;
  const isMissing = state === UNDEFINED_FUNCTION && error.message.includes("run_function(");
  if (state === UNREGISTERED || isMissing) {
    return failed("FUNCTION_UNKNOWN", `there is no function ${shown(name)}`, { name, error });
  }
  if (OF_DATABASE.test(state) || !isAnswered(error)) return null;
  const message = `the function ${shown(name)} raised: ${error.message}`;
  return failed("FUNCTION_FAILED", message, { name, error });
}

/** The server has executed the statement and refused it. */
function isAnswered(error: unknown): boolean {
  return ["refused", "other"].includes(failureOf(error));
}

function failed(
  code: ErrorCode,
  message: string,
  { name, error }: { name: string; error: Error },
): MillraceError {
  const details = { function: name, sqlState: sqlState(error) };
  return new MillraceError(code, message, { cause: error, details });
}
