/**
 * Takes back the jobs of dead workers.
 *
 * A worker counts as dead when two checks find the same number of heartbeats. The checks are at
 * least a sixth of a lease and two heartbeats apart by the monotonic clock of this process. A host
 * whose clock jumps ahead makes every worker look silent at one check, but not at two.
 *
 * While the store accepts no writes, no worker can send a heartbeat. On SQLite the checks succeed
 * meanwhile, because they only read. So both checks count only if the own worker has renewed its
 * lease without a gap: since before the first check, after half of the silence, and long enough for
 * every living worker to send a heartbeat. A rescuer never takes the jobs of its own worker.
 */
import type { Settlement } from "../../core/outcome.ts";
import { settle } from "../../core/settle.ts";
import type { CrashFacts, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { Ticker } from "../ticker.ts";
import type { SteadySpan } from "../lease/steadiness.ts";
import { BEAT_MS_MAX } from "../settings.ts";
import { makeDuty, type DutyParts } from "./duty.ts";

const SILENT_MAX = 100;
const RESCUE_BATCH = 500;
const CHECKS_PER_LEASE = 6;
/** A living worker sends at least one heartbeat in this time. */
const BEATS_MISSED = 2;
/** After an outage every worker, whatever its lease, has two heartbeats' time to renew. */
const RECOVERY_MS_MIN = BEATS_MISSED * BEAT_MS_MAX;

export function rescuer(parts: DutyParts): Ticker {
  const { store, clock, logger, worker, leaseMs, beatMs, steadySpan } = parts;
  const checkMs = leaseMs / CHECKS_PER_LEASE;
  const silenceMs = Math.max(checkMs, BEATS_MISSED * beatMs);
  const suspects = new Map<WorkerId, Suspect>();
  return makeDuty(parts, checkMs, async () => {
    const silent = (await store.silent(SILENT_MAX)).filter(({ id }) => id !== worker);
    const steady = steadySpan();
    const ids = new Set(silent.map(({ id }) => id));
    for (const id of suspects.keys()) if (!ids.has(id)) suspects.delete(id);
    for (const { id, beats } of silent) {
      const suspect = suspects.get(id);
      if (suspect?.beats !== beats || !isAfter(suspect, steady)) {
        suspects.set(id, { beats, since: clock.monotonic() });
        continue;
      }
      if (clock.monotonic() - suspect.since < silenceMs * 0.9) continue;
      if (!couldRenew(suspect, steady, silenceMs)) continue;
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

interface Suspect {
  readonly beats: number;
  /** The first check that found the worker silent. */
  readonly since: number;
}

function isAfter({ since }: Suspect, steady: SteadySpan | null): steady is SteadySpan {
  return steady !== null && since >= steady.from;
}

/** Whether the own renewals prove that the worker could have renewed its lease as well. */
function couldRenew({ since }: Suspect, { from, until }: SteadySpan, silenceMs: number): boolean {
  const isLongEnough = until - from >= Math.max(silenceMs, RECOVERY_MS_MIN) * 0.9;
  return isLongEnough && until - since >= silenceMs / 2;
}

function rescueOne({ store, policyOf, random }: DutyParts, worker: WorkerId, beats: number) {
  const decide = (job: CrashFacts, isCertain: boolean): Settlement =>
    settle(job, { type: "crashed", isCertain }, { policy: policyOf(job.type), random: random() });
  return store.rescue({ worker, beats, limit: RESCUE_BATCH, decide });
}
