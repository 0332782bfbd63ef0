/** Parts of a verb that may be undone by themselves. */
import type { RunNote } from "../../types/notes.ts";
import { isRefused } from "../database/errors.ts";
import type { Session } from "../database/session.ts";

/** What notes may weigh that are kept at once: they hold up the event loop. */
const NOTES_WEIGHT_MAX = 1_000;

/** Halves what is refused until the bad ones stand alone. */
export function bisect<Item, Answer>(
  session: Session,
  items: readonly Item[],
  work: (items: readonly Item[]) => readonly Answer[],
  refused: (item: Item, error: unknown) => Answer,
): readonly Answer[] {
  if (items.length === 0) return [];
  const answers = unlessRefused<readonly Answer[] | null>(
    session,
    () => work(items),
    (error) => (items.length === 1 ? items.map((item) => refused(item, error)) : null),
  );
  if (answers !== null) return answers;
  const middle = Math.ceil(items.length / 2);
  return [
    ...bisect(session, items.slice(0, middle), work, refused),
    ...bisect(session, items.slice(middle), work, refused),
  ];
}

/**
 * Runs a part of a verb. When the database does not take a value in it, the part alone is undone,
 * with its words to the feed and the names it met, and `refused` answers instead.
 */
function unlessRefused<Answer>(
  session: Session,
  work: () => Answer,
  refused: (error: unknown) => Answer,
): Answer {
  const { sql, names, outbox } = session;
  const mark = outbox.savepoint();
  sql.run("save_part", {});
  try {
    const answer = work();
    sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (!isRefused(error)) throw error;
    sql.run("undo_part", {});
    sql.run("keep_part", {});
    outbox.rollBackTo(mark);
    names.forget();
    return refused(error);
  }
}

/** Notes in pieces that hold nobody up for long; their order stays. */
export function batchesOf(notes: readonly RunNote[]): readonly RunNote[][] {
  const loads: RunNote[][] = [];
  let weight = Infinity;
  for (const note of notes) {
    const own = weightOf(note);
    weight += own;
    const load = weight > NOTES_WEIGHT_MAX ? undefined : loads.at(-1);
    if (load === undefined) {
      loads.push([note]);
      weight = own;
    } else load.push(note);
  }
  return loads;
}

function weightOf(note: RunNote): number {
  const parts = [note.units, note.releases, note.logs, note.children];
  return parts.reduce((sum, part) => sum + (part?.length ?? 0), 1);
}
