/** How a long-running command is asked to end. */
import { constants } from "node:os";
import type { Clock } from "../../core/clock.ts";

type Signal = "SIGINT" | "SIGTERM";

/** The part of `process` that hears signals. */
export interface SignalHost {
  on(signal: Signal, listener: (signal: Signal) => void): unknown;
  exit(code: number): void;
}

/**
 * Ctrl-C reaches every process of a terminal's group, and a parent such as npm passes it on once
 * more. What follows so closely is the same wish, not a second one.
 */
const ECHO_MS = 500;

/** Resolves at the first signal. A second one leaves at once, whatever is being waited for. */
export function stopSignal(
  clock: Pick<Clock, "monotonic">,
  host: SignalHost = process,
): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const ask = (signal: Signal): void => {
      if (askedAt === null) {
        askedAt = clock.monotonic();
        resolve();
        return;
      }
      if (clock.monotonic() - askedAt > ECHO_MS) host.exit(128 + constants.signals[signal]);
    };
    host.on("SIGINT", ask);
    host.on("SIGTERM", ask);
  });
}

/** Ctrl-C in a command that only watches: there is nothing to finish, so one is enough. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Leaves the signals to whoever comes next. */
  stop(): void;
}

export function listenForInterruption(host: NodeJS.EventEmitter = process): Interruption {
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  host.on("SIGINT", interrupt);
  host.on("SIGTERM", interrupt);
  return {
    signal: abort.signal,
    stop() {
      host.off("SIGINT", interrupt);
      host.off("SIGTERM", interrupt);
    },
  };
}
