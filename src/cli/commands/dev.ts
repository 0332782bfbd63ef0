/** `millrace dev`: page and worker in one process; a change of the job file restarts the worker. */
import { readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Millrace } from "../../face/client.ts";
import type { Worker } from "../../face/worker.ts";
import { systemClock } from "../../lib/system.ts";
import { reportError, type ExitCode } from "../exit-codes.ts";
import { findJobFile, loadJobs } from "../job-file.ts";
import { terminalLogger } from "../log.ts";
import { databaseOption, durationOption, jobsOption, lanesOption, portOption } from "../options.ts";
import { withMill, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal.ts";
import { reportRejections, startWorker, type WorkerOptions } from "./worker.ts";

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;
/** Whoever has just changed a handler does not want to wait for the old one. */
const GRACE_MS_DEFAULT = 2_000;

interface Options extends WorkerOptions {
  readonly port: number;
}

export function declareDev(program: Command, { terminal, end }: Shell): void {
  program
    .command("dev")
    .description("Serve the page and run jobs in one process, and follow changes of the job file.")
    .addOption(jobsOption())
    .addOption(databaseOption())
    .addOption(portOption())
    .addOption(lanesOption())
    .addOption(
      durationOption("--grace <time>", "how long a restart lets running jobs go on").default(
        GRACE_MS_DEFAULT,
        "2s",
      ),
    )
    .addHelpText("after", HELP_AFTER)
    .action(async (options: Options, command: Command) => {
      const isAnyPort = command.getOptionValueSource("port") === "default";
      end(await dev(options, isAnyPort, terminal));
    });
}

const HELP_AFTER = `
Without --jobs it takes jobs.ts or src/jobs.ts (or .mts, .js, .mjs). A restart costs no job an
attempt. Only the job file itself is read again: after a change in what it imports, start anew.

Example:
  millrace dev --jobs src/jobs.ts
`;

async function dev(options: Options, isAnyPort: boolean, terminal: Terminal): Promise<ExitCode> {
  const file = findJobFile(options.jobs);
  const { server } = await import("./server.ts");
  const logger = terminalLogger(terminal, systemClock);
  const stopReporting = reportRejections(logger);
  const work = async (mill: Millrace): Promise<ExitCode> => {
    const worker = new RestartingWorker(mill, file, options, terminal);
    await worker.start();
    try {
      return await server(
        { db: options.db, host: "127.0.0.1", port: options.port, isAnyPort },
        terminal,
      );
    } finally {
      await worker.stop();
      stopReporting();
    }
  };
  return withMill(options.db, work, { logger });
}

/** A worker that begins anew with every new edition of its job file. */
class RestartingWorker {
  readonly #mill: Millrace;
  readonly #file: string;
  readonly #options: WorkerOptions;
  readonly #terminal: Terminal;
  #worker: Worker | null = null;
  #text = "";
  #edition = 0;
  #unwatch = (): void => {};
  /** Restarts come one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(mill: Millrace, file: string, options: WorkerOptions, terminal: Terminal) {
    this.#mill = mill;
    this.#file = resolve(file);
    this.#options = options;
    this.#terminal = terminal;
  }

  /** Throws if the file cannot be loaded at the start; later it keeps the last good edition. */
  async start(): Promise<void> {
    await this.#renew();
    let callOff: (() => void) | undefined;
    const watcher = watch(dirname(this.#file), (_, name) => {
      if (name !== null && name !== basename(this.#file)) return;
      callOff?.();
      callOff = systemClock.after(SETTLE_MS, () => {
        this.#turn = this.#turn.then(() => this.#renewIfChanged());
      });
    });
    this.#unwatch = () => {
      callOff?.();
      watcher.close();
    };
  }

  async stop(): Promise<void> {
    this.#unwatch();
    await this.#turn;
    await this.#worker?.stop();
  }

  async #renewIfChanged(): Promise<void> {
    try {
      if (readFileSync(this.#file, "utf8") === this.#text) return;
      await this.#renew();
    } catch (error) {
      reportError(error, this.#terminal);
      this.#terminal.err("The worker goes on with the jobs as they were.\n");
    }
  }

  /** The new jobs are loaded first, so that a mistake in them leaves the old ones running. */
  async #renew(): Promise<void> {
    this.#text = readFileSync(this.#file, "utf8");
    this.#edition += 1;
    const jobs = await loadJobs(this.#file, this.#edition);
    await this.#worker?.stop().catch((error: unknown) => reportError(error, this.#terminal));
    this.#worker = startWorker(this.#mill, jobs, this.#options);
    await this.#worker.ready;
    const types = jobs.map(({ type }) => type).join(", ");
    this.#terminal.err(`The worker runs ${types} of ${basename(this.#file)}.\n`);
  }
}
