/** Stops a worker gracefully on SIGTERM and SIGINT, if the option `signals` is set. */
import { constants } from "node:os";
import type { Logger } from "../api/context.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** The first signal stops the worker, a second one exits at once. Returns how to stop listening. */
export function stopOnSignals(stop: () => Promise<void>, logger: Logger): () => void {
  let isStopping = false;
  const listeners = SIGNALS.map((signal) => {
    const listener = (): void => {
      if (isStopping) process.exit(128 + constants.signals[signal]);
      isStopping = true;
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
