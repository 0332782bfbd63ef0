/** `millrace config print`: shows each setting and its source. */
import type { Command } from "commander";
import { defaults } from "../../core/presets.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { configFile } from "../jobs-file/config-file.ts";
import { usualJobFile } from "../jobs-file/job-file.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import {
  databaseOption,
  jobsOption,
  lanesOption,
  linkOption,
  outputOption,
  portOption,
} from "../terminal/options.ts";
import { json, table, type Format } from "../terminal/output.ts";
import type { Shell } from "../shell.ts";

interface Setting {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

export function declareConfig(program: Command, { terminal, end }: Shell): void {
  const config = program.command("config").description("Show the settings.");
  config
    .command("print")
    .description("Show every setting with its value and its source; secrets are hidden.")
    .addOption(databaseOption())
    .addOption(portOption())
    .addOption(jobsOption())
    .addOption(lanesOption())
    .addOption(linkOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(({ output }: { output: Format }, command: Command) => {
      const settings = [
        ...["db", "port", "jobs", "lanes", "links"].map((name) => settingOf(name, command)),
        server(),
        token(),
      ];
      terminal.out(output === "json" ? json(settings) : tableOf(settings));
      end(EXIT.success);
    });
}

const HELP_AFTER = `
Precedence: flag, environment variable, millrace.config.ts (or .js, .mjs) in this folder, default.

Example of millrace.config.ts:
  export default { db: "sqlite:./jobs.db", jobs: "./src/jobs.ts", lanes: { fast: 3, general: 5 } };
`;

function settingOf(name: string, command: Command): Setting {
  const value: unknown = command.getOptionValue(name);
  if (value === undefined) return unsetSetting(name);
  return { name, value: shownValue(value), source: sourceOf(name, command) };
}

/** What the commands take where nothing was set. `server` looks for no job file. */
function unsetSetting(name: string): Setting {
  if (name === "lanes") return { name, value: shownValue(defaults.lanes), source: "default" };
  const file = name === "jobs" ? usualJobFile() : undefined;
  if (file === undefined) return { name, value: null, source: "not set" };
  return { name, value: file, source: "found by dev, worker and enqueue" };
}

function shownValue(value: unknown): string {
  return typeof value === "string" ? shownUrl(value) : JSON.stringify(value);
}

function sourceOf(name: string, command: Command): string {
  const option = command.options.find((each) => each.attributeName() === name);
  const source = command.getOptionValueSource(name);
  if (source === "cli") return option?.long ?? `--${name}`;
  if (source === "env") return option?.envVar ?? "environment";
  if (source === "config") return configFile() ?? "file";
  return "default";
}

/** Replaces the store for commands that take --server. */
function server(): Setting {
  const url = process.env["MILLRACE_SERVER"] ?? "";
  return url === ""
    ? { name: "server", value: null, source: "not set" }
    : { name: "server", value: shownUrl(url), source: "MILLRACE_SERVER" };
}

function token(): Setting {
  const isSet = (process.env["MILLRACE_TOKEN"] ?? "") !== "";
  return isSet
    ? { name: "token", value: "…", source: "MILLRACE_TOKEN" }
    : { name: "token", value: null, source: "not set" };
}

function tableOf(settings: readonly Setting[]): string {
  return table(
    ["SETTING", "VALUE", "SOURCE"],
    settings.map(({ name, value, source }) => [name, value ?? "", source]),
  );
}
