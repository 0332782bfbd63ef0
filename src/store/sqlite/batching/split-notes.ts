/** Notes in pieces of bounded weight. */
import type { RunNote } from "../../types/notes.ts";

/** What notes may weigh that are kept at once: they hold up the event loop. */
const NOTES_WEIGHT_MAX = 1_000;

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
