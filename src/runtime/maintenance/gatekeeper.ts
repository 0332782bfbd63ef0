/**
 * Moves jobs behind a closed gate or a taken concurrency key out of the queue, and back into the
 * queue when gate or key is free. Also resolves dependencies that the end of a job has missed. The
 * promoter wakes the gatekeeper while there are gates, keys or dependencies.
 */
import type { Ticker } from "../ticker.ts";
import { makeDuty, MOVE_BATCH, REST_MS, type DutyParts } from "./duty.ts";

/**
 * One job per key is released at a time. If no worker takes it, the next one may be wanted: soon,
 * but not at once, because a key also stays free while all slots are busy, or while it is left to a
 * job that must run alone.
 */
const NEXT_OF_KEY_MS = 20;

export function gatekeeper({ store, pollMs, ...parts }: DutyParts): Ticker {
  return makeDuty(parts, pollMs, async () => {
    const released = await store.release(MOVE_BATCH);
    const resolved = await store.resolveDependencies(MOVE_BATCH);
    const held = await store.hold(MOVE_BATCH);
    if (Math.max(released, resolved, held) >= MOVE_BATCH) return 0;
    return released > 0 ? NEXT_OF_KEY_MS : REST_MS;
  });
}
