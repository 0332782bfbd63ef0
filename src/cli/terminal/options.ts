/** Options that several commands share, and how their text is read. */
import { InvalidArgumentError, Option, type Command } from "commander";
import { instantMs, waitMs } from "../../core/duration.ts";
import { STATES, type State } from "../../core/job.ts";
import type { Json } from "../../core/payload.ts";
import { someLanes, type Lanes } from "../../jobs/lanes-rule.ts";
import type { Links } from "../../jobs/links-rule.ts";
import { closest } from "../../lib/closest.ts";
import { systemClock } from "../../lib/system.ts";
import { duplicateKey } from "../../lib/duplicate-key.ts";

export const PORT_DEFAULT = 7333;

export function databaseOption(): Option {
  return new Option("--db <url>", "URL of the database")
    .env("MILLRACE_DATABASE_URL")
    .default("sqlite:./millrace.db");
}

/** Beside `--db`, for commands that a server can carry out. */
export function serverOption(): Option {
  return new Option(
    "--server <url>",
    "URL of a Millrace server, instead of --db; the secret of a token is in MILLRACE_TOKEN",
  )
    .env("MILLRACE_SERVER")
    .argParser(parseServer);
}

/** An empty text means none, as in an environment where the variable is unset for one command. */
function parseServer(text: string): string {
  if (text === "") return text;
  const form = "Write a URL such as https://jobs.example.com.";
  if (!isServerUrl(text) || !URL.canParse(text)) throw new InvalidArgumentError(form);
  const { username, password, search, hash } = new URL(text);
  if (`${username}${password}${search}${hash}` === "") return text;
  throw new InvalidArgumentError(`${form} The secret of a token belongs into MILLRACE_TOKEN.`);
}

export function isServerUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/** Options about what a server decides itself, and the reason. */
const ONLY_WITH_STORE = new WeakMap<Option, string>();

/** Who acts, for the record. */
export function actorOption(description: string, user: string): Option {
  const option = new Option("--by <name>", description).default(user);
  ONLY_WITH_STORE.set(option, "a server records whom the token belongs to");
  return option;
}

/** Who acts, and why. */
export interface ActedOptions {
  readonly by: string;
  readonly reason?: string;
}

/** Why a person acts, for acts that are also done without a reason. */
export function reasonOption(): Option {
  return new Option("--reason <text>", "the reason, for the audit");
}

/** A server that a flag or the environment names replaces the database, unless a flag names one. */
export function applyServer(command: Command): void {
  if (!command.options.some((option) => option.attributeName() === "server")) return;
  const options: Readonly<Record<string, unknown>> = command.opts();
  const { db, server } = options;
  const isFlag = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  if (typeof db === "string" && isServerUrl(db)) {
    command.error("error: --db takes the URL of a database; a server is named with --server");
  }
  if (isFlag("server") && server === "") command.error("error: --server is empty");
  if (isFlag("server") && isFlag("db")) command.error("error: give either --db or --server");
  if (typeof server !== "string" || server === "" || isFlag("db")) return;
  for (const option of command.options) {
    const why = ONLY_WITH_STORE.get(option);
    const name = option.attributeName();
    // The value is false after --no-jobs.
    if (why === undefined || !isFlag(name) || options[name] === false) continue;
    command.error(`error: ${option.long} goes with --db: ${why}`);
  }
  command.setOptionValueWithSource("db", server, "server");
}

export function portOption(): Option {
  return new Option(
    "--port <number>",
    "port to listen on; by default the next free port from this one",
  )
    .env("MILLRACE_PORT")
    .default(PORT_DEFAULT)
    .argParser(parsePort);
}

export function jobsOption(): Option {
  const option = new Option("--jobs <file>", "file that exports the jobs").env("MILLRACE_JOBS");
  ONLY_WITH_STORE.set(option, "a server has a job file of its own");
  return option;
}

export function lanesOption(): Option {
  return new Option("--lanes <slots>", "slots by lane, such as fast=3,general=5, or JSON")
    .env("MILLRACE_LANES")
    .argParser(parseLanes);
}

/** The flag names one link, and `links` of the configuration file names all. */
class LinkOption extends Option {
  override attributeName(): string {
    return "links";
  }
}

export function linkOption(): Option {
  return new LinkOption(
    "--link <name=url>",
    "link from jobs to another system, such as trace=https://trace.example/{correlation_id}",
  ).argParser(parseLink);
}

function parseLink(text: string, before: Links = {}): Links {
  const [, name, url] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || url === undefined) {
    throw new InvalidArgumentError("Write a link as name=url.");
  }
  if (Object.hasOwn(before, name))
    throw new InvalidArgumentError(`The link ${name} is given twice.`);
  return { ...before, [name]: url };
}

