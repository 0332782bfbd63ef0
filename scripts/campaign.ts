/**
 * Runs what takes too long for every change: the campaigns, one after the other.
 *
 *     npm run campaign                         all of them, for hours
 *     npm run campaign -- --short              a bounded form, at most 15 minutes on two cores
 *     npm run campaign -- --only simulation    one; may be repeated
 */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { parseArgs, styleText } from "node:util";
import { CAMPAIGN_VARIABLE } from "./lib/campaign-size.ts";
import { CAMPAIGNS } from "./lib/campaigns.ts";
import type { Campaign, Command } from "./lib/campaigns.ts";
import { root } from "./lib/command.ts";
import { ranNoTest } from "./lib/ran-no-test.ts";
import { table } from "./lib/table.ts";

const HELP = `npm run campaign -- [options]

  --short       a bounded form, at most 15 minutes on two cores
  --only NAME   only this one; may be repeated
  --list        the names, and what each does
  --help        this text

It ends with 1 when one of them failed, and then prints what it said.`;

/** A short form that takes longer on two quiet cores says so, and does not fail. */
const SHORT_BUDGET_SECONDS = 900;
/** A command that has not ended by then hangs. */
const COMMAND_SECONDS_MAX = { short: 900, full: 14_400 };
const PROGRESS_MS = 30_000;
/** Enough for what a campaign says about a violation. */
const LINES_SHOWN = 80;

interface Ended {
  readonly name: string;
  readonly seconds: number;
  /** The command that failed, and the end of what it said. */
  readonly failure: { readonly command: string; readonly said: string } | null;
}

const { values } = parsed();
process.exitCode = await main();

function parsed() {
  try {
    return parseArgs({
      options: {
        short: { type: "boolean", default: false },
        only: { type: "string", multiple: true, default: [] },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${HELP}\n`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  const { short, only, list, help } = values;
  if (help) return say(HELP);
  if (list) return say(table(["campaign", "what it does"], CAMPAIGNS.map(rowOf)).join("\n"));
  const unknown = only.find((name) => CAMPAIGNS.every((campaign) => campaign.name !== name));
  if (unknown !== undefined) {
    process.stderr.write(`There is no campaign “${unknown}”; --list shows all.\n`);
    return 2;
  }
  const size = short ? "short" : "full";
  const wanted = CAMPAIGNS.filter(({ name }) => only.length === 0 || only.includes(name));
  const ended: Ended[] = [];
  for (const campaign of wanted) ended.push(await run(campaign, size));
  return report(ended, short ? SHORT_BUDGET_SECONDS : Number.POSITIVE_INFINITY);
}

function say(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function rowOf({ name, about }: Campaign): string[] {
  return [name, about];
}

async function run(campaign: Campaign, size: "short" | "full"): Promise<Ended> {
  const { name } = campaign;
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const progress = setInterval(() => say(`…      ${seconds().toFixed(0)} s  ${name}`), PROGRESS_MS);
  let failure: Ended["failure"] = null;
  say(`begins ${name}: ${campaign.about}`);
  for (const command of campaign[size]) {
    failure = await outcomeOf(command, size);
    if (failure !== null) break;
  }
  clearInterval(progress);
  const mark = failure === null ? styleText("green", "ok    ") : styleText("red", "FAILED");
  say(`${mark} ${seconds().toFixed(0)} s  ${name}`);
  if (failure !== null) say(`\n${failure.said}\n`);
  return { name, seconds: seconds(), failure };
}

/** Runs a command with its children in a process group, so that none of them is left behind. */
function outcomeOf(command: Command, size: "short" | "full"): Promise<Ended["failure"]> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, [CAMPAIGN_VARIABLE]: size },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const lines: string[] = [];
  const keep = (chunk: Buffer): void => {
    lines.push(...String(chunk).split("\n"));
    lines.splice(0, lines.length - LINES_SHOWN);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const stop = (signal: NodeJS.Signals): void => {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  };
  const secondsMax = COMMAND_SECONDS_MAX[size];
  const timer = setTimeout(() => {
    lines.push(`It did not end within ${secondsMax} s.`);
    stop("SIGKILL");
  }, secondsMax * 1000);
  const leave = (signal: NodeJS.Signals): void => {
    stop(signal);
    child.once("close", () => process.exit(1));
  };
  process.once("SIGINT", leave).once("SIGTERM", leave);

  return new Promise((resolve) => {
    const end = (code: number | null): void => {
      clearTimeout(timer);
      process.off("SIGINT", leave).off("SIGTERM", leave);
      const said = lines.join("\n").trim();
      const isEmpty = code === 0 && ranNoTest(command, said);
      const failure = {
        command: shown(command),
        said: isEmpty ? `${said}\nIt ran no test.` : said,
      };
      resolve(code === 0 && !isEmpty ? null : failure);
    };
    child.on("error", (error) => {
      lines.push(error.message);
      end(127);
    });
    child.on("close", end);
  });
}

function shown([program, ...args]: Command): string {
  return [basename(program), ...args].join(" ");
}

function report(ended: readonly Ended[], budgetSeconds: number): number {
  const rows = ended.map(({ name, seconds, failure }) => [
    name,
    seconds.toFixed(0),
    failure === null ? "passed" : "failed",
  ]);
  const failed = ended.filter(({ failure }) => failure !== null);
  say(["", ...table(["campaign", "seconds", "verdict"], rows), ""].join("\n"));
  const total = ended.reduce((sum, { seconds }) => sum + seconds, 0);
  if (total > budgetSeconds) say(`over budget: all ${total.toFixed(0)} s of ${budgetSeconds} s`);
  for (const { name, failure } of failed) say(`failed: ${name}: ${failure?.command}`);
  say(`${ended.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}
