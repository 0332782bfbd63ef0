/** How long jobs stay in a simulation, worked out by hand from what its workers are told. */
import { PRESET } from "./jobs.ts";
import type { RetentionOptions } from "../../../src/api/retention.ts";
import type { JobView } from "../../../src/api/jobs.ts";
import type { Retention } from "../../../src/store/types/records.ts";
import { hexOf } from "../checks/snapshot.ts";
import type { World } from "./world.ts";

/** `preset`: jobs go at once. `stages`: they are stale before. `hooks`: hooks hear of both. */
export const RETENTIONS = ["preset", "preset", "preset", "stages", "hooks"] as const;
export type RetentionKind = (typeof RETENTIONS)[number];

const SECOND_MS = 1_000;
const NEVER_MS = 100 * 365 * 24 * 3_600 * SECOND_MS;
const STATES = ["completed", "completed_with_errors", "failed", "cancelled"] as const;
const FAILED = 6;
const HOOK_THROWS = 0.25;

const OPTIONS: RetentionOptions = {
  staleAfter: "4s",
  deleteAfter: "9s",
  states: { failed: { staleAfter: "8s", deleteAfter: "20s" } },
  types: {
    beta: { staleAfter: "2s", deleteAfter: "3s" },
    gamma: { staleAfter: "15s", deleteAfter: "40s" },
  },
};

export type RetentionStage = "stale" | "gone";

/** How and when a job has ended. */
export interface JobEnd {
  readonly type: string;
  readonly state: number;
  readonly finishedAt: number;
}

/** What retention may do, and whom it has told. */
export class RetentionRules {
  readonly hasHooks: boolean;
  readonly #kind: RetentionKind;
  readonly #world: World;
  readonly #count: (name: string) => void;
  readonly #told = { stale: new Set<string>(), gone: new Set<string>() };
  readonly #found = { stale: new Set<string>(), gone: new Set<string>() };

  constructor(kind: RetentionKind, world: World, count: (name: string) => void) {
    this.#kind = kind;
    this.#world = world;
    this.#count = count;
    this.hasHooks = kind === "hooks";
  }

  /** What a worker is told. */
  get options(): RetentionOptions {
    if (this.#kind === "preset") return {};
    if (this.#kind === "stages") return OPTIONS;
    const onStale = (job: JobView): void => this.#hook("stale", job);
    return { ...OPTIONS, onStale, onDelete: (job) => this.#hook("gone", job) };
  }

  /** What an operator may ask `prune` for by the same rules. */
  get pruned(): Retention {
    if (this.#kind === "preset") return PRESET.retention;
    if (this.hasHooks) return { ...PRESET.retention, finishedMs: byState(() => NEVER_MS) };
    const types = ["beta", "gamma"].map((type) => [
      type,
      byState((code) => this.keptMs(type, code)),
    ]);
    return {
      ...PRESET.retention,
      finishedMs: byState((code) => this.keptMs("", code)),
      types: Object.fromEntries(types),
    };
  }

  /** From the end of a job, by its type and the code of its state. */
  keptMs(type: string, state: number): number {
    if (this.#kind === "preset") return byCode(PRESET.retention.finishedMs, state);
    if (type === "beta") return 3 * SECOND_MS;
    if (type === "gamma") return 40 * SECOND_MS;
    return (state === FAILED ? 20 : 9) * SECOND_MS;
  }

  staleMs(type: string, state: number): number {
    if (this.#kind === "preset") return Infinity;
    if (type === "beta") return 2 * SECOND_MS;
    if (type === "gamma") return 15 * SECOND_MS;
    return (state === FAILED ? 8 : 4) * SECOND_MS;
  }

  /** The time of a job has come, by the clock of the process that has looked. */
  found(stage: RetentionStage, id: string): void {
    this.#found[stage].add(id);
  }

  /** Whether a job may be marked or removed: its time has come, or had when a process looked. */
  isDue(stage: RetentionStage, id: string, end: JobEnd, nowMs: number): boolean {
    if (this.#found[stage].has(id)) return true;
    const { type, state, finishedAt } = end;
    const ms = stage === "stale" ? this.staleMs(type, state) : this.keptMs(type, state);
    return finishedAt + ms <= nowMs;
  }

  /** Whether the hook of a stage has been told of a job. */
  isTold(stage: RetentionStage, id: string): boolean {
    return !this.hasHooks || this.#told[stage].has(id);
  }

  #hook(stage: RetentionStage, { id }: JobView): void {
    if (this.#world.chance.random() < HOOK_THROWS) {
      this.#count("hook of retention threw");
      throw new Error("planted");
    }
    this.#told[stage].add(hexOf(id));
  }
}

function byCode(lengths: Readonly<Record<(typeof STATES)[number], number>>, code: number): number {
  const state = STATES[code - 4];
  return state === undefined ? Infinity : lengths[state];
}

function byState(length: (code: number) => number): Record<(typeof STATES)[number], number> {
  return {
    completed: length(4),
    completed_with_errors: length(5),
    failed: length(6),
    cancelled: length(7),
  };
}
