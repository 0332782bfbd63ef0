/** Samples of the heap after a collection: does it grow from the first fifth to the last? */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const SAMPLES = 50;
/** What caches and compiled code may add after the first fifth. */
const GROWTH_MAX = 1.2;
const GROWTH_MB = 8;
/** Below this the first fifth is the warm-up. */
const REQUESTS_MIN = 20_000;

export class HeapSamples {
  readonly #every: number;
  readonly #requests: number;
  readonly #samples: number[] = [];
  readonly #collect: () => void;

  constructor(requests: number) {
    this.#requests = requests;
    this.#every = Math.max(1, Math.floor(requests / SAMPLES));
    setFlagsFromString("--expose-gc");
    this.#collect = runInNewContext("gc");
  }

  look(count: number): void {
    if (count % this.#every !== 0) return;
    this.#collect();
    this.#samples.push(process.memoryUsage().heapUsed / 1e6);
  }

  /** `grewBy` is null if the heap is flat, or if the run is too short to tell. */
  verdict(): { readonly firstMb: number; readonly lastMb: number; readonly grewBy: number | null } {
    const fifth = Math.max(1, Math.floor(this.#samples.length / 5));
    const firstMb = median(this.#samples.slice(0, fifth));
    const lastMb = median(this.#samples.slice(-fifth));
    const isFlat = lastMb <= firstMb * GROWTH_MAX + GROWTH_MB || this.#requests < REQUESTS_MIN;
    return { firstMb, lastMb, grewBy: isFlat ? null : Math.round(lastMb - firstMb) };
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
