/** `millrace payloads check`: which waiting payloads the code of a job file would refuse. */
import type { Command } from "commander";
import type { JobView, Millrace } from "../../../api/client.ts";
import { definitionOf, type AnyContract } from "../../../api/definition.ts";
import type { PayloadRuleView } from "../../../api/control/payload-rules.ts";
import type { PresetRules } from "../../../core/payload-rules/practice.ts";
import { declaredRules, joined } from "../../../jobs/payloads/declared-rules.ts";
import { waitingProblems, type WaitingProblem } from "../../../jobs/payloads/payload-check.ts";
import type { DeclaredRule } from "../../../store/types/payload-rules.ts";
import { plain } from "../../../lib/plain-text.ts";
import { findJobFile, loadJobFile } from "../../jobs-file/job-file.ts";
import { exportedPreset } from "../../jobs-file/preset.ts";
import { requireStore, withMill, type Shell } from "../../shell.ts";
import { EXIT, type ExitCode } from "../../terminal/exit-codes.ts";
import { databaseOption, jobsOption, outputOption } from "../../terminal/options.ts";
import { json, table, type Format } from "../../terminal/output.ts";
import type { Terminal } from "../../terminal/terminal.ts";

interface CheckOptions {
  readonly db: string;
  readonly jobs?: string;
  readonly strict?: boolean;
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
    .option("--strict", "exit with 1 for payloads that break a rule, too")
    .addOption(databaseOption())
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (options: CheckOptions) => end(await check(options, terminal)));
}

const HELP_AFTER = `
Reads all scheduled, queued and blocked jobs, and applies the upcasts and schemas of the file, the
payload rules of the installation, and those of the preset that the file or millrace.config.ts
exports. Run it with the new code before a deploy. Nothing is changed.

A payload that an upcast or a schema refuses fails at its run: the exit code is 1. A payload that
breaks a rule runs, because rules hold for new jobs: with --strict, the exit code is 1 for it, too.

Example:
  millrace payloads check --jobs jobs.ts
`;

interface Refusals extends Pick<WaitingProblem, "at"> {
  readonly type: string;
  readonly error: string;
  count: number;
  readonly ids: string[];
}

interface Report {
  checked: number;
  /** Jobs that would fail at their run. */
  refused: number;
  /** Jobs that would run, and break a rule. */
  breaking: number;
  /** Waiting jobs of types that the file does not declare, by type. */
  readonly unknownTypes: Map<string, number>;
  readonly refusals: Map<string, Refusals>;
}

async function check(options: CheckOptions, terminal: Terminal): Promise<ExitCode> {
  const file = findJobFile(options.jobs);
  const loaded = await loadJobFile(file);
  const preset = await exportedPreset(loaded, file);
  requireStore(options.db);
  const report = await withMill(options.db, async (mill) => {
    const rules = rulesAfterDeploy(await mill.payloadRules.list(), preset?.payloadRules ?? {});
    return readAll(mill, loaded.contracts, rules, terminal);
  });
  terminal.out(options.output === "json" ? json(asJson(report, file)) : asText(report, file));
  const isBroken = report.refused > 0 || (options.strict === true && report.breaking > 0);
  return isBroken ? EXIT.broken : EXIT.success;
}

/** The rules of the preset replace those that code has declared before, as when a worker starts. */
function rulesAfterDeploy(stored: readonly PayloadRuleView[], preset: PresetRules): Rules {
  const declared = declaredRules(preset).filter(
    ({ scope, name }) =>
      !stored.some((rule) => rule.owner !== "code" && rule.scope === scope && rule.name === name),
  );
  return joined(stored, declared);
}

async function readAll(
  mill: Millrace,
  contracts: readonly AnyContract[],
  rules: Rules,
  terminal: Terminal,
): Promise<Report> {
  const counts = { checked: 0, refused: 0, breaking: 0 };
  const report: Report = { ...counts, unknownTypes: new Map(), refusals: new Map() };
  const byType = new Map(contracts.map((contract) => [contract.type, contract]));
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

type Rules = readonly DeclaredRule[];

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
  if (problems.some(({ at }) => at === "run")) report.refused += 1;
  else if (problems.length > 0) report.breaking += 1;
  for (const problem of problems) note(report, job, problem);
}

function nameOf(scope: string, { type }: JobView, category: string | null): string | null {
  return scope === "category" ? category : type;
}

function note({ refusals }: Report, { id, type }: JobView, { at, problem }: WaitingProblem): void {
  const error = problem.slice(0, MESSAGE_MAX);
  const key = JSON.stringify([type, at, error]);
  const known = refusals.get(key);
  if (known === undefined && refusals.size >= ERRORS_MAX) return;
  const entry = known ?? { type, at, error, count: 0, ids: [] };
  entry.count += 1;
  if (entry.ids.length < SAMPLES_MAX) entry.ids.push(id);
  refusals.set(key, entry);
}

function asJson(report: Report, file: string): object {
  const { checked, refused, breaking, unknownTypes, refusals } = report;
  return {
    file,
    checked,
    refused,
    breaking,
    refusals: [...refusals.values()],
    unknownTypes: [...unknownTypes].map(([type, count]) => ({ type, count })),
  };
}

function asText(report: Report, file: string): string {
  const { checked, refused, breaking, unknownTypes, refusals } = report;
  const rows = [...refusals.values()].map(({ type, at, error, count, ids }) => [
    type,
    String(count),
    at === "run" ? "fails at its run" : "breaks a rule",
    error,
    ids.join(" "),
  ]);
  const unknown = [...unknownTypes].map(([type, count]) => `${plain(type)} (${count})`);
  return [
    rows.length === 0 ? "" : table(["TYPE", "JOBS", "THEN", "ERROR", "SUCH AS"], rows),
    unknown.length === 0 ? "" : `${file} does not declare: ${unknown.join(", ")}\n`,
    `${checked} waiting jobs are checked, and ${file} would refuse ${refused}.\n`,
    breaking === 0 ? "" : `${breaking} more would run, and break a rule for new jobs.\n`,
  ].join("");
}
