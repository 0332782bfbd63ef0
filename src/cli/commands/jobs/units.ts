/** `millrace jobs units`: lists the units of a job. */
import { Option, type Command } from "commander";
import type { UnitView } from "../../../api/progress.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, serverOption, limitOption, outputOption } from "../../terminal/options.ts";
import { errorOf, json, table, type Format } from "../../terminal/output.ts";
import { given, withJob, type Shell } from "../../shell.ts";
import { UNIT_STATES } from "../../unit-words.ts";
import { jobsAgain } from "./again.ts";

interface UnitsOptions {
  readonly db: string;
  readonly state?: (typeof UNIT_STATES)[number];
  readonly phase?: string;
  readonly limit: number;
  readonly after?: string;
  readonly output: Format;
}

export function declareUnits(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("units <id>")
    .description("List the units of a job, phase by phase, in the order given.")
    .addOption(new Option("--state <state>", "in this state").choices(UNIT_STATES))
    .option("--phase <name>", "of this phase")
    .addOption(limitOption())
    .option("--after <position>", "continue where a page ended")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (text: string, options: UnitsOptions, command: Command) => {
      const { state, phase, limit, after, output } = options;
      await withJob(options.db, text, async (mill, id) => {
        const page = await mill.jobs.units(id, given({ state, phase, limit, after }));
        if (output === "json") return terminal.out(json(page));
        if (page.units.length > 0) terminal.out(tableOf(page.units));
        else terminal.err("No units match.\n");
        if (page.next === null) return;
        const again = jobsAgain(wordsOf(id, options, command), command);
        terminal.err(`There may be more. Continue with: ${again} --after ${page.next}\n`);
      });
      end(EXIT.success);
    });
}

const HELP_AFTER = `
A unit is an item of ctx.each, or a ctx.step. A planned unit has not started, or its run has ended
before the unit did.

Example:
  millrace jobs units 01JCR5M4X2E8T9V6B3N7K0QWAZ --state failed
`;

function tableOf(units: readonly UnitView[]): string {
  return table(
    ["UNIT", "PHASE", "STATE", "AT", "ERROR"],
    units.map((unit) => [
      unit.key,
      unit.phase ?? "",
      unit.state,
      unit.at.toISOString(),
      errorOf(unit.error),
    ]),
  );
}

/** The words of the command that lists with the same filter. */
function wordsOf(id: string, { state, phase, limit }: UnitsOptions, command: Command): string {
  const wanted = Object.entries(given({ state, phase })).map(
    ([name, value]) => `--${name} ${shellWord(value)}`,
  );
  const isGiven = command.getOptionValueSource("limit") === "cli";
  return [`units ${id}`, ...wanted, ...(isGiven ? [`--limit ${limit}`] : [])].join(" ");
}
