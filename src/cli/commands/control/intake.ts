/** `millrace intake`: which new jobs producers may enqueue. */
import type { Command } from "commander";
import type { ClosedIntake, IntakeTarget } from "../../../api/control/intake.ts";
import { plain } from "../../../lib/plain-text.ts";
import { systemClock } from "../../../lib/system.ts";
import { unknownType } from "../../nearest-type.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../../terminal/options.ts";
import { ageOf, json, table, type Format } from "../../terminal/output.ts";
import { onlyTarget, targetedAtEnqueue, type TargetOptions } from "../pause.ts";

interface CloseOptions extends TargetOptions {
  readonly reason: string;
  readonly by: string;
}

export function declareIntake(program: Command, shell: Shell): void {
  const intake = program
    .command("intake")
    .description("Refuse new jobs at their enqueue, or accept them again.");
  declareClose(intake, shell);
  declareOpen(intake, shell);
  declareList(intake, shell);
}

function declareClose(parent: Command, { terminal, end }: Shell): void {
  targetedAtEnqueue(parent.command("close"))
    .description("Refuse new jobs of a type, a lane, a tenant or at all.")
    .option("--reason <text>", "the reason, shown to the producers", "no reason given")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", CLOSE_HELP_AFTER)
    .action(async (options: CloseOptions) => {
      const { target, subject } = targetOf(options);
      const { reason, by: actor, output } = options;
      const closedBy = await withExistingMill(options.db, async (mill) => {
        const warning = options.type === undefined ? null : await unknownType(mill, options.type);
        if (warning !== null) terminal.err(`${warning}\n`);
        await mill.intake.close(target, reason, { actor });
        return output === "json" ? ((await mill.actor?.()) ?? actor) : actor;
      });
      const facts = { ...target, closed: true, reason, closedBy };
      const sentence = `${plain(subject)} accepts no new jobs.\n`;
      terminal.out(output === "json" ? json(facts) : sentence);
      end(EXIT.success);
    });
}

const CLOSE_HELP_AFTER = `
Jobs that exist still run: to hold them back as well, use millrace pause or millrace drain. Their
retries and children are accepted, and so are millrace jobs retry and millrace dlq reprocess. A
schedule makes no job, and the tick is not made up for.

Example:
  millrace intake close --type email --reason "the mail server moves"
`;

function declareOpen(parent: Command, { terminal, end }: Shell): void {
  targetedAtEnqueue(parent.command("open"))
    .description("Accept new jobs of a type, a lane, a tenant or at all again.")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addHelpText("after", "\nExample:\n  millrace intake open --type email\n")
    .action(async (options: TargetOptions & ActedOptions) => {
      const { target, subject } = targetOf(options);
      const { by: actor, reason } = options;
      await withExistingMill(options.db, async (mill) => {
        const { wasClosed } = await mill.intake.open(target, given({ actor, reason }));
        const facts = { ...target, closed: false, wasClosed };
        const sentence = wasClosed ? "accepts new jobs again" : "was not closed";
        terminal.out(options.output === "json" ? json(facts) : `${plain(subject)} ${sentence}.\n`);
        if (!wasClosed) terminal.err(listOf(await mill.intake.list()));
      });
      end(EXIT.success);
    });
}

function declareList(parent: Command, { terminal, end }: Shell): void {
  parent
    .command("list")
    .description("List what is closed, since when, by whom and why.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.intake.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err(listOf(found));
      end(EXIT.success);
    });
}

function listOf(closed: readonly ClosedIntake[]): string {
  if (closed.length === 0) return "All intakes are open.\n";
  const now = systemClock.now();
  return table(
    ["KIND", "NAME", "SINCE", "BY", "REASON"],
    closed.map(({ kind, name, reason, closedBy, closedAt }) => {
      return [kind, name, `${ageOf(closedAt, now)} ago`, closedBy ?? "", reason];
    }),
  );
}

function targetOf(options: TargetOptions): { target: IntakeTarget; subject: string } {
  const { target, subject } = onlyTarget(options, "--type, --lane, --tenant and --all");
  if ("service" in target) throw new Error("intake has no option --service");
  return { target, subject };
}
