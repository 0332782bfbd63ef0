/** Describes a change of a job in one line. */
import type { Fault } from "../../core/outcome.ts";
import type { UnitCounts } from "../../api/progress.ts";
import { shownLog, shownMissed } from "./log-lines.ts";
import type { JobChange } from "./job-changes.ts";

export function describeChange(change: JobChange): string {
  switch (change.event) {
    case "job:enqueued":
      return change.state === "scheduled" ? `scheduled for ${shownTime(change.runAt)}` : "queued";
    case "job:waiting":
      return `${change.sentence} ${change.hint}`;
    case "job:started":
      return `running, run ${change.attempt}`;
    case "job:phase:started":
      return `phase ${change.phase} started`;
    case "job:phase:completed":
      return `phase ${change.phase} completed${shownUnits(change.units)}`;
    case "job:phase:failed":
      return `phase ${change.phase} failed`;
    case "job:phase:cancelled":
      return `phase ${change.phase} cancelled`;
    case "job:progress": {
      const { phase, percent, overall } = change;
      return phase === null ? `${percent} %` : `phase ${phase} ${percent} %, job ${overall} %`;
    }
    case "job:units": {
      const { phase, units } = change;
      return `${phase === null ? "" : `phase ${phase}: `}${unitsText(units)}`;
    }
    case "job:unit:failed": {
      const where = change.phase === null ? "" : ` of phase ${change.phase}`;
      return `unit ${change.unit}${where} failed${shownError(change.error)}`;
    }
    case "job:log":
      return shownLog(change);
    case "job:log:missed":
      return shownMissed(change.lines);
    case "job:retrying": {
      const { attempt, outcome, error, runAt } = change;
      return `run ${attempt} ${outcome}${shownError(error)}; next run at ${shownTime(runAt)}`;
    }
    case "job:completed":
      return change.state;
    case "job:failed":
      return `failed${shownError(change.error)}`;
    case "job:cancelled":
      return change.reason === null ? "cancelled" : `cancelled: ${change.reason}`;
  }
}

function shownTime(moment: Date | null): string {
  return moment?.toISOString() ?? "once";
}

function shownUnits(units: UnitCounts): string {
  return units.total === 0 ? "" : `, ${unitsText(units)}`;
}

function unitsText({ total, completed, failed }: UnitCounts): string {
  return `units ${completed}/${total} done${failed === 0 ? "" : `, ${failed} failed`}`;
}

function shownError(error: Fault | null): string {
  return error === null ? "" : `: ${error.name}: ${error.message}`;
}
