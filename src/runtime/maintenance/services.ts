/**
 * What a worker does besides its jobs. Each duty is a ticker; every process may run all of them.
 */
import type { Clock } from "../../core/clock.ts";
import type { Settlement } from "../../core/outcome.ts";
import { settle } from "../../core/settle.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import type { Logger } from "../../api/context.ts";
import type { CrashFacts, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { JobStore } from "../../store/store.ts";
import { Ticker } from "../ticker.ts";

const MOVE_BATCH = 1_000;
const SILENT_MAX = 100;
const RESCUE_BATCH = 500;
/** Looks per lease: two of them must find the same silence before it counts. */
const LOOKS_PER_LEASE = 6;
/** A living worker would have been heard of by then. */
const BEATS_MISSED = 2;

export interface ServiceParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** The policy of a type; the preset's for one that this process does not know. */
  readonly policyOf: (type: string) => RetryPolicy;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly pollMs: number;
}

/** Moves jobs whose time has come, and wakes at the very next due instant. */
export function promoter({ store, pollMs, ...parts }: ServiceParts): Ticker {
  return ticker(parts, pollMs, async () => {
    const { moved, nextDueMs } = await store.promote(MOVE_BATCH);
    if (moved === MOVE_BATCH) return 0;
    return Math.min(nextDueMs ?? pollMs, pollMs);
  });
}

/**
 * Moves jobs behind closed gates and taken keys out of the way, and back when they are free; and
 * lets jobs go on whose turn has come after others, if nobody else has.
 */
export function gatekeeper({ store, pollMs, ...parts }: ServiceParts): Ticker {
  return ticker(parts, pollMs, async () => {
    const released = await store.release(MOVE_BATCH);
    const proceeded = await store.resolveDependencies(MOVE_BATCH);
    const held = await store.hold(MOVE_BATCH);
    // Of each key one comes back at a time: if nobody takes it, the next one may be wanted.
    return released > 0 || Math.max(proceeded, held) >= MOVE_BATCH ? 0 : pollMs;
  });
}

/**
 * Takes back what dead workers held. A worker counts as dead when two looks, a sixth of a lease
 * and at least two heartbeats apart by this process's own steady clock, find it silent with the
 * same number of heartbeats: a host whose clock jumps ahead makes every worker look silent once,
 * but not still.
 */
export function rescuer(parts: ServiceParts): Ticker {
  const { store, clock, logger, leaseMs, beatMs } = parts;
  const lookMs = leaseMs / LOOKS_PER_LEASE;
  const silenceMs = Math.max(lookMs, BEATS_MISSED * beatMs);
  const suspects = new Map<WorkerId, { beats: number; since: number }>();
  return ticker(parts, lookMs, async () => {
    const silent = await store.silent(SILENT_MAX);
    const names = new Set(silent.map(({ id }) => id));
    for (const id of suspects.keys()) if (!names.has(id)) suspects.delete(id);
    for (const { id, beats } of silent) {
      const seen = suspects.get(id);
      if (seen?.beats !== beats) {
        suspects.set(id, { beats, since: clock.monotonic() });
        continue;
      }
      if (clock.monotonic() - seen.since < silenceMs * 0.9) continue;
      const { settled, returned, done } = await rescueOne(parts, id, beats);
      // It has beaten after all, or another was quicker: nothing was taken back.
      if (!done && settled.length + returned === 0) continue;
      logger.warn("a silent worker's jobs were taken back", {
        worker_id: id,
        crashed: settled.length,
        returned,
      });
      if (done) suspects.delete(id);
    }
    return lookMs;
  });
}

function rescueOne({ store, policyOf, random }: ServiceParts, worker: WorkerId, beats: number) {
  const decide = (job: CrashFacts, isCertain: boolean): Settlement =>
    settle(job, { type: "crashed", isCertain }, { policy: policyOf(job.type), random: random() });
  return store.rescue({ worker, beats, limit: RESCUE_BATCH, decide });
}

/** A duty, which is tried again after `retryMs` when it fails. */
export function ticker(
  { clock, logger }: Pick<ServiceParts, "clock" | "logger">,
  retryMs: number,
  tick: () => Promise<number>,
): Ticker {
  const failed = (error: unknown): void => {
    logger.error("a background duty failed; it will be tried again", { error });
  };
  return new Ticker({ clock, retryMs, tick, failed });
}
