/** `millrace lanes`. */
import type { Command } from "commander";
import type { LaneView } from "../../../api/control/lanes.ts";
import type { CountedJobs } from "../../../api/jobs.ts";
import { formatDuration } from "../../../core/duration.ts";
import { withExistingMill, type Shell } from "../../shell.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, outputOption, serverOption } from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";

export function declareLanes(program: Command, { terminal, end }: Shell): void {
  program
    .command("lanes")
    .description("List the lanes, with their slots, waiting jobs and pauses.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const lanes = await withExistingMill(db, (mill) => mill.lanes.list());
      if (output === "json") terminal.out(json(lanes));
      else if (lanes.length > 0) terminal.out(tableOf(lanes));
      else terminal.err("No lane has slots or jobs.\n");
      end(EXIT.success);
    });
}

const HELP_AFTER = `
Jobs of any lane may use the slots of general, so that more jobs of a lane may run than it has
slots. A plus sign means that not all jobs were counted.

Example:
  millrace lanes
`;

function tableOf(lanes: readonly LaneView[]): string {
  return table(
    ["LANE", "SLOTS", "RUNNING", "WAITING", "HELD", "OLDEST", "TARGET", "WORKERS", "STATE"],
    lanes.map((lane) => [
      lane.lane,
      String(lane.slots),
      String(lane.running),
      countText(lane.waiting),
      countText(lane.held),
      lane.oldestAgeMs === null ? "" : formatDuration(lane.oldestAgeMs),
      formatDuration(lane.targetMs),
      String(lane.workers),
      stateOf(lane),
    ]),
  );
}

function countText({ count, atLeast }: CountedJobs): string {
  return `${count}${atLeast ? "+" : ""}`;
}

function stateOf({ pause, fair }: LaneView): string {
  if (pause !== null) return `paused: ${pause.reason}`;
  return fair ? "fair" : "";
}
