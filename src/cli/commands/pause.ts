/** `millrace pause`, `resume` and `pauses`: pauses of types, lanes and tenants. */
import type { Command } from "commander";
import type { Millrace, Pause, PauseTarget, Resumed } from "../../api/client.ts";
import { closest } from "../../lib/closest.ts";
import { plain } from "../../lib/plain-text.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { nearestType } from "../nearest-type.ts";
import { databaseOption, outputOption } from "../terminal/options.ts";
import { ageOf, json, table, type Format } from "../terminal/output.ts";
import { systemUser, withExistingMill, type Shell } from "../shell.ts";

interface TargetOptions {
  readonly db: string;
  readonly type?: string;
  readonly lane?: string;
  readonly tenant?: string;
  readonly output: Format;
}

interface PauseOptions extends TargetOptions {
  readonly reason: string;
  readonly by: string;
}

export function declarePause(program: Command, shell: Shell): void {
  declarePauseOf(program, shell);
  declareResume(program, shell);
  declarePauses(program, shell);
}

function declarePauseOf(program: Command, { terminal, end }: Shell): void {
  targeted(program.command("pause"))
    .description("Start no more jobs of a type, a lane or a tenant; running jobs continue.")
    .option("--reason <text>", "the reason, shown by explain and pauses", "no reason given")
    .option("--by <name>", "the person, for the record", systemUser())
    .addHelpText("after", `\nExample:\n  millrace pause --type email --reason "the bank is down"\n`)
    .action(async (options: PauseOptions) => {
      const { target, subject } = targetOf(options);
      const { reason, by: actor, output } = options;
      await withExistingMill(options.db, async (mill) => {
        const near = options.type === undefined ? null : await nearestType(mill, options.type);
        if (near !== null) {
          terminal.err(`There is no job of this type. Did you mean ${plain(near)}?\n`);
        }
        await mill.pause(target, reason, { actor });
      });
      const facts = { ...target, paused: true, reason, pausedBy: actor };
      terminal.out(output === "json" ? json(facts) : `${plain(subject)} is paused.\n`);
      end(EXIT.success);
    });
}

function declareResume(program: Command, { terminal, end }: Shell): void {
  targeted(program.command("resume"))
    .description("End the pause of a type, a lane or a tenant.")
    .addHelpText("after", RESUME_HELP_AFTER)
    .action(async (options: TargetOptions) => {
      const { target, subject, kind, name } = targetOf(options);
      await withExistingMill(options.db, async (mill) => {
        const resumed = await mill.resume(target);
        if (!resumed.wasPaused) {
          const near = await nearestPause(mill, kind, name);
          if (near !== null) terminal.err(`Did you mean ${plain(near)}?\n`);
        }
        const facts = { ...target, paused: false, ...resumed };
        terminal.out(options.output === "json" ? json(facts) : sentenceOf(subject, resumed));
      });
      end(EXIT.success);
    });
}

const RESUME_HELP_AFTER = `
Says how many queued jobs may run now. If there was no pause, nothing changes; millrace pauses lists
the pauses.

Example:
  millrace resume --type email
`;

function sentenceOf(subject: string, { wasPaused, queued, atLeast }: Resumed): string {
  if (!wasPaused) return `${plain(subject)} was not paused.\n`;
  const jobs = `${atLeast ? "at least " : ""}${queued} queued job${queued === 1 ? "" : "s"}`;
  return `${plain(subject)} is resumed: ${jobs} may run now.\n`;
}

/** The paused name that is closest to a name that is not paused. */
async function nearestPause(
  mill: Millrace,
  kind: Pause["kind"],
  name: string,
): Promise<string | null> {
  const paused = (await mill.pauses()).filter((pause) => pause.kind === kind);
  return closest(
    name,
    paused.map((pause) => pause.name),
  );
}

function declarePauses(program: Command, { terminal, end }: Shell): void {
  program
    .command("pauses")
    .description("List what is paused, since when, by whom and why.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.pauses());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("Nothing is paused.\n");
      end(EXIT.success);
    });
}

function tableOf(pauses: readonly Pause[]): string {
  const now = systemClock.now();
  return table(
    ["KIND", "NAME", "SINCE", "BY", "REASON", "UNTIL"],
    pauses.map(({ kind, name, pausedAt, pausedBy, reason, until }) => [
      kind,
      name,
      `${ageOf(pausedAt, now)} ago`,
      pausedBy ?? "",
      reason,
      until?.toISOString() ?? "resumed",
    ]),
  );
}

function targeted(command: Command): Command {
  return command
    .option("--type <name>", "jobs of this type")
    .option("--lane <name>", "jobs of this lane")
    .option("--tenant <name>", "jobs of this tenant")
    .addOption(databaseOption())
    .addOption(outputOption());
}

interface Target {
  readonly target: PauseTarget;
  readonly kind: Pause["kind"];
  readonly name: string;
  readonly subject: string;
}

function targetOf({ type, lane, tenant }: TargetOptions): Target {
  const targets: Target[] = [];
  if (type !== undefined) {
    targets.push({ target: { type }, kind: "type", name: type, subject: `Type ${type}` });
  }
  if (lane !== undefined) {
    targets.push({ target: { lane }, kind: "lane", name: lane, subject: `Lane ${lane}` });
  }
  if (tenant !== undefined) {
    targets.push({ target: { tenant }, kind: "tenant", name: tenant, subject: `Tenant ${tenant}` });
  }
  const [target, ...more] = targets;
  if (target !== undefined && more.length === 0) return target;
  throw new CommandFailure("Name exactly one of --type, --lane and --tenant.", {
    hint: "For example: --type email",
    exitCode: EXIT.usage,
  });
}
