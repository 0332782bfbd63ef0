/** Moves scheduled jobs to the queue when they are due, and sleeps until the next due time. */
import type { Ticker } from "../ticker.ts";
import { makeDuty, MOVE_BATCH, type DutyParts } from "./duty.ts";

export function promoter({ store, pollMs, ...parts }: DutyParts): Ticker {
  return makeDuty(parts, pollMs, async () => {
    const { moved, nextDueMs } = await store.promote(MOVE_BATCH);
    if (moved === MOVE_BATCH) return 0;
    return Math.min(nextDueMs ?? pollMs, pollMs);
  });
}
