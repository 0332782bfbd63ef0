/**
 * Slows down a process that is started again and again and dies soon after.
 *
 * The jobs of a dead process come back when its lease has expired. Until then nothing is known of
 * the job that killed the process, and a new process would start other jobs of the same kind and
 * die as well. So a new worker waits until the dead processes of its host are rescued.
 */
import { wait, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { WorkerRecord } from "../../store/types/records.ts";
import type { HostProcess } from "./host-process.ts";

/** So many processes of this host must have died soon after their start, with runs. */
const DEATHS_MIN = 4;
/** In leases: a dead worker is rescued within this time. */
const WAIT_LEASES_MAX = 1.5;
const CHECKS_PER_LEASE = 6;
const WORKERS_MAX = 1_000;
const CRASH_LOOP =
  "processes of this host die soon after their start: the worker waits until their jobs are " +
  "rescued, so that the job which kills them is found; a shorter lease makes the wait shorter";

export interface CrashLoopParts {
  readonly store: Pick<JobStore, "workers">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly process: HostProcess;
  readonly host: string;
  readonly leaseMs: number;
  /** The worker has stopped. */
  readonly isOver: () => boolean;
}

/** Resolves at once if there is no crash loop, else when the dead workers are rescued. */
export async function crashLoopEnded(parts: CrashLoopParts): Promise<void> {
  const { clock, logger, leaseMs, isOver } = parts;
  const end = clock.monotonic() + WAIT_LEASES_MAX * leaseMs;
  let before: Beats | null = null;
  for (let look = 1; clock.monotonic() < end && !isOver(); look += 1) {
    const dead = await earlyDeaths(parts, before);
    if (processesOf(dead) < DEATHS_MIN) return;
    before = new Map(dead.map(({ id, beats }) => [id, beats]));
    // The second look is certain: a worker of another thread has sent a heartbeat meanwhile.
    if (look === 2) {
      logger.warn(CRASH_LOOP, {
        deaths: processesOf(dead),
        wait_ms_max: WAIT_LEASES_MAX * leaseMs,
      });
    }
    await wait(clock, leaseMs / CHECKS_PER_LEASE);
  }
}

/** The heartbeat counters of workers at an earlier look. */
type Beats = ReadonlyMap<WorkerId, number>;

async function earlyDeaths(
  { store, logger, ...parts }: CrashLoopParts,
  before: Beats | null,
): Promise<readonly WorkerRecord[]> {
  try {
    const workers = await store.workers(WORKERS_MAX);
    return workers.filter((worker) => {
      const isSilent = before === null || before.get(worker.id) === worker.beats;
      return isSilent && hasDiedEarly(worker, parts);
    });
  } catch (error) {
    logger.warn("cannot look for a crash loop: the worker begins", { error });
    return [];
  }
}

/** The workers of one process start within the same second. */
function processesOf(workers: readonly WorkerRecord[]): number {
  return new Set(workers.map(({ pid, joinedAt }) => `${pid} ${Math.floor(joinedAt / 1000)}`)).size;
}

type Surroundings = Pick<CrashLoopParts, "process" | "host" | "leaseMs">;

/** A worker that did not outlive its first lease. In a new container the process id repeats. */
function hasDiedEarly(worker: WorkerRecord, { process, host, leaseMs }: Surroundings): boolean {
  if (worker.takenBy !== null || worker.host !== host || process.has(worker.id)) return false;
  if (worker.pid !== process.pid && process.isAlive(worker.pid)) return false;
  return worker.running > 0 && worker.until - worker.joinedAt < 2 * leaseMs;
}
