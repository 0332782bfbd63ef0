/**
 * Reads `millrace.config.ts` in the working directory. Flags take precedence over environment
 * variables, then the file, then the defaults.
 */
import { existsSync } from "node:fs";
import { InvalidArgumentError } from "commander";
import type { Command } from "commander";
import { must, type Rule } from "../../api/rules.ts";
import { someLanes, type Lanes } from "../../jobs/lanes-rule.ts";
import { someLinks, type Links } from "../../jobs/links-rule.ts";
import { closest } from "../../lib/closest.ts";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { parsePort } from "../terminal/options.ts";
import { importUserModule } from "./user-module.ts";

const NAMES = ["millrace.config.ts", "millrace.config.js", "millrace.config.mjs"];

export interface Config {
  readonly db?: string;
  readonly port?: number;
  readonly jobs?: string;
  readonly lanes?: Lanes;
  readonly links?: Links;
}

/** The rule for each setting. */
const RULES: Readonly<Record<keyof Config, Rule>> = {
  db: must(isText, 'a URL such as "sqlite:./millrace.db"'),
  port: must(isPort, "a number from 0 to 65535"),
  jobs: must(isText, 'a file name such as "./jobs.ts"'),
  lanes: someLanes,
  links: someLinks,
};

/** The configuration file in the working directory, or `null`. */
export function configFile(): string | null {
  return NAMES.find((name) => existsSync(name)) ?? null;
}

/** Sets the options of a command that neither flags nor environment have set. */
export async function applyConfig(command: Command): Promise<void> {
  const open = command.options
    .map((option) => option.attributeName())
    .filter((name) => Object.hasOwn(RULES, name))
    .filter((name) => isUnset(command.getOptionValueSource(name)));
  const file = configFile();
  if (open.length === 0 || file === null) return;
  const config: Readonly<Record<string, unknown>> = { ...(await loadConfig(file)) };
  for (const name of open) {
    const value = config[name];
    if (value !== undefined) command.setOptionValueWithSource(name, value, "config");
  }
}

/** What the file exports beside its settings, unchecked. */
export async function configExports(): Promise<{
  readonly file: string;
  readonly deps?: unknown;
  readonly preset?: unknown;
}> {
  const file = configFile();
  if (file === null) return { file: "" };
  const { deps, preset } = await importUserModule(file);
  return { file, deps, preset };
}

function isUnset(source: string | undefined): boolean {
  return source === undefined || source === "default";
}

async function loadConfig(file: string): Promise<Config> {
  const { default: config } = await importUserModule(file);
  if (typeof config !== "object" || config === null) {
    throw invalid(file, "the file has no object as default export", "Write: export default { … }");
  }
  for (const [name, value] of Object.entries(config)) check(file, name, value);
  return config;
}

function check(file: string, name: string, value: unknown): void {
  if (name === "deps" || name === "preset") {
    const hint = `Export ${name} by name: export const ${name} = …`;
    throw invalid(file, `${name} is not a setting`, hint);
  }
  const known = Object.keys(RULES);
  const rule = Object.entries(RULES).find(([each]) => each === name)?.[1];
  if (rule === undefined) {
    const near = closest(name, known);
    const hint = near === null ? `The settings are ${known.join(", ")}.` : `Did you mean ${near}?`;
    throw invalid(file, `there is no setting “${name}”`, hint);
  }
  const mismatch = value === undefined ? null : rule(value, name);
  if (mismatch === null) return;
  const { place, problem } = mismatch;
  throw invalid(file, `${place} ${problem}`, `Correct ${place} in ${file}.`);
}

function invalid(file: string, message: string, hint: string): CommandFailure {
  return new CommandFailure(`${file}: ${message}.`, { hint, exitCode: EXIT.usage });
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isPort(value: unknown): boolean {
  try {
    return typeof value === "number" && parsePort(String(value)) === value;
  } catch (error) {
    if (error instanceof InvalidArgumentError) return false;
    throw error;
  }
}
