/** `millrace dev`: serves the dashboard, and runs a worker that restarts when the jobs change. */
import type { Command } from "commander";
import type { Lanes } from "../../jobs/lanes-rule.ts";
import type { Links } from "../../jobs/links-rule.ts";
import { systemClock } from "../../lib/system.ts";
import { EXIT, type ExitCode } from "../terminal/exit-codes.ts";
import { findJobFile } from "../jobs-file/job-file.ts";
import {
  databaseOption,
  durationOption,
  jobsOption,
  lanesOption,
  linkOption,
  portOption,
} from "../terminal/options.ts";
import { RestartingWorker } from "../dev/restarting-worker.ts";
import type { Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Short, because a developer who changed a handler should not wait for the old one. */
const GRACE_MS_DEFAULT = 2_000;
/** The longest time that a stop takes beyond twice its grace. */
const STOP_MS = 10_000;

interface DevOptions {
  readonly db: string;
  readonly port: number;
  readonly grace: number;
  readonly jobs?: string;
  readonly lanes?: Lanes;
  readonly links?: Links;
}

export function declareDev(program: Command, { terminal, end }: Shell): void {
  program
    .command("dev")
    .description("Serve the dashboard, run jobs, and restart the worker when the jobs change.")
    .addOption(jobsOption())
    .addOption(databaseOption())
    .addOption(portOption())
    .addOption(lanesOption())
    .addOption(linkOption())
    .addOption(
      durationOption("--grace <time>", "how long a restart waits for running jobs").default(
        GRACE_MS_DEFAULT,
        "2s",
      ),
    )
    .addHelpText("after", HELP_AFTER)
    .action(async (options: DevOptions, command: Command) => {
      const isAnyPort = command.getOptionValueSource("port") === "default";
      end(await dev(options, isAnyPort, terminal));
    });
}

const HELP_AFTER = `
Without --jobs, the file is jobs.ts or src/jobs.ts (or .mts, .js, .mjs). The worker is a process of
its own, which restarts when the job file or a file that it imports changes. Packages in
node_modules and millrace.config.ts are read once. A restart charges no attempt. If the new jobs do
not load, the error is printed and the worker continues with the old jobs. The file may export deps;
see millrace worker --help. Jobs that are enqueued over HTTP use the settings of their definition;
their payload is checked when they run.

Example:
  millrace dev --jobs src/jobs.ts
`;

async function dev(options: DevOptions, isAnyPort: boolean, terminal: Terminal): Promise<ExitCode> {
  const { db, port, grace } = options;
  const worker = new RestartingWorker({
    command: [...process.execArgv, process.argv[1] ?? "", ...workerArguments(options)],
    clock: systemClock,
    stopMsMax: 2 * grace + STOP_MS,
    say: (line) => terminal.err(`${line}\n`),
  });
  const failure = await worker.start();
  if (failure !== null) return exitCodeOf(failure);
  const { server } = await import("./server.ts");
  try {
    const address = { db, host: "127.0.0.1", port, isAnyPort, jobs: findJobFile(options.jobs) };
    const { links = {} } = options;
    return await server({ ...address, links }, terminal, () => worker.contracts);
  } finally {
    await worker.stop();
  }
}

function workerArguments({ jobs, db, grace, lanes }: DevOptions): string[] {
  const always = ["--jobs", findJobFile(jobs), "--db", db, "--grace", String(grace)];
  const chosen = lanes === undefined ? [] : ["--lanes", JSON.stringify(lanes)];
  return ["worker", "--under-dev", ...always, ...chosen];
}

/** The exit code of the worker, which has printed the error. */
function exitCodeOf(how: number | NodeJS.Signals): ExitCode {
  return Object.values(EXIT).find((code) => code === how) ?? EXIT.broken;
}
