/**
 * Stopping gracefully on SIGTERM and SIGINT, for those who ask for it. A library never does
 * unasked.
 */
import { constants } from "node:os";
import type { Logger } from "../api/context.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** The first signal stops, a second one leaves at once. Answers how to end the listening. */
export function stopOnSignals(stop: () => Promise<void>, logger: Logger): () => void {
  let isAsked = false;
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      if (isAsked) process.exit(128 + constants.signals[signal]);
      isAsked = true;
      stop().catch((error) => {
        process.exitCode = 1;
        logger.error("the worker did not stop cleanly", { error });
      });
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
