/** How long a job of a lane may wait for a slot before an operator should look. */

/** Jobs of the lane `fast` are there for people who wait. */
const FAST_TARGET_MS = 2 * 60_000;
const TARGET_MS = 5 * 60_000;

export function laneTargetMs(lane: string): number {
  return lane === "fast" ? FAST_TARGET_MS : TARGET_MS;
}
