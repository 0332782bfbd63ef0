/** The largest delay of the event loop, for the heartbeat. Only for the thread of the loop. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../../lib/system.ts";

/** How often the loop is sampled: 50 timers per second, which run no code of JavaScript. */
const RESOLUTION_MS = 20;
const NANOS_PER_MS = 1_000_000;

export class EventLoopWatch {
  readonly #samples = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #since = 0;

  start(): void {
    this.#samples.enable();
    this.#since = systemClock.monotonic();
  }

  stop(): void {
    this.#samples.disable();
  }

  /** The largest delay since the last call, in whole milliseconds. */
  take(): number {
    const { count, max, mean } = this.#samples;
    const now = systemClock.monotonic();
    const sampledMs = count === 0 ? 0 : (count * mean) / NANOS_PER_MS;
    // There is no sample from a reset to the first timer, and from the last timer to now.
    const unsampledMs = now - this.#since - sampledMs - RESOLUTION_MS;
    this.#samples.reset();
    this.#since = now;
    return Math.max(0, Math.round(Math.max(max / NANOS_PER_MS, unsampledMs) - RESOLUTION_MS));
  }
}
