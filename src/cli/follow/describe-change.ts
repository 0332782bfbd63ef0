/** News of a job as a line for people. */
import type { Fault } from "../../core/outcome.ts";
import type { UnitCounts } from "../../api/progress.ts";
import { shownLog, shownMissed } from "./log-lines.ts";
import type { News } from "./job-changes.ts";

export function sentenceOf(news: News): string {
  switch (news.event) {
    case "job:enqueued":
      return news.state === "scheduled" ? `scheduled for ${shownTime(news.runAt)}` : "queued";
    case "job:started":
      return `running, run ${news.attempt}`;
    case "job:phase:started":
      return `phase ${news.phase} began`;
    case "job:phase:completed":
      return `phase ${news.phase} completed${shownUnits(news.units)}`;
    case "job:phase:failed":
      return `phase ${news.phase} failed`;
    case "job:phase:cancelled":
      return `phase ${news.phase} cancelled`;
    case "job:progress": {
      const { phase, percent, overall, units } = news;
      const of = phase === null ? `${percent} %` : `phase ${phase} ${percent} %, job ${overall} %`;
      return `${of}${shownUnits(units)}`;
    }
    case "job:unit:failed": {
      const where = news.phase === null ? "" : ` of phase ${news.phase}`;
      return `unit ${news.unit}${where} failed${shownError(news.error)}`;
    }
    case "job:log":
      return shownLog(news);
    case "job:log:missed":
      return shownMissed(news.lines);
    case "job:retrying": {
      const { attempt, outcome, error, runAt } = news;
      return `run ${attempt} ${outcome}${shownError(error)}; again at ${shownTime(runAt)}`;
    }
    case "job:completed":
      return news.state;
    case "job:failed":
      return `failed${shownError(news.error)}`;
    case "job:cancelled":
      return news.reason === null ? "cancelled" : `cancelled: ${news.reason}`;
  }
}

function shownTime(moment: Date | null): string {
  return moment?.toISOString() ?? "once";
}

function shownUnits({ total, completed, failed }: UnitCounts): string {
  if (total === 0) return "";
  return `, units ${completed}/${total} done${failed === 0 ? "" : `, ${failed} failed`}`;
}

function shownError(error: Fault | null): string {
  return error === null ? "" : `: ${error.name}: ${error.message}`;
}
