/** Waits for the signals that stop a long-running command. */
import { constants } from "node:os";
import type { Clock } from "../../core/clock.ts";
import { ECHO_MS, type StopSignal } from "../../runtime/signals.ts";

/** The part of `process` that receives signals. */
export interface SignalHost {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

/** Resolves at the first signal. A second signal exits at once. */
export function stopSignal(
  clock: Pick<Clock, "monotonic">,
  host: SignalHost = process,
): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const ask = (signal: StopSignal): void => {
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

/** Listens for Ctrl-C in a command that only reads, and therefore needs no graceful stop. */
export interface InterruptListener {
  readonly signal: AbortSignal;
  /** Removes the signal handlers. */
  stop(): void;
}

export function listenForInterrupt(host: NodeJS.EventEmitter = process): InterruptListener {
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
