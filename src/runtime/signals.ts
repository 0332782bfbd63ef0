/**
 * What SIGTERM and SIGINT do to the workers of this process. A worker that is stopped by a deploy
 * returns its jobs uncharged; a worker that is killed leaves a crash behind.
 *
 * A listener suppresses the default action of its signal. So Millrace listens only while the
 * process has workers, and raises the signal again when the workers have stopped.
 */
import { constants } from "node:os";
import type { Logger } from "../api/context.ts";
import { systemClock } from "../lib/system.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

export type StopSignal = (typeof SIGNALS)[number];

/** `auto`: only if nothing else in the process listens to the signal. */
export type SignalMode = boolean | "auto";

/**
 * Ctrl-C reaches every process of a terminal's group, and a parent such as npm sends it again. A
 * signal within this time counts as the same Ctrl-C.
 */
export const ECHO_MS = 500;

/** The part of `process` that receives and raises signals. */
export interface SignalledProcess {
  readonly pid: number;
  prependListener(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
  listenerCount(signal: StopSignal): number;
  kill(pid: number, signal: StopSignal): unknown;
  exit(code: number): void;
}

interface SignalledWorker {
  readonly isForced: boolean;
  /** Never rejects. */
  readonly stop: (signal: StopSignal) => Promise<void>;
}

/** Stops a worker at a signal. The returned function ends that. */
export function stopOnSignals(
  mode: SignalMode,
  worker: { readonly running: number; stop(): Promise<void> },
  logger: Logger,
  signals: ProcessSignals = signalsOfThisProcess(),
): () => void {
  if (mode === false) return () => {};
  const stop = async (signal: StopSignal): Promise<void> => {
    const { running } = worker;
    if (running > 0) {
      const waits = `${signal}: waiting for ${running} running job(s)`;
      logger.warn(`${waits}; a second signal ends the process at once`);
    }
    try {
      await worker.stop();
    } catch (error) {
      logger.error("the worker did not stop cleanly", { error });
    }
  };
  return signals.join({ isForced: mode === true, stop });
}

/** The signals of one process, and the workers that they stop. */
export class ProcessSignals {
  readonly #host: SignalledProcess;
  readonly #monotonic: () => number;
  readonly #workers = new Set<SignalledWorker>();
  readonly #listeners = SIGNALS.map((signal) => ({ signal, hear: () => this.#onSignal(signal) }));
  /** The first signal, and when it came. */
  #asked: { readonly signal: StopSignal; readonly at: number } | null = null;

  constructor(host: SignalledProcess, monotonic: () => number) {
    this.#host = host;
    this.#monotonic = monotonic;
  }

  join(worker: SignalledWorker): () => void {
    if (this.#workers.size === 0) this.#listen();
    this.#workers.add(worker);
    // A worker that starts while the process stops would outlive the others.
    if (this.#asked !== null) void worker.stop(this.#asked.signal);
    return () => {
      this.#workers.delete(worker);
      if (this.#workers.size === 0) this.#ignore();
    };
  }

  #onSignal(signal: StopSignal): void {
    const isAlone = this.#isAlone(signal);
    if (this.#asked !== null) {
      if (this.#monotonic() - this.#asked.at > ECHO_MS) this.#end(signal, isAlone);
      return;
    }
    const told = [...this.#workers].filter(({ isForced }) => isForced || isAlone);
    if (told.length === 0) return;
    this.#asked = { signal, at: this.#monotonic() };
    const stopped = Promise.all(told.map((worker) => worker.stop(signal)));
    if (isAlone) void stopped.then(() => this.#end(signal, isAlone));
  }

  /** Whether Millrace alone decides what the signal does. */
  #isAlone(signal: StopSignal): boolean {
    return this.#host.listenerCount(signal) - 1 - signalExitListeners() <= 0;
  }

  /** The default action of the signal, or the exit status that it would have. */
  #end(signal: StopSignal, isAlone: boolean): void {
    this.#ignore();
    // The kernel ignores a signal without a listener that the first process of a container gets.
    if (isAlone && this.#host.pid !== 1) this.#host.kill(this.#host.pid, signal);
    else this.#host.exit(128 + constants.signals[signal]);
  }

  /** In front, because a listener that the application adds by `once` is gone when it is called. */
  #listen(): void {
    for (const { signal, hear } of this.#listeners) this.#host.prependListener(signal, hear);
  }

  #ignore(): void {
    this.#asked = null;
    for (const { signal, hear } of this.#listeners) this.#host.off(signal, hear);
  }
}

/**
 * The listeners of the package `signal-exit`, which many libraries use to clean up. Such a listener
 * leaves a signal to all others and acts when it is the only one, so it is no decision of the
 * application. The package counts its listeners in these two places, one per major version.
 */
function signalExitListeners(): number {
  const places: readonly unknown[] = [
    Reflect.get(globalThis, Symbol.for("signal-exit emitter")),
    Reflect.get(process, "__signal_exit_emitter__"),
  ];
  return places.reduce<number>((total, place) => total + countOf(place), 0);
}

function countOf(place: unknown): number {
  if (typeof place !== "object" || place === null || !("count" in place)) return 0;
  return typeof place.count === "number" ? place.count : 0;
}

const KEY = Symbol.for("millrace.signals");

/** One object per process: the workers of all mills and of all copies of the library share it. */
function signalsOfThisProcess(): ProcessSignals {
  const known: unknown = Reflect.get(globalThis, KEY);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only this function sets it.
  if (known !== undefined) return known as ProcessSignals;
  const made = new ProcessSignals(process, () => systemClock.monotonic());
  Reflect.set(globalThis, KEY, made);
  return made;
}
