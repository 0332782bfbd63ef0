/** Splits a batch: to isolate the item that the database refuses, or to bound its weight. */
import type { RunNote } from "../../types/notes.ts";
import { isRefused } from "../database/errors.ts";
import type { Session } from "../database/session.ts";

/** The maximum weight of notes in one transaction, which blocks the event loop. */
const NOTES_WEIGHT_MAX = 1_000;

/** Processes items together. A refused batch is halved until each refused item is alone. */
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
 * Runs a part of a verb within a savepoint. When the database refuses a value, only this part is
 * rolled back, with its events and cached names, and `refused` gives the answer.
 */
function unlessRefused<Answer>(
  session: Session,
  work: () => Answer,
  refused: (error: unknown) => Answer,
): Answer {
  const { sql, names, outbox } = session;
  const savepoint = outbox.savepoint();
  sql.run("save_part", {});
  try {
    const answer = work();
    sql.run("keep_part", {});
    return answer;
  } catch (error) {
    if (!isRefused(error)) throw error;
    sql.run("undo_part", {});
    sql.run("keep_part", {});
    outbox.rollBackTo(savepoint);
    names.forget();
    return refused(error);
  }
}

/** Splits notes into batches of bounded weight. The order of notes is kept. */
export function batchesOf(notes: readonly RunNote[]): readonly RunNote[][] {
  const batches: RunNote[][] = [];
  let weight = Infinity;
  for (const note of notes) {
    const own = weightOf(note);
    weight += own;
    const batch = weight > NOTES_WEIGHT_MAX ? undefined : batches.at(-1);
    if (batch === undefined) {
      batches.push([note]);
      weight = own;
    } else batch.push(note);
  }
  return batches;
}

function weightOf(note: RunNote): number {
  const parts = [note.units, note.releases, note.logs, note.children];
  return parts.reduce((sum, part) => sum + (part?.length ?? 0), 1);
}
