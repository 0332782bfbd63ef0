/** `millrace limits list`, `set` and `remove`. */
import type { Command } from "commander";
import type { Limit, LimitRule, LimitTarget } from "../../../api/control/limits.ts";
import { formatDuration, type Duration } from "../../../core/duration.ts";
import { plain } from "../../../lib/plain-text.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";

interface TargetOptions {
  readonly db: string;
  readonly type?: string;
  readonly tenant?: string;
  readonly service?: string;
  readonly key?: string;
  readonly all?: true;
  readonly output: Format;
}

interface SetOptions extends TargetOptions, ActedOptions {
  readonly concurrency?: number;
  readonly rate?: { readonly limit: number; readonly per: Duration };
  readonly burst?: number;
}

export function declareLimits(program: Command, shell: Shell): void {
  const limits = program
    .command("limits")
    .description("How many jobs may run at the same time, and how many may start in a period.");
  declareList(limits, shell);
  declareSet(limits, shell);
  declareRemove(limits, shell);
}

function declareList(limits: Command, { terminal, end }: Shell): void {
  limits
    .command("list")
    .description("List the limits, with what is used of each and how many jobs wait.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async ({ db, output }: { db: string; output: Format }) => {
      const found = await withExistingMill(db, (mill) => mill.limits.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(listOf(found));
      else terminal.err("There are no limits.\n");
      end(EXIT.success);
    });
}

function listOf(limits: readonly Limit[]): string {
  return table(
    ["KIND", "NAME", "RUNNING", "RATE", "WAITING", "SET BY"],
    limits.map((limit) => [
      limit.kind,
      limit.tenant === null ? limit.name : `${limit.tenant} ${limit.name}`,
      useOf(limit),
      rateOf(limit),
      `${limit.atLeast ? "at least " : ""}${limit.queued}`,
      limit.owner === "code" ? "code" : (limit.setBy ?? ""),
    ]),
  );
}

/** A tenant is not told how many jobs of other tenants run. */
function useOf({ used, concurrency }: Limit): string {
  if (concurrency === null) return "";
  return used === null ? `at most ${concurrency}` : `${used} of ${concurrency}`;
}

function rateOf({ rate }: Limit): string {
  if (rate === null) return "";
  const burst = rate.burst === rate.limit ? "" : `, burst ${rate.burst}`;
  return `${rate.limit} per ${formatDuration(rate.perMs)}${burst}`;
}

function declareSet(limits: Command, { terminal, end }: Shell): void {
  targeted(limits.command("set"))
    .description("Set a limit. Running jobs continue.")
    .option("--concurrency <count>", "jobs that may run at the same time", parseCount)
    .option("--rate <rate>", "jobs that may start in a period, such as 100/1m", parseRate)
    .option("--burst <count>", "jobs that may start at once, instead of the whole rate", parseCount)
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the record", systemUser()))
    .addHelpText("after", "\nExample:\n  millrace limits set --type report --concurrency 5\n")
    .action(async (options: SetOptions) => {
      const { target, subject } = targetOf(options);
      const rule = ruleOf(options);
      const { by: actor, reason, output } = options;
      const act = given({ actor, reason });
      await withExistingMill(options.db, (mill) => mill.limits.set(target, rule, act));
      const facts = { ...target, ...rule };
      terminal.out(output === "json" ? json(facts) : `The limit of ${plain(subject)} is set.\n`);
      end(EXIT.success);
    });
}

function declareRemove(limits: Command, { terminal, end }: Shell): void {
  targeted(limits.command("remove"))
    .description("Remove a limit. What the code of a type states counts again.")
    .addHelpText("after", "\nExample:\n  millrace limits remove --type report\n")
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .action(async (options: TargetOptions & ActedOptions) => {
      const { target, subject } = targetOf(options);
      const { by: actor, reason } = options;
      const wasSet = await withExistingMill(options.db, (mill) =>
        mill.limits.remove(target, given({ actor, reason })),
      );
      const sentence = wasSet
        ? `The limit of ${plain(subject)} is removed.\n`
        : `No operator has set a limit of ${plain(subject)}.\n`;
      terminal.out(options.output === "json" ? json({ ...target, wasSet }) : sentence);
      end(EXIT.success);
    });
}

function targeted(command: Command): Command {
  return command
    .option("--type <name>", "jobs of this type")
    .option("--tenant <name>", "jobs of this tenant")
    .option("--service <name>", "jobs of all types that call this service")
    .option("--key <key>", "jobs with this concurrency key, of the tenant or the default one")
    .option("--all", "all jobs")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption());
}

function targetOf({ type, tenant, service, key, all }: TargetOptions): {
  readonly target: LimitTarget;
  readonly subject: string;
} {
  const targets: { target: LimitTarget; subject: string }[] = [];
  if (type !== undefined) targets.push({ target: { type }, subject: `the type ${type}` });
  if (key !== undefined) {
    const target = { key, ...(tenant !== undefined && { tenant }) };
    targets.push({ target, subject: `the key ${key}` });
  } else if (tenant !== undefined) {
    targets.push({ target: { tenant }, subject: `the tenant ${tenant}` });
  }
  if (service !== undefined) {
    targets.push({ target: { service }, subject: `the service ${service}` });
  }
  if (all === true) {
    targets.push({ target: { installation: true }, subject: "the installation" });
  }
  const [target, ...more] = targets;
  if (target !== undefined && more.length === 0) return target;
  throw new CommandFailure("Name exactly one of --type, --tenant, --service, --key and --all.", {
    hint: "For example: --type report",
    exitCode: EXIT.usage,
  });
}

function ruleOf({ concurrency, rate, burst }: SetOptions): LimitRule {
  if (concurrency === undefined && rate === undefined) {
    throw new CommandFailure("Name --concurrency, --rate or both.", {
      hint: "For example: --concurrency 5, or --rate 100/1m",
      exitCode: EXIT.usage,
    });
  }
  if (burst !== undefined && rate === undefined) {
    throw new CommandFailure("--burst belongs to --rate.", {
      hint: "For example: --rate 100/1m --burst 10",
      exitCode: EXIT.usage,
    });
  }
  return {
    ...(concurrency !== undefined && { concurrency }),
    ...(rate && { rate: { ...rate, ...(burst !== undefined && { burst }) } }),
  };
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000_000_000) return count;
  throw new CommandFailure(`"${plain(text)}" is not a number of jobs.`, {
    hint: "Write a whole number from 1 to 1,000,000,000",
    exitCode: EXIT.usage,
  });
}

export function parseRate(text: string): { limit: number; per: Duration } {
  const [limit, per, ...more] = text.split("/");
  if (limit !== undefined && per !== undefined && more.length === 0) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `limits.set` checks it.
    return { limit: parseCount(limit), per: per as Duration };
  }
  throw new CommandFailure(`"${plain(text)}" is not a rate.`, {
    hint: "Write a number of jobs and a period, such as 100/1m",
    exitCode: EXIT.usage,
  });
}
