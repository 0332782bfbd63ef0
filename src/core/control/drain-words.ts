/** The words about the target of a drain, and the error of a drain that took too long. */
import type { RunningNow } from "./drain.ts";
import { formatDuration } from "../duration.ts";
import { MillraceError } from "../errors.ts";

/** Such as `the lane reports`. */
function targetWords({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return kind === "installation" ? "the installation" : `the ${kind} ${name}`;
}

export function drainTimedOut(
  target: { readonly kind: string; readonly name: string },
  { running, atLeast, ids, claims }: RunningNow,
  timeoutMs: number,
): MillraceError {
  const least = atLeast ? "at least " : "";
  const jobs = running === 1 ? "job still runs" : "jobs still run";
  const what =
    running === 0 && claims.length > 0
      ? `${claims.length} claim(s) are still under way`
      : `${least}${running} ${jobs}`;
  const state = target.kind === "worker" ? "quiet" : "paused";
  const late = `${what} after ${formatDuration(timeoutMs)}`;
  const message = `${late}; ${targetWords(target)} stays ${state}`;
  return new MillraceError("DRAIN_TIMED_OUT", message, {
    details: { ...target, running, atLeast, ids },
  });
}
