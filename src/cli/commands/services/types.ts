/** `millrace types`: what workers have declared about their types, and what operators override. */
import type { Command } from "commander";
import type { EnqueueSettings, TypeView } from "../../../api/services/types.ts";
import { formatDuration, type Duration } from "../../../core/duration.ts";
import { plain } from "../../../lib/plain-text.ts";
import { systemClock } from "../../../lib/system.ts";
import { CommandFailure, EXIT } from "../../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../../terminal/options.ts";
import { ageOf, json, table, type Format } from "../../terminal/output.ts";
import { given, systemUser, withExistingMill, type Shell } from "../../shell.ts";

export function declareTypes(program: Command, shell: Shell): void {
  const types = program.command("types").description("The types that workers have declared.");
  declareList(types, shell);
  declareOverride(types, shell);
  declareReset(types, shell);
}

function declareList(types: Command, { terminal, end }: Shell): void {
  types
    .command("list", { isDefault: true })
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
type, by millrace enqueue --no-jobs or over HTTP, gets these settings. A setting that an operator
has overridden is followed by the declared one in brackets. DISPUTED marks types that
living workers have declared differently.
`;

interface OverrideOptions extends ActedOptions {
  readonly db: string;
  readonly lane?: string;
  readonly priority?: number;
  readonly maxAttempts?: number;
  readonly timeout?: Duration | false;
  readonly output: Format;
}

function declareOverride(types: Command, { terminal, end }: Shell): void {
  types
    .command("override")
    .argument("<type>", "the type")
    .description("Set settings of a type in place of those that workers declare.")
    .option("--lane <name>", "the lane of new jobs")
    .option("--priority <number>", "the priority of new jobs", parseCount)
    .option("--max-attempts <number>", "the attempts of new jobs", parseCount)
    .option("--timeout <duration>", "the longest run of new jobs, or none", parseTimeout)
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the record", systemUser()))
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addHelpText("after", "\nExample:\n  millrace types override report --priority 5\n")
    .action(async (type: string, options: OverrideOptions) => {
      const { db, output, by: actor, reason, lane, priority, maxAttempts, timeout } = options;
      const settings = {
        ...(lane !== undefined && { lane }),
        ...(priority !== undefined && { priority }),
        ...(maxAttempts !== undefined && { maxAttempts }),
        ...(timeout !== undefined && { timeout }),
      };
      const act = given({ actor, reason });
      await withExistingMill(db, (mill) => mill.types.override(type, settings, act));
      const sentence = `The settings of the type ${plain(type)} are overridden.\n`;
      terminal.out(output === "json" ? json({ type, ...settings }) : sentence);
      end(EXIT.success);
    });
}

function declareReset(types: Command, { terminal, end }: Shell): void {
  types
    .command("reset")
    .argument("<type>", "the type")
    .description("Remove an override: what workers declare counts again.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .action(async (type: string, options: { db: string; output: Format } & ActedOptions) => {
      const { db, output, by: actor, reason } = options;
      const act = given({ actor, reason });
      const wasSet = await withExistingMill(db, (mill) => mill.types.reset(type, act));
      const sentence = wasSet
        ? `What workers declare about the type ${plain(type)} counts again.\n`
        : `No operator has overridden the type ${plain(type)}.\n`;
      terminal.out(output === "json" ? json({ type, wasSet }) : sentence);
      end(EXIT.success);
    });
}

export function parseCount(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new CommandFailure(`"${plain(text)}" is not a whole number.`, {
    hint: "Write digits, for example 5",
    exitCode: EXIT.usage,
  });
}

function parseTimeout(text: string): Duration | false {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `types.override` checks it.
  return text === "none" ? false : (text as Duration);
}

/** The settings that count, with the declared ones in brackets where an operator has set others. */
function settingsOf({ declared, override, ...own }: TypeView): readonly string[] {
  const timeoutText = (ms: number | null): string => (ms === null ? "none" : formatDuration(ms));
  const texts = (of: EnqueueSettings): Readonly<Record<keyof EnqueueSettings, string>> => ({
    lane: of.lane,
    priority: String(of.priority),
    maxAttempts: String(of.maxAttempts),
    timeoutMs: timeoutText(of.timeoutMs),
  });
  const [now, before] = [texts(own), texts(declared)];
  const names = ["lane", "priority", "maxAttempts", "timeoutMs"] as const;
  return names.map((name) =>
    override?.settings.includes(name) === true ? `${now[name]} (${before[name]})` : now[name],
  );
}

function tableOf(types: readonly TypeView[]): string {
  const now = systemClock.now();
  return table(
    ["TYPE", "LANE", "PRIORITY", "ATTEMPTS", "TIMEOUT", "SERVICES", "WORKERS", "APP", "DECLARED"],
    types.map((type) => [
      type.type,
      ...settingsOf(type),
      type.services.join(","),
      `${type.workers}${type.isDisputed ? " DISPUTED" : ""}`,
      type.appVersion ?? "",
      `${ageOf(type.declaredAt, now)} ago`,
    ]),
  );
}
