/** `millrace jobs show`: shows one job and all its runs. */
import type { Command } from "commander";
import type { AttemptView, JobView, Millrace } from "../../../api/client.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { LogReader, shownMissed, type NewLines } from "../../follow/log-lines.ts";
import { databaseOption, outputOption } from "../../terminal/options.ts";
import { errorOf, json, properties, table, timeOf, type Format } from "../../terminal/output.ts";
import { withJob, type Shell } from "../../shell.ts";
import { shownLines } from "./logs.ts";

interface JobShowOptions {
  readonly db: string;
  readonly output: Format;
  readonly logs?: boolean;
}

export function declareShow(jobs: Command, { terminal, end }: Shell): void {
  jobs
    .command("show <id>")
    .description("Show a job and all its runs.")
    .option("--logs", "also show its log lines")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (text: string, options: JobShowOptions) => {
      await withJob(options.db, text, async (mill, id) => {
        const job = await mill.jobs.get(id);
        const attempts = await mill.jobs.attempts(id);
        const log = options.logs === true ? await new LogReader(mill.jobs, id).next() : null;
        const logs = log === null ? {} : { logs: log.lines };
        if (options.output === "json") {
          terminal.out(json({ job, attempts, ...logs }));
          return;
        }
        const sheet = shownJob(job, attempts, await waitsFor(mill, job));
        terminal.out(`${sheet}${log === null ? "" : shownLog(log)}`);
      });
      end(EXIT.success);
    });
}

function shownLog({ missed, lines }: NewLines): string {
  const gone = missed === 0 ? "" : `${shownMissed(missed)}\n`;
  return `\n${gone}${lines.length === 0 ? "No log lines.\n" : shownLines(lines)}`;
}

/** The dependencies of the job, or the job that holds its concurrency key. */
async function waitsFor(mill: Millrace, { id, state }: JobView): Promise<string | null> {
  if (state !== "scheduled" && state !== "queued") return null;
  const { reason, sentence } = await mill.jobs.explain(id);
  return reason === "after" || reason === "key" ? sentence : null;
}

function shownJob(job: JobView, attempts: readonly AttemptView[], waits: string | null): string {
  const tags = Object.entries(job.tags).map(([name, value]) => `${name}=${value}`);
  const sheet = properties([
    ["id", job.id],
    ["type", job.type],
    ["state", job.state],
    ["attempts", `${job.attempts} of ${job.maxAttempts}`],
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
    ["repeats", job.retryOf],
    ["idempotency key", job.idempotencyKey],
    ["dedup key", job.dedupKey],
    ["concurrency key", job.concurrencyKey],
    ["waits", waits],
    ["tags", tags.length === 0 ? null : tags.join(", ")],
    ["payload", JSON.stringify(job.payload)],
    ["damaged", job.damaged?.join(", ") ?? null],
    ["result", job.finishedAt === null ? null : JSON.stringify(job.result)],
    ["error", job.error === null ? null : `${job.error.name}: ${job.error.message}`],
    ["cancelled", job.cancelReason],
  ]);
  return attempts.length === 0 ? sheet : `${sheet}\n${shownAttempts(attempts)}`;
}

function shownAttempts(attempts: readonly AttemptView[]): string {
  return table(
    ["RUN", "OUTCOME", "STARTED", "FINISHED", "WORKER", "ERROR"],
    attempts.map((attempt) => [
      String(attempt.number),
      attempt.outcome,
      timeOf(attempt.startedAt) ?? "",
      attempt.finishedAt.toISOString(),
      attempt.worker ?? "",
      errorOf(attempt.error),
    ]),
  );
}
