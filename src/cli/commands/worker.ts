/** `millrace worker`: runs the jobs of a file. */
import type { Command } from "commander";
import { runningHere } from "../../client/ambient.ts";
import { wait } from "../../core/clock.ts";
import type { Millrace } from "../../face/client.ts";
import type { Logger } from "../../face/context.ts";
import type { AnyJob, Worker } from "../../face/worker.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, Failure, type ExitCode } from "../exit-codes.ts";
import { loadJobs, requireType } from "../job-file.ts";
import { terminalLogger } from "../log.ts";
import { databaseOption, durationOption, jobsOption, lanesOption, parseList } from "../options.ts";
import { given, withMill, type Shell } from "../shell.ts";
import { stopSignal } from "../stop-signal.ts";
import type { Terminal } from "../terminal.ts";

export interface WorkerOptions {
  readonly db: string;
  readonly jobs?: string;
  readonly types?: readonly string[];
  readonly tenant?: string;
  readonly untilIdle?: boolean;
  readonly lanes?: Readonly<Record<string, number>>;
  readonly lease?: number;
  readonly poll?: number;
  readonly grace?: number;
}

/** How often `--until-idle` looks whether anything is left. */
const IDLE_LOOK_MS = 200;
const PAGE = 1_000;

export function declareWorker(program: Command, { terminal, end }: Shell): void {
  program
    .command("worker")
    .description("Run the jobs of a file until Ctrl-C.")
    .addOption(jobsOption())
    .addOption(databaseOption())
    .option("--types <names>", "only these of its jobs, separated by commas", parseList)
    .option("--tenant <name>", "only jobs of this tenant")
    .option("--until-idle", "end when nothing is due and nothing runs")
    .addOption(lanesOption())
    .addOption(durationOption("--lease <time>", "how long a silent worker keeps its jobs"))
    .addOption(durationOption("--poll <time>", "how often to look when nothing wakes it"))
    .addOption(durationOption("--grace <time>", "how long a stop lets running jobs go on"))
    .addHelpText("after", HELP_AFTER)
    .action(async (options: WorkerOptions) => end(await work(options, terminal)));
}

const HELP_AFTER = `
The file exports what defineJob(…).run(…) gives: by name, as its default, or in a list.
The first Ctrl-C or SIGTERM lets running jobs end, and hands back what does not end in time: that
costs no job an attempt. The second leaves at once, which counts as a crash.

Examples:
  millrace worker --jobs jobs.ts
  millrace worker --jobs jobs.ts --types email,sms --lanes fast=8
  millrace worker --jobs jobs.ts --until-idle          in a test, or from cron
`;

async function work(options: WorkerOptions, terminal: Terminal): Promise<ExitCode> {
  const jobs = await jobsOf(options);
  const logger = terminalLogger(terminal, systemClock);
  return withMill(options.db, (mill) => runWorker(mill, jobs, options, logger), { logger });
}

async function jobsOf({ jobs: file, types }: WorkerOptions): Promise<readonly AnyJob[]> {
  if (file === undefined) {
    throw new Failure("A worker needs a file with jobs.", {
      hint: "Name it with --jobs FILE, or as `jobs` in millrace.config.ts.",
      exitCode: EXIT.usage,
    });
  }
  const jobs = await loadJobs(file);
  for (const type of types ?? []) requireType(type, jobs, file);
  return jobs;
}

async function runWorker(
  mill: Millrace,
  jobs: readonly AnyJob[],
  options: WorkerOptions,
  logger: Logger,
): Promise<ExitCode> {
  const stop = stopSignal(systemClock);
  const stopReporting = reportRejections(logger);
  const worker = startWorker(mill, jobs, options);
  try {
    await worker.ready;
    const types = options.types ?? jobs.map(({ type }) => type);
    logger.info(`worker ${worker.id} runs ${types.join(", ")} on ${options.db}`);
    const isIdle = options.untilIdle === true ? untilIdle(mill, types, options.tenant) : stop;
    await Promise.race([stop, isIdle]);
    await announceStop(mill, worker, types, logger);
    await worker.stop();
    logger.info(`worker ${worker.id} has stopped`);
    return EXIT.success;
  } finally {
    stopReporting();
  }
}

export function startWorker(
  mill: Millrace,
  jobs: readonly AnyJob[],
  { types, tenant, lanes, lease, poll, grace }: WorkerOptions,
): Worker {
  return mill.work({ jobs, ...given({ types, tenant, lanes, lease, poll, grace }) });
}

/**
 * A promise that a handler started and nobody awaited has failed. Node would end the process for
 * it, and with it every other job that runs here. Answers how to leave that to Node again.
 */
export function reportRejections(logger: Logger): () => void {
  const report = (error: unknown): void => {
    const job = runningHere();
    const whose = job === undefined ? "outside any job" : `below the handler of job ${job.id}`;
    logger.error(`a promise was rejected and nobody handled it, ${whose}`, {
      ...(job === undefined ? {} : { job_id: job.id, correlation_id: job.correlationId }),
      error,
    });
  };
  process.on("unhandledRejection", report);
  return () => void process.off("unhandledRejection", report);
}

/** Resolves when no job of these types is due or running. */
async function untilIdle(
  mill: Millrace,
  types: readonly string[],
  tenant: string | undefined,
): Promise<void> {
  while (await isBusy(mill, types, tenant)) await wait(systemClock, IDLE_LOOK_MS);
}

async function isBusy(
  mill: Millrace,
  types: readonly string[],
  tenant: string | undefined,
): Promise<boolean> {
  for (const type of types) {
    const filter = { type, ...given({ tenant }) };
    const { jobs } = await mill.jobs.list({ ...filter, state: ["queued", "running"], limit: 1 });
    if (jobs.length > 0 || (await hasDue(mill, filter))) return true;
  }
  return false;
}

/** Due jobs become queued within moments; until then they are scheduled for a time gone by. */
async function hasDue(
  mill: Millrace,
  filter: { readonly type: string; readonly tenant?: string },
): Promise<boolean> {
  let after: string | null = null;
  do {
    const from: { after?: string } = after === null ? {} : { after };
    const page = await mill.jobs.list({ ...filter, ...from, state: "scheduled", limit: PAGE });
    const now = systemClock.now();
    if (page.jobs.some(({ runAt }) => runAt !== null && runAt.getTime() <= now)) return true;
    after = page.next;
  } while (after !== null);
  return false;
}

/** Says what it waits for: by name, unless other workers run jobs of the same types. */
async function announceStop(
  mill: Millrace,
  worker: Worker,
  types: readonly string[],
  logger: Logger,
): Promise<void> {
  const workers = await mill.workers.list();
  const running = workers.find(({ id }) => id === worker.id)?.running ?? 0;
  if (running === 0) return;
  const { jobs } = await mill.jobs.list({ state: "running", limit: PAGE });
  const ours = jobs.filter(({ type }) => types.includes(type));
  const names = ours.map(({ type, id }) => `${type} ${id}`).join(", ");
  const what = ours.length === running ? names : `${running} running job(s)`;
  logger.info(`stopping when these have ended, a second Ctrl-C leaves at once: ${what}`);
}
