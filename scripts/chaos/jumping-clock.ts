/**
 * Loaded before anything else in every thread of a process: a wall clock that jumps by as many
 * milliseconds as a file says, while the steady clock and all timers go on as before. This stands
 * in for libfaketime, which a machine may not have; `Date.now` is the one door through which the
 * library reads the wall clock.
 */
import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 10;

const file = process.env["MILLRACE_CHAOS_CLOCK"] ?? "";
const trueNow = Date.now;
let offsetMs = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

Date.now = () => {
  const at = performance.now();
  if (at - lookedAt > LOOK_EVERY_MS) {
    lookedAt = at;
    offsetMs = Number(readFileSync(file, "utf8"));
  }
  return trueNow() + offsetMs;
};
