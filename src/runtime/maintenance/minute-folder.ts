/**
 * Adds the runs that settles have counted to the figures of their minutes. Every worker folds, and
 * on PostgreSQL one of them at a time. A worker that finds nothing rests longer.
 */
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, type DutyParts } from "./duty.ts";

/** Batches that one call folds. */
const FOLD_BATCH = 500;
const FOLD_MS = 5_000;
const REST_MS = 30_000;

export function minuteFolder(
  parts: Pick<DutyParts, "store" | "clock" | "random" | "logger">,
): Ticker {
  const { store, random } = parts;
  return makeDuty(parts, FOLD_MS, async () => {
    const folded = await store.foldMinutes(FOLD_BATCH);
    if (folded === FOLD_BATCH) return 0;
    return jittered(folded === 0 ? REST_MS : FOLD_MS, random());
  });
}
