/** The time of a change: when it happened, not when it was seen. Pure. */
import type { PhaseView } from "../../api/progress.ts";
import type { JobChange, JobSnapshot } from "./job-changes.ts";

/** `null` for a change whose time is not recorded. */
export function timeOfChange(change: JobChange, snapshot: JobSnapshot): Date | null {
  const { job, attempts, progress, failed } = snapshot;
  switch (change.event) {
    case "job:enqueued":
      return job.createdAt;
    case "job:started":
      return (attempts[change.attempt - 1] ?? job).startedAt;
    case "job:retrying":
      return attempts[change.attempt - 1]?.finishedAt ?? null;
    case "job:phase:started":
      return phaseIn(snapshot, change.phase)?.startedAt ?? null;
    case "job:phase:completed":
      return phaseIn(snapshot, change.phase)?.finishedAt ?? null;
    case "job:phase:failed":
    case "job:phase:cancelled":
      // The phase ended with its run.
      return phaseIn(snapshot, change.phase)?.finishedAt ?? attempts.at(-1)?.finishedAt ?? null;
    case "job:progress":
      return progress.at;
    case "job:unit:failed": {
      const { phase, unit } = change;
      return failed.find((each) => each.phase === phase && each.key === unit)?.at ?? null;
    }
    case "job:log":
      return change.loggedAt;
    case "job:log:missed":
    case "job:units":
    case "job:waiting":
      return null;
    case "job:completed":
    case "job:failed":
    case "job:cancelled":
      return job.finishedAt;
  }
}

function phaseIn({ progress }: JobSnapshot, name: string): PhaseView | undefined {
  return progress.phases.find((phase) => phase.name === name);
}
