/** `millrace attention`. */
import type { Command } from "commander";
import type { Attention } from "../../../api/control/attention.ts";
import type { AttentionFinding } from "../../../core/attention/finding.ts";
import { withExistingMill, type Shell } from "../../shell.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { databaseOption, outputOption, serverOption } from "../../terminal/options.ts";
import { ageOf, json, table, type Format } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";

export function declareAttention(program: Command, { terminal, end }: Shell): void {
  program
    .command("attention")
    .description("Show what needs attention, and what was checked.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.attention());
      if (output === "json") terminal.out(json(found));
      else show(found, terminal);
      const isBroken = found.findings.some(({ level }) => level === "broken");
      end(isBroken ? EXIT.broken : EXIT.success);
    });
}

const HELP_AFTER = `
The exit code is 1 if something is broken, and 0 if nothing is, also if a person should look at
something. What could not be read within five seconds is named on stderr.

Example:
  millrace attention
`;

function show({ checkedAt, findings, checked }: Attention, terminal: Terminal): void {
  const about = (status: string): string =>
    checked.flatMap((check) => (check.status === status ? check.about : [])).join(", ");
  if (findings.length > 0) terminal.out(tableOf(findings, checkedAt.getTime()));
  else terminal.out("Nothing needs attention.\n");
  const well = about("well");
  if (well !== "") terminal.err(`Checked, and well: ${well}.\n`);
  const unread = about("unread");
  if (unread !== "") terminal.err(`Could not be checked: ${unread}.\n`);
  const partial = checked.filter(({ isPartial }) => isPartial).map((check) => check.about);
  if (partial.length > 0) terminal.err(`Not all was read: ${partial.join(", ")}.\n`);
  const all = checked.reduce((total, check) => total + check.findings, 0);
  if (all > findings.length) terminal.err(`${findings.length} of ${all} findings are shown.\n`);
}

function tableOf(findings: readonly AttentionFinding[], now: number): string {
  return table(
    ["LEVEL", "SINCE", "FINDING", "COMMAND"],
    findings.map(({ level, since, sentence, action }) => [
      level,
      since === null ? "" : ageOf(since, now),
      sentence,
      action.command,
    ]),
  );
}
