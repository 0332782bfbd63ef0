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
import type { CrashFacts, RescueAnswer, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { Ticker } from "../ticker.ts";
import type { SteadySpan } from "../lease/steadiness.ts";
import { BEAT_MS_MAX } from "../settings.ts";
import { makeDuty, type DutyParts } from "./duty.ts";

const SILENT_MAX = 100;
const RESCUE_BATCH = 500;
const CHECKS_PER_LEASE = 6;
/** A living worker sends at least one heartbeat in this time. */
const BEATS_MISSED = 2;
/** After an outage every worker has two heartbeats' time to renew, also with a long lease. */
const RECOVERY_MS_MIN = BEATS_MISSED * BEAT_MS_MAX;

const JOBS_MISSING =
  "a lease of a dead worker named jobs that have no row in the table job, probably deleted by " +
  "hand; they were skipped. millrace doctor --fix removes the rest of these jobs";

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
      const rescue = await rescueOne(parts, id, beats);
      if (rescue === null) continue;
      const { settled, returned, missing, done } = rescue;
      // The worker has sent a heartbeat, or another rescuer was faster.
      if (!done && settled.length + returned + missing.length === 0) continue;
      if (missing.length > 0) logger.error(JOBS_MISSING, { worker_id: id, job_keys: missing });
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

/** Null: the store has refused. The jobs of other dead workers are rescued nevertheless. */
async function rescueOne(
  { store, policyOf, random, logger }: DutyParts,
  worker: WorkerId,
  beats: number,
): Promise<RescueAnswer | null> {
  const decide = (job: CrashFacts, isAlone: boolean): Settlement =>
    settle(job, { type: "crashed", isAlone }, { policy: policyOf(job.type), random: random() });
  try {
    return await store.rescue({ worker, beats, limit: RESCUE_BATCH, decide });
  } catch (error) {
    const message = "cannot rescue the jobs of a dead worker; trying again";
    logger.error(message, { worker_id: worker, error });
    return null;
  }
}
