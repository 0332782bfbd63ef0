/**
 * Continues removals of tenants, so that a removal ends although the process that began it has died
 * or has given up. A removal whose jobs still run, or are needed by others, rests until the next
 * look.
 */
import { continueRemoval } from "../../jobs/tenant-removal.ts";
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, type DutyParts } from "./duty.ts";

const LOOK_MS = 10_000;
/** Removals that are continued in one turn, and how long one of them is. */
const REMOVALS_MAX = 10;
const TURN_MS = 1_000;

export function tenantRemover(
  parts: Pick<DutyParts, "store" | "clock" | "random" | "logger">,
): Ticker {
  const { store, random } = parts;
  return makeDuty(parts, LOOK_MS, async () => {
    let isMore = false;
    for (const removal of await store.openRemovals(REMOVALS_MAX)) {
      if (await continueRemoval(parts, removal, TURN_MS)) isMore = true;
    }
    return isMore ? 0 : jittered(LOOK_MS, random());
  });
}
