/** Counts runs that outlive their lease while short runs of the same process begin and end. */
import type { Plan } from "../plan/plan.ts";
import type { Process, World } from "./world.ts";

/** What a worker does at most. */
const BEAT_MS_MAX = 1_000;
const BEATS_PER_LEASE = 3;

interface SideBySideParts {
  readonly world: World;
  readonly plan: Plan;
  readonly count: (name: string) => void;
}

export class SideBySide {
  readonly #parts: SideBySideParts;
  /** When the runs of a process have begun. A run whose handler never ends stays. */
  readonly #begun = new Map<Process, Set<{ readonly atMs: number }>>();

  constructor(parts: SideBySideParts) {
    this.#parts = parts;
  }

  /** A handler begins. Answers a function for its end. */
  begin(process: Process): () => void {
    const { world, plan, count } = this.#parts;
    const runs = this.#begun.get(process) ?? new Set();
    this.#begun.set(process, runs);
    const mine = { atMs: world.elapsedMs };
    runs.add(mine);
    return () => {
      runs.delete(mine);
      const isShort = world.elapsedMs - mine.atMs < beatMs(plan);
      const isLong = ({ atMs }: { readonly atMs: number }): boolean =>
        world.elapsedMs - atMs > plan.leaseMs;
      if (isShort && [...runs].some(isLong)) count("short run beside one longer than a lease");
    };
  }
}

function beatMs({ leaseMs }: Plan): number {
  return Math.min(BEAT_MS_MAX, leaseMs / BEATS_PER_LEASE);
}
