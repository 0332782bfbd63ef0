/** What all maintenance duties share. Every worker runs all of them. */
import type { Clock } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { SteadySpan } from "../lease/steadiness.ts";
import { Ticker } from "../ticker.ts";

/** How many jobs one call of the store moves from one place to another. */
export const MOVE_BATCH = 1_000;

/** The delay of a ticker that the promoter wakes at every poll that finds something to do. */
export const REST_MS = 60_000;

export interface DutyParts {
  /** The worker that has these duties. */
  readonly worker: WorkerId;
  /** How long the own renewals have succeeded without a gap; null: the last one failed. */
  readonly steadySpan: () => SteadySpan | null;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The retry policy of a type; the preset's policy for a type that this process does not know. */
  readonly policyOf: (type: string) => RetryPolicy;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly pollMs: number;
}

/** A duty whose tick is repeated after `retryMs` when it fails. */
export function makeDuty(
  { clock, logger }: Pick<DutyParts, "clock" | "logger">,
  retryMs: number,
  tick: () => Promise<number>,
): Ticker {
  const failed = (error: unknown): void => {
    logger.error("maintenance failed; trying again", { error });
  };
  return new Ticker({ clock, retryMs, tick, failed });
}

/** Spreads the statements of processes that started at the same time. */
export function jittered(ms: number, random: number): number {
  return ms * (0.8 + 0.4 * random);
}
