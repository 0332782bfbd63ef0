/** `millrace payloads check`: which waiting payloads the code of a job file would refuse. */
import type { Command } from "commander";
import type { JobView, Millrace } from "../../../api/client.ts";
import { definitionOf, type AnyContract } from "../../../api/definition.ts";
import type { PayloadRule } from "../../../core/payload-rules/rule.ts";
import { waitingProblems } from "../../../jobs/payloads/payload-check.ts";
import { plain } from "../../../lib/plain-text.ts";
import { findJobFile, loadJobFile } from "../../jobs-file/job-file.ts";
import { requireStore, withMill, type Shell } from "../../shell.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-codes.ts";
import { databaseOption, jobsOption, outputOption } from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";

interface CheckOptions {
  readonly db: string;
  readonly jobs?: string;
  readonly output: Format;
}

/** Jobs of one page, and pages between two lines about the progress. */
const PAGE = 500;
const PAGES_PER_LINE = 20;
/** The different errors that are told, and the ids of jobs with each. */
const ERRORS_MAX = 200;
const SAMPLES_MAX = 5;
const MESSAGE_MAX = 300;
/** The unknown types that are told. */
const TYPES_MAX = 1_000;

export function declareCheck(payloads: Command, { terminal, end }: Shell): void {
  payloads
    .command("check")
    .description("Tell which waiting payloads the code of a job file would refuse.")
    .addOption(jobsOption())
    .addOption(databaseOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (options: CheckOptions) => end(await check(options, terminal)));
}

const HELP_AFTER = `
Reads all scheduled, queued and blocked jobs, and applies the upcasts and schemas of the file, and
the payload rules of the installation. Run it with the new code before a deploy. Nothing is changed.
The exit code is 1 if the code would refuse a payload.

Example:
  millrace payloads check --jobs jobs.ts
`;

interface Refusals {
  readonly type: string;
  readonly error: string;
  count: number;
  readonly ids: string[];
}

interface Report {
  checked: number;
  refused: number;
  /** Waiting jobs of types that the file does not declare, by type. */
  readonly unknownTypes: Map<string, number>;
  readonly refusals: Map<string, Refusals>;
}

async function check(options: CheckOptions, terminal: Terminal): Promise<ExitCode> {
  const file = findJobFile(options.jobs);
  const { contracts } = await loadJobFile(file);
  requireStore(options.db);
  const report = await withMill(options.db, (mill) => readAll(mill, contracts, terminal));
  terminal.out(options.output === "json" ? json(asJson(report, file)) : asText(report, file));
  return report.refused > 0 ? EXIT.broken : EXIT.success;
}

async function readAll(
  mill: Millrace,
  contracts: readonly AnyContract[],
  terminal: Terminal,
): Promise<Report> {
  const report: Report = { checked: 0, refused: 0, unknownTypes: new Map(), refusals: new Map() };
  const byType = new Map(contracts.map((contract) => [contract.type, contract]));
  const rules = await mill.payloadRules.list();
  let after: string | null = null;
  for (let page = 1; ; page += 1) {
    const from = after === null ? {} : { after };
    const { jobs, next } = await mill.jobs.list({
      state: ["scheduled", "queued"],
      limit: PAGE,
      ...from,
    });
    for (const job of jobs) await checkOne(report, job, byType.get(job.type), rules);
    if (next === null) return report;
    if (page % PAGES_PER_LINE === 0) terminal.err(`${report.checked} jobs are checked …\n`);
    after = next;
  }
}

type Rules = readonly {
  readonly scope: string;
  readonly name: string;
  readonly rule: PayloadRule;
}[];

async function checkOne(
  report: Report,
  job: JobView,
  contract: AnyContract | undefined,
  rules: Rules,
): Promise<void> {
  report.checked += 1;
  const { unknownTypes } = report;
  if (contract === undefined) {
    if (unknownTypes.size < TYPES_MAX || unknownTypes.has(job.type)) {
      unknownTypes.set(job.type, (unknownTypes.get(job.type) ?? 0) + 1);
    }
    return;
  }
  // Rules that hold for the job as the new code would enqueue it.
  const category = definitionOf(contract).settings.category ?? job.category;
  const own = rules
    .filter(({ scope, name }) => scope === "installation" || name === nameOf(scope, job, category))
    .map(({ rule }) => rule);
  const problems = await waitingProblems(job, contract, own);
  if (problems.length > 0) report.refused += 1;
  for (const problem of problems) note(report, job, problem);
}

function nameOf(scope: string, { type }: JobView, category: string | null): string | null {
  return scope === "category" ? category : type;
}

function note({ refusals }: Report, { id, type }: JobView, problem: string): void {
  const error = problem.slice(0, MESSAGE_MAX);
  const key = JSON.stringify([type, error]);
  const known = refusals.get(key);
  if (known === undefined && refusals.size >= ERRORS_MAX) return;
  const entry = known ?? { type, error, count: 0, ids: [] };
  entry.count += 1;
  if (entry.ids.length < SAMPLES_MAX) entry.ids.push(id);
  refusals.set(key, entry);
}

function asJson({ checked, refused, unknownTypes, refusals }: Report, file: string): object {
  return {
    file,
    checked,
    refused,
    refusals: [...refusals.values()],
    unknownTypes: [...unknownTypes].map(([type, count]) => ({ type, count })),
  };
}

function asText({ checked, refused, unknownTypes, refusals }: Report, file: string): string {
  const rows = [...refusals.values()].map(({ type, error, count, ids }) => [
    type,
    String(count),
    error,
    ids.join(" "),
  ]);
  const unknown = [...unknownTypes].map(([type, count]) => `${plain(type)} (${count})`);
  return [
    rows.length === 0 ? "" : table(["TYPE", "JOBS", "ERROR", "SUCH AS"], rows),
    unknown.length === 0 ? "" : `${file} does not declare: ${unknown.join(", ")}\n`,
    `${checked} waiting jobs are checked, and ${file} would refuse ${refused}.\n`,
  ].join("");
}
