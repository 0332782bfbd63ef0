/** runFunction: SQLite has no functions of the application. */
import { MillraceError } from "../../../core/errors.ts";
import { shown } from "../../../core/text.ts";
import type { Session } from "../database/session.ts";

export function runFunction(_session: Session, name: string): never {
  throw new MillraceError("FUNCTION_UNKNOWN", `there is no function ${shown(name)}`, {
    details: { function: name },
    hint: "Name the function in functions of mill.work: SQLite has no functions of its own.",
  });
}
