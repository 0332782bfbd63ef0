/** Crashes in `mill.jobs.explain`: jobs that have crashed run in limited numbers, at last alone. */
import type { Explanation } from "../../api/control/explanation.ts";
import { crashedSlots } from "../../core/crashes.ts";
import type { JobRecord, WorkerRecord } from "../../store/types/records.ts";
import { takerOf } from "./explain-workers.ts";

/** Null: the job has not crashed, or a process that takes it may run one more of its kind. */
export function explainCrashes(
  job: JobRecord,
  alive: readonly WorkerRecord[],
  crashCap: number,
): Explanation | null {
  const { crashes, id } = job;
  if (crashes === 0) return null;
  const details = { crashes, cap: crashCap };
  const times = crashes === 1 ? "once" : `${crashes} times`;
  if (crashes >= crashCap) {
    return {
      sentence:
        `Its worker has died ${times} while it ran, so it runs alone: one process at a time ` +
        "stops claiming for such a job and starts it when the process is empty.",
      reason: "alone",
      hint: `To see the crashes: millrace jobs show ${id}`,
      details,
    };
  }
  if (!alive.filter(takerOf(job)).every((taker) => isShareUsed(job, taker, alive))) return null;
  const share = crashes === 1 ? "half" : "an eighth";
  return {
    sentence:
      `Its worker has died ${times} while it ran, so it waits for one of the slots for such ` +
      `jobs: ${share} of the slots of a process.`,
    reason: "crashed",
    hint: `It starts when one is free. To see the crashes: millrace jobs show ${id}`,
    details,
  };
}

/** The process of the worker runs as many jobs with such crashes as it may. */
function isShareUsed(
  { crashes }: JobRecord,
  taker: WorkerRecord,
  alive: readonly WorkerRecord[],
): boolean {
  const members = alive.filter(({ host, pid }) => host === taker.host && pid === taker.pid);
  const sum = (of: (worker: WorkerRecord) => number): number =>
    members.reduce((total, worker) => total + of(worker), 0);
  const share = crashedSlots(sum(({ slots }) => slots));
  return crashes === 1
    ? sum(({ crashedOnce }) => crashedOnce) >= share.once
    : sum(({ crashedOften }) => crashedOften) >= share.often;
}
