/**
 * Continues removals of tenants, so that a removal ends although the process that began it has died
 * or has given up. A removal whose jobs still run, or are needed by others, rests until the next
 * look, and one that fails is tried again then: neither keeps others waiting.
 */
import { continueRemoval } from "../../jobs/tenant-removal.ts";
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, type DutyParts } from "./duty.ts";

/** How often a removal that rests is looked at, and whether there is one. */
const REST_MS = 10_000;
const LOOK_MS = 30_000;
/** Removals of one turn: more than an installation has, since those that rest come first again. */
const REMOVALS_MAX = 1_000;
/** How long one removal is continued before the next one. */
const TURN_MS = 1_000;

export function tenantRemover(
  parts: Pick<DutyParts, "store" | "clock" | "random" | "logger">,
): Ticker {
  const { store, random, logger } = parts;
  const ticker: Ticker = makeDuty(parts, LOOK_MS, async () => {
    let isMore = false;
    const removals = await store.openRemovals(REMOVALS_MAX);
    for (const removal of removals) {
      if (ticker.isStopped) break;
      try {
        if (await continueRemoval(parts, removal, TURN_MS)) isMore = true;
      } catch (error) {
        logger.error("a removal failed; trying again", { tenant: removal.tenant, error });
      }
    }
    return isMore ? 0 : jittered(removals.length > 0 ? REST_MS : LOOK_MS, random());
  });
  return ticker;
}
