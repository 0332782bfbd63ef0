/** What a stop of a worker does about steps that fail, and how it reports the rest. */
import { formatDuration } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import type { Logger } from "../api/context.ts";

/** A step that fails does not prevent the following steps. False: the step has failed. */
export async function tryStep(logger: Logger, step: () => Promise<unknown>): Promise<boolean> {
  try {
    await step();
    return true;
  } catch (error) {
    logger.warn("a step of the stop failed; the stop continues", { error });
    return false;
  }
}

export function stopTimedOut(count: number, graceMs: number): MillraceError {
  const message = `${count} handler(s) did not end within ${formatDuration(graceMs)}`;
  return new MillraceError("STOP_TIMED_OUT", `${message}; their jobs were returned to the queue`);
}

/** `stuck` is the number of handlers that did not end. */
export function resultsNotStored(count: number, stuck: number): MillraceError {
  const message = `cannot store the results of ${count} run(s)`;
  const handlers = stuck > 0 ? `, ${stuck} of handler(s) that did not end` : "";
  const next = "another worker rescues their jobs, and each is charged with a crash";
  return new MillraceError("STOP_TIMED_OUT", `${message}${handlers}; ${next}`);
}
