/**
 * Stopping gracefully on SIGTERM and SIGINT, for those who ask for it. A library never does
 * unasked.
 */
import { constants } from "node:os";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** The first signal stops, a second one leaves at once. Answers how to end the listening. */
export function stopOnSignals(stop: () => Promise<void>): () => void {
  let isAsked = false;
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      if (isAsked) process.exit(128 + constants.signals[signal]);
      isAsked = true;
      // What would not end is reported by whoever awaits the stop.
      stop().catch(() => {});
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
