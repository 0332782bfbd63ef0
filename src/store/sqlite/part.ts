/** Parts of a verb that may be undone by themselves. */
import { isRefused } from "./errors.ts";
import type { Session } from "./session.ts";

/**
 * Runs a part of a verb. When the database does not take a value in it, the part alone is undone,
 * with its words to the feed and the names it met, and the answer is null.
 */
export function unlessRefused<Answer>(session: Session, work: () => Answer): Answer | null {
  const { sql, names, tidings } = session;
  const mark = tidings.mark();
  sql.run("save_part", {});
  try {
    const answer = work();
    sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (!isRefused(error)) throw error;
    sql.run("undo_part", {});
    sql.run("keep_part", {});
    tidings.dropSince(mark);
    names.forget();
    return null;
  }
}
