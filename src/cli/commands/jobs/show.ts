/** `millrace jobs show`: shows all facts about one job. */
import type { Command } from "commander";
import type { AttemptView, JobView } from "../../../api/client.ts";
import type { OperatorMill } from "../../operator-mill.ts";
import type { JobDetails, JobLinks, JobWorkerView } from "../../../api/details.ts";
import type { PhaseView, ProgressView, UnitView } from "../../../api/progress.ts";
import { formatDuration } from "../../../core/duration.ts";
import { systemClock } from "../../../lib/system.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { LogReader, shownMissed, type NewLines } from "../../follow/log-lines.ts";
import { databaseOption, serverOption, outputOption } from "../../terminal/options.ts";
import {
  attemptNow,
  errorOf,
  json,
  properties,
  table,
  timeOf,
  type Format,
} from "../../terminal/output.ts";
import { withJob, type Shell } from "../../shell.ts";
import { unitCounts } from "../../unit-words.ts";
import { jobsAgain } from "./again.ts";
import { shownLines } from "./logs.ts";

/** The runs that the table shows, the newest ones; `-o json` has them all. */
const RUNS_MAX = 50;

interface JobShowOptions {
  readonly db: string;
  readonly output: Format;
  readonly logs?: boolean;
}

export function declareShow(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("show <id>")
    .description("Show a job: its state, phases, units, worker, keys, links and runs.")
    .option("--logs", "also show its log lines")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async (text: string, options: JobShowOptions, command: Command) => {
      await withJob(options.db, text, async (mill, id) => {
        const details = await mill.jobs.details(id);
        const log = options.logs === true ? await new LogReader(mill.jobs, id).next() : null;
        if (options.output === "json") {
          terminal.out(json({ ...details, ...(log === null ? {} : { logs: log.lines }) }));
          return;
        }
        const moreUnits = jobsAgain(`units ${id} --state failed`, command);
        const parts = [
          sheetOf(details, await waitOf(mill, details.job)),
          phasesOf(details.progress),
          failedUnitsOf(details, moreUnits),
          runsOf(details),
          ...(log === null ? [] : [logOf(log)]),
        ];
        terminal.out(parts.filter((part) => part !== "").join("\n"));
      });
      end(EXIT.success);
    });
}

/** Why a waiting job waits: for other jobs, or for the job that holds its concurrency key. */
async function waitOf(mill: OperatorMill, { id, state }: JobView): Promise<string | null> {
  if (state !== "scheduled" && state !== "queued") return null;
  const { reason, sentence } = await mill.jobs.explain(id);
  return reason === "after" || reason === "key" ? sentence : null;
}

function sheetOf({ job, progress, ...links }: JobDetails, wait: string | null): string {
  const { worker, waitsFor, awaitedBy, children } = links;
  const { units } = progress;
  const tags = Object.entries(job.tags).map(([name, value]) => `${name}=${value}`);
  return properties([
    ["id", job.id],
    ["type", job.type],
    ["state", job.state],
    ["progress", progressWords(progress)],
    ["units", units.total === 0 ? null : `${units.total} (${unitCounts(units)})`],
    ["attempts", `${attemptNow(job)} of ${job.maxAttempts}`],
    ["worker", worker === null ? null : workerWords(worker)],
    ["tenant", job.tenant],
    ["lane", job.lane],
    ["priority", String(job.priority)],
    ["category", job.category],
    ["created", timeOf(job.createdAt)],
    ["created by", job.createdBy],
    ["runs at", timeOf(job.runAt)],
    ["started", timeOf(job.startedAt)],
    ["finished", timeOf(job.finishedAt)],
    ["correlation", job.correlationId],
    ["parent", job.parentId],
    ["children", children.count === 0 ? null : countWords(children)],
    ["repeats", job.retryOf],
    ["idempotency key", job.idempotencyKey],
    ["dedup key", job.dedupKey],
    ["concurrency key", job.concurrencyKey],
    ["waits", wait],
    ["waits for", linkWords(waitsFor)],
    ["awaited by", linkWords(awaitedBy)],
    ["tags", tags.length === 0 ? null : tags.join(", ")],
    ["payload", JSON.stringify(job.payload)],
    ["version", job.payloadVersion],
    ["damaged", job.damaged?.join(", ") ?? null],
    ["result", job.finishedAt === null ? null : JSON.stringify(job.result)],
    ["error", job.error === null ? null : `${job.error.name}: ${job.error.message}`],
    ["cancelled", job.cancelReason],
  ]);
}