export function outputOption(...formats: readonly string[]): Option {
  return new Option("-o, --output <format>", "output format")
    .choices(["table", "json", ...formats])
    .default("table");
}

export function limitOption(): Option {
  return new Option("--limit <number>", "maximum number of rows")
    .default(50)
    .argParser((text) => wholeNumber(text, { min: 1, max: 1000 }));
}

/** How many items a command deals with at most, if it is given. */
export function mostOption(items: string, max: number): Option {
  return new Option("--limit <number>", `deal with at most so many ${items}`).argParser((text) =>
    wholeNumber(text, { min: 1, max }),
  );
}

export function durationOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseDuration);
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("A port is a number from 0 to 65535; 0 means any free port.");
}

/** Slots by lane, or JSON with the options that `mill.work` takes. */
function parseLanes(text: string): Lanes {
  if (text.trimStart().startsWith("{")) return lanesOfJson(text);
  const lanes = text.split(",").map((part) => {
    const [, lane, slots] = /^\s*([^=]+?)\s*=\s*(\d{1,5})\s*$/.exec(part) ?? [];
    if (lane === undefined) throw new InvalidArgumentError("Write lanes as fast=3,general=5.");
    return [lane, Number(slots)];
  });
  return Object.fromEntries(lanes);
}

function lanesOfJson(text: string): Lanes {
  let lanes: Lanes;
  try {
    lanes = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Write JSON such as {"general":{"slots":5,"fair":true}}.');
  }
  const mismatch = someLanes(lanes, "lanes");
  if (mismatch === null) return lanes;
  throw new InvalidArgumentError(`${mismatch.place} ${mismatch.problem}.`);
}

/** Milliseconds, from text such as `90s`; a bare number is milliseconds already. */
function parseDuration(text: string): number {
  const ms = waitMs(/^\d+$/.test(text) ? Number(text) : text, Number.NaN);
  if (ms !== null) return ms;
  throw new InvalidArgumentError('Write a duration as "500ms", "90s", "5m" or "2h".');
}

/** An instant: so long ago, as `2h`, or ISO text. */
export function parsePast(text: string): Date {
  if (/^\d+$/.test(text)) throw new InvalidArgumentError(`Write a unit, as in ${text}m.`);
  const ago = waitMs(text, Number.NaN);
  if (ago !== null) return new Date(Math.max(0, systemClock.now() - ago));
  try {
    return new Date(instantMs(text, "time"));
  } catch {
    throw new InvalidArgumentError(
      'Write how long ago, as "90s", "5m", "2h" or "7d", or a time as "2026-11-15T10:00:00Z".',
    );
  }
}

/** Adds one `name=value` to the earlier ones. */
export function parseTag(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("Write a tag as name=value.");
  }
  if (Object.hasOwn(before, name)) {
    throw new InvalidArgumentError(`The tag ${name} is given twice.`);
  }
  return { ...before, [name]: value };
}

/** Adds one `path=value` to the earlier ones. */
export function parsePath(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [, path, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (path === undefined || value === undefined) {
    throw new InvalidArgumentError("Write a path and a value as user.id=42.");
  }
  if (Object.hasOwn(before, path)) {
    throw new InvalidArgumentError(`The path ${path} is given twice.`);
  }
  return { ...before, [path]: value };
}

/** Adds the states of one option to the earlier ones. */
export function parseStates(
  text: string,
  before: readonly (State | "pending")[] = [],
): (State | "pending")[] {
  return [...before, ...text.split(",").map(parseState)];
}

function parseState(text: string): State | "pending" {
  const word = text.trim();
  const known: readonly (State | "pending")[] = [...STATES, "pending"];
  const state = known.find((each) => each === word);
  if (state !== undefined) return state;
  const near = closest(word, known);
  const advice = near === null ? `The states are ${known.join(", ")}.` : `Did you mean ${near}?`;
  throw new InvalidArgumentError(advice);
}

export function parseJson(text: string): Json {
  const value = readJson(text);
  const key = duplicateKey(text);
  if (key === null) return value;
  throw new InvalidArgumentError(`The payload has the key ${JSON.stringify(key)} twice.`);
}

function readJson(text: string): Json {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch (error) {
    // The message may quote the payload.
    const [where = ""] = /\bat position.*$/s.exec(String(error)) ?? [];
    throw new InvalidArgumentError(`The payload is not JSON${where === "" ? "" : ` ${where}`}.`);
  }
}

/** A priority by its name or its number; `enqueue` checks the value. */
export function parsePriority(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function wholeNumber(text: string, { min, max }: { min: number; max: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
}
