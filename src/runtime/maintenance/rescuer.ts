/**
 * Takes back the jobs of dead workers.
 *
 * A worker counts as dead when two checks find the same number of heartbeats. The checks are at
 * least a sixth of a lease and two heartbeats apart by the monotonic clock of this process. A host
 * whose clock jumps ahead makes every worker look silent at one check, but not at two.
 */
import type { Settlement } from "../../core/outcome.ts";
import { settle } from "../../core/settle.ts";
import type { CrashFacts, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { Ticker } from "../ticker.ts";
import { makeDuty, type DutyParts } from "./duty.ts";

const SILENT_MAX = 100;
const RESCUE_BATCH = 500;
const CHECKS_PER_LEASE = 6;
/** A living worker sends at least one heartbeat in this time. */
const BEATS_MISSED = 2;

export function rescuer(parts: DutyParts): Ticker {
  const { store, clock, logger, leaseMs, beatMs } = parts;
  const checkMs = leaseMs / CHECKS_PER_LEASE;
  const silenceMs = Math.max(checkMs, BEATS_MISSED * beatMs);
  const suspects = new Map<WorkerId, { beats: number; since: number }>();
  return makeDuty(parts, checkMs, async () => {
    const silent = await store.silent(SILENT_MAX);
    const ids = new Set(silent.map(({ id }) => id));
    for (const id of suspects.keys()) if (!ids.has(id)) suspects.delete(id);
    for (const { id, beats } of silent) {
      const suspect = suspects.get(id);
      if (suspect?.beats !== beats) {
        suspects.set(id, { beats, since: clock.monotonic() });
        continue;
      }
      if (clock.monotonic() - suspect.since < silenceMs * 0.9) continue;
      const { settled, returned, done } = await rescueOne(parts, id, beats);
      // The worker has sent a heartbeat, or another rescuer was faster.
      if (!done && settled.length + returned === 0) continue;
      logger.warn("dead worker: its jobs were rescued", {
        worker_id: id,
        crashed: settled.length,
        returned,
      });
      if (done) suspects.delete(id);
    }
    return checkMs;
  });
}

function rescueOne({ store, policyOf, random }: DutyParts, worker: WorkerId, beats: number) {
  const decide = (job: CrashFacts, isAlone: boolean): Settlement =>
    settle(job, { type: "crashed", isAlone }, { policy: policyOf(job.type), random: random() });
  return store.rescue({ worker, beats, limit: RESCUE_BATCH, decide });
}
