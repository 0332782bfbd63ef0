/** `millrace pause` and `millrace resume`: pauses a type, a lane or a tenant. */
import type { Command } from "commander";
import type { PauseTarget } from "../../api/client.ts";
import { plain } from "../../lib/plain-text.ts";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { nearestType } from "../nearest-type.ts";
import { databaseOption, outputOption } from "../terminal/options.ts";
import { json, type Format } from "../terminal/output.ts";
import { systemUser, withExistingMill, type Shell } from "../shell.ts";

interface PauseOptions {
  readonly db: string;
  readonly type?: string;
  readonly lane?: string;
  readonly tenant?: string;
  readonly reason: string;
  readonly output: Format;
}

export function declarePause(program: Command, { terminal, end }: Shell): void {
  targeted(program.command("pause"))
    .description("Start no more jobs of a type, a lane or a tenant; running jobs continue.")
    .option("--reason <text>", "the reason, shown by explain", `paused by ${systemUser()}`)
    .addHelpText("after", `\nExample:\n  millrace pause --type email --reason "the bank is down"\n`)
    .action(async (options: PauseOptions) => {
      const { target, name } = targetOf(options);
      await withExistingMill(options.db, async (mill) => {
        const near = options.type === undefined ? null : await nearestType(mill, options.type);
        if (near !== null) {
          terminal.err(`There is no job of this type. Did you mean ${plain(near)}?\n`);
        }
        await mill.pause(target, options.reason);
      });
      const { reason, output } = options;
      terminal.out(output === "json" ? json({ ...target, paused: true, reason }) : said(name, ""));
      end(EXIT.success);
    });

  targeted(program.command("resume"))
    .description("End the pause of a type, a lane or a tenant.")
    .addHelpText("after", `\nExample:\n  millrace resume --type email\n`)
    .action(async (options: PauseOptions) => {
      const { target, name } = targetOf(options);
      await withExistingMill(options.db, (mill) => mill.resume(target));
      const isJson = options.output === "json";
      terminal.out(isJson ? json({ ...target, paused: false }) : said(name, "not "));
      end(EXIT.success);
    });
}

function said(name: string, not: string): string {
  return `${plain(name)} is ${not}paused.\n`;
}

function targeted(command: Command): Command {
  return command
    .option("--type <name>", "jobs of this type")
    .option("--lane <name>", "jobs of this lane")
    .option("--tenant <name>", "jobs of this tenant")
    .addOption(databaseOption())
    .addOption(outputOption());
}

function targetOf({ type, lane, tenant }: PauseOptions): { target: PauseTarget; name: string } {
  const targets: { target: PauseTarget; name: string }[] = [];
  if (type !== undefined) targets.push({ target: { type }, name: `Type ${type}` });
  if (lane !== undefined) targets.push({ target: { lane }, name: `Lane ${lane}` });
  if (tenant !== undefined) targets.push({ target: { tenant }, name: `Tenant ${tenant}` });
  const [target, ...more] = targets;
  if (target !== undefined && more.length === 0) return target;
  throw new CommandFailure("Name exactly one of --type, --lane and --tenant.", {
    hint: "For example: --type email",
    exitCode: EXIT.usage,
  });
}