function progressWords({ percent, phase }: ProgressView): string {
  return `${Math.floor(percent)} %${phase === null ? "" : `, phase ${phase}`}`;
}

function workerWords({ id, host, pid, isAlive, heartbeatAgoMs }: JobWorkerView): string {
  const silent = isAlive ? "" : "silent, ";
  return `${id} (${host}, pid ${pid}), ${silent}heartbeat ${formatDuration(heartbeatAgoMs)} ago`;
}

function countWords({ count, atLeast }: JobDetails["children"]): string {
  return atLeast ? `at least ${count}` : String(count);
}

function linkWords({ ids, more }: JobLinks): string | null {
  return ids.length === 0 ? null : `${ids.join(", ")}${more ? " and more" : ""}`;
}

function phasesOf({ phases }: ProgressView): string {
  if (phases.length === 0) return "";
  const rows = phases.map((phase) => [
    phase.name,
    phase.state,
    timeIn(phase.startedAt, phase.finishedAt, phase.state),
    unitCounts(phase.units),
  ]);
  return table(["PHASE", "STATE", "TIME", "UNITS"], rows);
}

/** The time that a phase or a run took, or has taken so far. */
function timeIn(from: Date | null, to: Date | null, state: PhaseView["state"] = "running"): string {
  if (from === null || (to === null && state !== "running")) return "";
  return formatDuration(Math.max(0, (to?.getTime() ?? systemClock.now()) - from.getTime()));
}

function failedUnitsOf({ failedUnits: units, progress }: JobDetails, all: string): string {
  if (units.length === 0) return "";
  const more = progress.units.failed - units.length;
  const rest = more > 0 ? `${more} more failed units: ${all}\n` : "";
  return `${table(["FAILED UNIT", "PHASE", "AT", "ERROR"], units.map(unitRow))}${rest}`;
}

function unitRow({ key, phase, at, error }: UnitView): string[] {
  return [key, phase ?? "", at.toISOString(), errorOf(error)];
}

/** The newest runs, oldest first, and the present one at the end. */
function runsOf({ job, attempts, worker }: JobDetails): string {
  const rows = attempts.map((attempt, index) =>
    attemptRow(attempt, attempt.attempts > (attempts[index - 1]?.attempts ?? 0)),
  );
  const shown = rows.slice(-RUNS_MAX);
  const last = attempts.at(-1)?.number ?? 0;
  const present =
    job.state === "running" && job.startedAt !== null
      ? [presentRow(last + 1, job.startedAt, worker)]
      : [];
  if (shown.length + present.length === 0) return "";
  const earlier = attempts.length - shown.length;
  const cut = earlier > 0 ? `${earlier} earlier runs are not shown.\n` : "";
  return `${cut}${table(RUN_HEADINGS, [...shown, ...present])}`;
}

const RUN_HEADINGS = [
  "RUN",
  "OUTCOME",
  "STARTED",
  "FINISHED",
  "TIME",
  "CHARGED",
  "WORKER",
  "CLASS",
  "ERROR",
];

function attemptRow(attempt: AttemptView, isCharged: boolean): string[] {
  const { startedAt, finishedAt, error } = attempt;
  return [
    String(attempt.number),
    attempt.outcome,
    timeOf(startedAt) ?? "",
    finishedAt.toISOString(),
    timeIn(startedAt, finishedAt),
    isCharged ? "yes" : "no",
    attempt.worker ?? "",
    error?.class ?? "",
    errorOf(error),
  ];
}

function presentRow(number: number, startedAt: Date, worker: JobWorkerView | null): string[] {
  const started = startedAt.toISOString();
  return [String(number), "running", started, "", timeIn(startedAt, null), "", worker?.id ?? ""];
}

function logOf({ missed, lines }: NewLines): string {
  const gone = missed === 0 ? "" : `${shownMissed(missed)}\n`;
  return `${gone}${lines.length === 0 ? "No log lines.\n" : shownLines(lines)}`;
}
