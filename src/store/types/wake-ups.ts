/** What a wake-up says about claimable jobs. */
import type { WakeUp } from "../store.ts";

const READY_IN = "ready:";

export function readyIn(lane: string): WakeUp {
  return `${READY_IN}${lane}`;
}

/** A job may be claimable, perhaps of a known lane. Null: the wake-up does not concern claims. */
export function hintOf(wakeUp: WakeUp): { readonly lane?: string } | null {
  if (wakeUp === "work" || wakeUp === "ready") return {};
  return isReadyIn(wakeUp) ? { lane: wakeUp.slice(READY_IN.length) } : null;
}

/** The wake-up that replaces two: equal ones, or two that concern claims. */
export function mergeWakeUps(first: WakeUp, second: WakeUp): WakeUp {
  if (first === second) return first;
  return first === "work" || second === "work" ? "work" : "ready";
}

export function isWakeUp(word: string): word is WakeUp {
  return ["work", "ready", "final", "events"].includes(word) || isReadyIn(word);
}

function isReadyIn(word: string): word is `ready:${string}` {
  return word.startsWith(READY_IN);
}
