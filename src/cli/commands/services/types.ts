/** `millrace types`: what workers have declared about their types. */
import type { Command } from "commander";
import type { TypeView } from "../../../api/services/types.ts";
import { formatDuration } from "../../../core/duration.ts";
import { systemClock } from "../../../lib/system.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, outputOption, serverOption } from "../../terminal/options.ts";
import { ageOf, json, table, type Format } from "../../terminal/output.ts";
import { withExistingMill, type Shell } from "../../shell.ts";

export function declareTypes(program: Command, { terminal, end }: Shell): void {
  program
    .command("types")
    .description("List the types that workers have declared, with their settings.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.types.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("No worker has declared a type. Start one: millrace worker --jobs FILE\n");
      end(EXIT.success);
    });
}

const HELP_AFTER = `
Of several workers, the one that joined last counts. A job that is enqueued without the code of its
type, by millrace enqueue --no-jobs or over HTTP, gets these settings. DISPUTED marks types that
living workers have declared differently.
`;

function tableOf(types: readonly TypeView[]): string {
  const now = systemClock.now();
  return table(
    ["TYPE", "LANE", "PRIORITY", "ATTEMPTS", "TIMEOUT", "SERVICES", "WORKERS", "APP", "DECLARED"],
    types.map((type) => [
      type.type,
      type.lane,
      String(type.priority),
      String(type.maxAttempts),
      type.timeoutMs === null ? "none" : formatDuration(type.timeoutMs),
      type.services.join(","),
      `${type.workers}${type.isDisputed ? " DISPUTED" : ""}`,
      type.appVersion ?? "",
      `${ageOf(type.declaredAt, now)} ago`,
    ]),
  );
}
