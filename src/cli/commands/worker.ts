/** `millrace worker`: runs the jobs of a file. */
import { Option, type Command } from "commander";
import type { Millrace } from "../../api/client.ts";
import type { Logger } from "../../api/context.ts";
import type { Worker } from "../../api/worker.ts";
import { declaredType } from "../../jobs/declared-type.ts";
import type { Lanes } from "../../jobs/lanes-rule.ts";
import { systemClock } from "../../lib/system.ts";
import { shownUrl } from "../../lib/url-password.ts";
import { configExports } from "../jobs-file/config-file.ts";
import { makeDeps, type Deps } from "../jobs-file/deps.ts";
import { openDevLink, type DevLink } from "../dev/dev-link.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { findJobFile, loadJobs, type JobFile } from "../jobs-file/job-file.ts";
import { exportedPreset } from "../jobs-file/preset.ts";
import { terminalLogger } from "../terminal/log.ts";
import {
  databaseOption,
  durationOption,
  jobsOption,
  lanesOption,
  parseList,
} from "../terminal/options.ts";
import { given, withMill, type Shell } from "../shell.ts";
import { stopSignal } from "../terminal/stop-signal.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { untilIdle, type LeftJobs } from "../until-idle.ts";

interface WorkerOptions {
  readonly db: string;
  readonly jobs?: string;
  readonly types?: readonly string[];
  readonly tenant?: string;
  readonly untilIdle?: boolean;
  readonly lanes?: Lanes;
  readonly lease?: number;
  readonly poll?: number;
  readonly grace?: number;
  readonly underDev?: boolean;
}

const PAGE = 1_000;

export function declareWorker(program: Command, { terminal, end }: Shell): void {
  program
    .command("worker")
    .description("Run the jobs of a file until Ctrl-C.")
    .addOption(jobsOption())
    .addOption(databaseOption())
    .option("--types <names>", "only jobs of these types, separated by commas", parseList)
    .option("--tenant <name>", "only jobs of this tenant")
    .option("--until-idle", "end when no job that this worker can run is due or running")
    .addOption(lanesOption())
    .addOption(
      durationOption("--lease <time>", "how long a worker keeps its jobs without a heartbeat"),
    )
    .addOption(durationOption("--poll <time>", "how often to look for jobs without a wake-up"))
    .addOption(durationOption("--grace <time>", "how long a stop waits for running jobs"))
    .addOption(underDevOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (options: WorkerOptions) => end(await work(options, terminal)));
}

const HELP_AFTER = `
Without --jobs, the worker runs jobs.ts or src/jobs.ts, as millrace dev does.

The file exports the jobs that defineJob(…).run(…) returns, and the schedules that schedule(…)
returns: by name, as default, or in a list.

The file may export deps, the value of ctx.deps in handlers: an object, or a function that makes one
when the worker starts. When the worker has stopped, [Symbol.asyncDispose]() or dispose() of deps is
called. Without deps in the file, the export deps of millrace.config.ts is used.

  export const deps = async () => ({ db: await connect(), async dispose() { … } });

The file may export preset, the numbers that replace those of the library: how often jobs are
repeated, how long records are kept, which rules payloads obey. Without preset in the file, the
export preset of millrace.config.ts is used.

  export const preset = { ...defaults, retention: { ...defaults.retention, auditMs: … } };

The file may export functions, an object of functions by name: jobs call them with ctx.callFunction,
and channels as their handlers.

The first Ctrl-C or SIGTERM stops the worker: it waits for running jobs, and returns the jobs that
do not end in time to the queue, without a charged attempt. A second signal exits at once, which
counts as a crash.

With --until-idle, the worker does not wait for jobs that are due later, that are paused, or whose
lane has no slot. It prints the reason for due jobs that are left, the number of jobs that are due
later, retries among them, and when the first of them is due. It exits with 0.

Examples:
  millrace worker
  millrace worker --jobs jobs.ts --types email,sms --lanes fast=8
  millrace worker --jobs jobs.ts --until-idle          in a test, or from cron
`;

/** The option with which `millrace dev` starts its worker. */
function underDevOption(): Option {
  return new Option("--under-dev").hideHelp();
}

async function work(options: WorkerOptions, terminal: Terminal): Promise<ExitCode> {
  const dev = options.underDev === true ? openDevLink() : null;
  const path = findJobFile(options.jobs);
  const file = await jobsOf(path, options);
  // Under `millrace dev`, the old worker stops when the new one may start.
  const preset = await exportedPreset(file, path);
  if (dev !== null && !(await dev.mayStart(file.contracts))) return EXIT.success;
  const deps = await depsOf(file, path);
  const logger = terminalLogger(terminal, systemClock);
  try {
    const run = { file, deps, dev, logger };
    return await withMill(options.db, (mill) => runWorker(mill, options, run), {
      logger,
      ...given({ preset }),
    });
  } finally {
    await deps.dispose();
  }
}

async function jobsOf(file: string, { types }: WorkerOptions): Promise<JobFile> {
  const loaded = await loadJobs(file);
  for (const type of types ?? []) declaredType(type, loaded.jobs, file);
  return loaded;
}

async function depsOf({ deps }: JobFile, file: string): Promise<Deps> {
  if (deps !== undefined) return makeDeps(deps, file);
  const config = await configExports();
  return makeDeps(config.deps, config.file);
}

interface LoadedWorker {
  readonly file: JobFile;
  readonly deps: Deps;
  readonly dev: DevLink | null;
  readonly logger: Logger;
}

async function runWorker(
  mill: Millrace,
  options: WorkerOptions,
  { file: { jobs, schedules, functions = {} }, deps, dev, logger }: LoadedWorker,
): Promise<ExitCode> {
  const stop = Promise.race([stopSignal(systemClock), ...(dev === null ? [] : [dev.cut])]);
  const { types, tenant, lanes, lease, poll, grace } = options;
  const settings = given({ types, tenant, lanes, lease, poll, grace });
  const declared = { jobs, schedules, functions, deps: deps.value };
  const worker = mill.work({ ...declared, signals: false, ...settings });
  await worker.ready;
  const names = types ?? jobs.map(({ type }) => type);
  logger.info(`worker ${worker.id} runs ${names.join(", ")} on ${shownUrl(options.db)}`);
  dev?.running(names);
  const scope = { worker: worker.id, types: names, tenant };
  const isIdle = options.untilIdle === true ? untilIdle(mill, systemClock, scope) : stop;
  const hasEnded = worker.ended.then(() => undefined);
  const left = await Promise.race([stop, isIdle, hasEnded]);
  if (left !== undefined) tellLeft(left, logger);
  await announceStop(mill, worker, names, logger);
  await worker.stop();
  logger.info(`worker ${worker.id} has stopped`);
  // The log has said where the installation has moved.
  return (await worker.ended) === null ? EXIT.success : EXIT.store;
}

/** Logs the jobs that an idle worker leaves. */
function tellLeft({ reasons, later }: LeftJobs, logger: Logger): void {
  for (const why of reasons) logger.warn(`idle, and due jobs are left: ${why}`);
  if (later === null) return;
  const { jobs, firstAt } = later;
  const due = jobs === 1 ? "job is due later:" : "jobs are due later, the first";
  logger.warn(`idle, and ${jobs} ${due} at ${firstAt.toISOString()}`);
}

/** Logs the jobs for which the stop waits, by id unless other workers run the same types. */
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
  logger.info(`stopping: waiting for ${what}; a second signal exits at once`);
}
