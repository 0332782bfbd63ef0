/** Draining: a pause, and the wait until no job of its target runs any more. */
import type { Duration } from "../../core/duration.ts";
import type { PauseTarget } from "../client.ts";

/** What can be drained: all that can be paused, and one worker. */
export type DrainTarget = PauseTarget | { worker: string };

export interface DrainSettings {
  /** Shown by `pauses` and `explain`. Default: `drain`. A worker has no reason. */
  readonly reason?: string;
  /** Who drains, for the record. */
  readonly actor?: string;
  /** How long to wait for the running jobs. Default: 10 minutes. */
  readonly timeout?: Duration;
  /** Ends the wait. The target stays paused. */
  readonly signal?: AbortSignal;
  /** Called with the first count and with each that differs from the one before. */
  readonly onProgress?: (progress: DrainProgress) => void;
}

/** What a drain has found before it paused the target. */
export interface Drained {
  /**
   * The pause without an end that stays as it was; null: there was none, and a drain makes one. The
   * engine pauses a type because of crashes and tries its jobs: a drain takes the place of this
   * pause.
   */
  readonly keptPause: { readonly reason: string; readonly pausedBy: string | null } | null;
}

export interface DrainProgress {
  /** The jobs of the target that run, or that a worker has prefetched. */
  readonly running: number;
  /** True when not all of them were counted: there are at least so many. */
  readonly atLeast: boolean;
}

/** The running jobs of a target. */
export interface RunningCount extends DrainProgress {
  /** The ids of some of them, at most 20. */
  readonly ids: readonly string[];
  /**
   * Claims under way. A claim that began before a pause may still start jobs of the target. Give
   * the list to the next call, which answers those that are still under way.
   */
  readonly claims: readonly string[];
}
