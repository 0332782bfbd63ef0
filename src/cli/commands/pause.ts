/** `millrace pause`, `resume` and `pauses`: pauses of types, lanes, tenants and of all jobs. */
import type { Command } from "commander";
import type { Pause, PauseTarget, Resumed } from "../../api/client.ts";
import { plain } from "../../lib/plain-text.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { unknownType } from "../nearest-type.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../terminal/options.ts";
import { ageOf, json, table, type Format } from "../terminal/output.ts";
import { given, systemUser, withExistingMill, type Shell } from "../shell.ts";

export interface TargetOptions {
  readonly db: string;
  readonly type?: string;
  readonly lane?: string;
  readonly tenant?: string;
  readonly service?: string;
  readonly all?: true;
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
    .description("Start no more jobs of a type, a lane, a tenant, a service or at all.")
    .option("--reason <text>", "the reason, shown by explain and pauses", "no reason given")
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", `\nExample:\n  millrace pause --type email --reason "the bank is down"\n`)
    .action(async (options: PauseOptions) => {
      const { target, subject } = targetOf(options);
      const { reason, by: actor, output } = options;
      const pausedBy = await withExistingMill(options.db, async (mill) => {
        const warning = options.type === undefined ? null : await unknownType(mill, options.type);
        if (warning !== null) terminal.err(`${warning}\n`);
        await mill.pause(target, reason, { actor });
        return output === "json" ? ((await mill.actor?.()) ?? actor) : actor;
      });
      const facts = { ...target, paused: true, reason, pausedBy };
      terminal.out(output === "json" ? json(facts) : `${plain(subject)} is paused.\n`);
      end(EXIT.success);
    });
}

function declareResume(program: Command, { terminal, end }: Shell): void {
  targeted(program.command("resume"))
    .description("End the pause of a type, a lane, a tenant, a service or of all jobs.")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addHelpText("after", RESUME_HELP_AFTER)
    .action(async (options: TargetOptions & ActedOptions) => {
      const { target, subject } = targetOf(options);
      const { by: actor, reason } = options;
      await withExistingMill(options.db, async (mill) => {
        const resumed = await mill.resume(target, given({ actor, reason }));
        const facts = { ...target, paused: false, ...resumed };
        terminal.out(options.output === "json" ? json(facts) : sentenceOf(subject, resumed));
        if (!resumed.wasPaused) terminal.err(listOf(await mill.pauses()));
      });
      end(EXIT.success);
    });
}

const RESUME_HELP_AFTER = `
Says how many queued jobs may run now. If there was no pause, nothing changes, and the pauses are
listed.

Example:
  millrace resume --type email
`;

function sentenceOf(subject: string, { wasPaused, queued, atLeast }: Resumed): string {
  if (!wasPaused) return `${plain(subject)} was not paused.\n`;
  const jobs = `queued job${queued === 1 ? "" : "s"}`;
  return `${plain(subject)} is resumed: ${countOf({ queued, atLeast })} ${jobs} may run now.\n`;
}

function declarePauses(program: Command, { terminal, end }: Shell): void {
  program
    .command("pauses")
    .description("List what is paused, since when, by whom and why.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", PAUSES_HELP_AFTER)
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.pauses());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err(listOf(found));
      end(EXIT.success);
    });
}

const PAUSES_HELP_AFTER = `
WAITING counts the queued jobs behind a pause. ALONE counts those of them that no other pause holds
back: resume lets so many run.
`;

function listOf(pauses: readonly Pause[]): string {
  if (pauses.length === 0) return "Nothing is paused.\n";
  const now = systemClock.now();
  return table(
    ["KIND", "NAME", "WAITING", "ALONE", "SINCE", "BY", "REASON", "UNTIL"],
    pauses.map((pause) => [
      pause.kind,
      pause.name,
      waitingOf(pause),
      countOf(pause),
      `${ageOf(pause.pausedAt, now)} ago`,
      pause.pausedBy ?? "",
      pause.reason,
      pause.until?.toISOString() ?? "resumed",
    ]),
  );
}

/** All queued jobs behind the pause, also those that another pause holds back. */
function waitingOf({ queued, shared, atLeast, sharedAtLeast }: Pause): string {
  return countOf({ queued: queued + shared, atLeast: atLeast || sharedAtLeast });
}

function countOf({ queued, atLeast }: Pick<Resumed, "queued" | "atLeast">): string {
  return `${atLeast ? "at least " : ""}${queued}`;
}

function targeted(command: Command): Command {
  return targetedAtEnqueue(
    command.option("--service <name>", "jobs of types that use this service"),
  );
}

/** The targets that a job has when it is enqueued, without the services that its type uses. */
export function targetedAtEnqueue(command: Command): Command {
  return command
    .option("--type <name>", "jobs of this type")
    .option("--lane <name>", "jobs of this lane")
    .option("--tenant <name>", "jobs of this tenant")
    .option("--all", "all jobs, also those of new types, lanes and tenants")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption());
}

/** What a command is about, and its name for people. */
export interface NamedTarget {
  readonly target: PauseTarget;
  readonly subject: string;
}

function targetOf(options: TargetOptions): NamedTarget {
  return onlyTarget(options, "--type, --lane, --tenant, --service and --all");
}

export function onlyTarget(options: TargetOptions, names: string): NamedTarget {
  const [target, ...more] = targetsOf(options);
  if (target !== undefined && more.length === 0) return target;
  throw new CommandFailure(`Name exactly one of ${names}.`, {
    hint: "For example: --type email",
    exitCode: EXIT.usage,
  });
}

export function targetsOf({
  type,
  lane,
  tenant,
  service,
  all,
}: Omit<TargetOptions, "db" | "output">): NamedTarget[] {
  const targets: NamedTarget[] = [];
  if (type !== undefined) targets.push({ target: { type }, subject: `Type ${type}` });
  if (lane !== undefined) targets.push({ target: { lane }, subject: `Lane ${lane}` });
  if (tenant !== undefined) targets.push({ target: { tenant }, subject: `Tenant ${tenant}` });
  if (service !== undefined) targets.push({ target: { service }, subject: `Service ${service}` });
  if (all === true) {
    targets.push({ target: { installation: true }, subject: "The whole installation" });
  }
  return targets;
}
