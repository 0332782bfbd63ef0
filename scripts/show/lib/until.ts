/** Waiting for something to become true, but not for ever. */
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_EVERY_MS = 20;

/** Looks until the answer is neither null nor false. Rejects after `limitMs`, naming `what`. */
export async function until<T>(
  what: string,
  limitMs: number,
  look: () => T | null | false | Promise<T | null | false>,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const answer = await look();
    if (answer !== null && answer !== false) return answer;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`waited ${limitMs} ms in vain until ${what}`);
}
