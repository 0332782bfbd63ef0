/** `millrace workers`: lists workers, and quiets, resumes or stops one. */
import type { Command } from "commander";
import type { WorkerView } from "../../api/client.ts";
import type { OperatorMill } from "../operator-mill.ts";
import { MillraceError, type ErrorCode } from "../../core/errors.ts";
import { formatDuration } from "../../core/duration.ts";
import { closest } from "../../lib/closest.ts";
import { systemClock } from "../../lib/system.ts";
import { changedWorkerIdOf } from "../job-id.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import {
  actorOption,
  databaseOption,
  outputOption,
  reasonOption,
  serverOption,
  type ActedOptions,
} from "../terminal/options.ts";
import { ageOf, json, table, type Format } from "../terminal/output.ts";
import { given, systemUser, withExistingMill, type Shell } from "../shell.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** The maximum number of names in one cell of the table. */
const NAMES_MAX = 5;

interface WorkersOptions {
  readonly db: string;
  readonly output: Format;
}

type AskOptions = WorkersOptions & ActedOptions;

export function declareWorkers(program: Command, { terminal, end }: Shell): void {
  const workers = program
    .command("workers")
    .description("List workers, and quiet, resume or stop one.");

  workers
    .command("list")
    .description("Show workers and their jobs.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(outputOption())
    .action(async ({ db, output }: WorkersOptions) => {
      const found = await withExistingMill(db, (mill) => mill.workers.list());
      if (output === "json") terminal.out(json(found));
      else if (found.length > 0) terminal.out(tableOf(found));
      else terminal.err("No workers. Start one with: millrace worker --jobs FILE\n");
      end(EXIT.success);
    });

  workers
    .command("quiet <id>")
    .description("Make a worker claim no more jobs; its running jobs continue.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addOption(outputOption())
    .addHelpText("after", HELP_AFTER)
    .action(async (text: string, { db, output, ...act }: AskOptions) => {
      const asked = { text, ...act };
      const id = await withExistingMill(db, (mill) => ask(mill, "quiet", asked, terminal));
      const isJson = output === "json";
      terminal.out(isJson ? json({ id, isQuiet: true }) : `${id} claims no more jobs.\n`);
      end(EXIT.success);
    });

  workers
    .command("resume <id>")
    .description("Let a quiet worker claim jobs again.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addOption(outputOption())
    .addHelpText("after", RESUME_HELP_AFTER)
    .action(async (text: string, { db, output, ...act }: AskOptions) => {
      const asked = { text, ...act };
      const id = await withExistingMill(db, (mill) => ask(mill, "resume", asked, terminal));
      const isJson = output === "json";
      terminal.out(isJson ? json({ id, isQuiet: false }) : `${id} claims jobs again.\n`);
      end(EXIT.success);
    });

  workers
    .command("stop <id>")
    .description("Make a worker stop; it waits for its running jobs within its grace.")
    .addOption(databaseOption())
    .addOption(serverOption())
    .addOption(reasonOption())
    .addOption(actorOption("the person, for the audit", systemUser()))
    .addOption(outputOption())
    .addHelpText("after", STOP_HELP_AFTER)
    .action(async (text: string, { db, output, ...act }: AskOptions) => {
      const asked = { text, ...act };
      const id = await withExistingMill(db, (mill) => ask(mill, "stop", asked, terminal));
      const isJson = output === "json";
      terminal.out(isJson ? json({ id, isStopping: true }) : `${id} was asked to stop.\n`);
      end(EXIT.success);
    });
}

const HELP_AFTER = `
An ID may be shortened to its first letters, at least twelve, if no other worker's id begins with
them.
`;

const RESUME_HELP_AFTER = `${HELP_AFTER}
The worker learns of it at its next heartbeat. A worker that was asked to stop is not resumed.
`;

const STOP_HELP_AFTER = `${HELP_AFTER}
The worker claims no more jobs from now on and stops at its next heartbeat, as after SIGTERM. Jobs
that do not end in time return to the queue, without a charged attempt. The process of millrace
worker then exits with 0; the process of an application goes on.
`;

/** Says which worker was probably meant, if there is no such worker. */
async function ask(
  mill: OperatorMill,
  verb: "quiet" | "resume" | "stop",
  { text, by: actor, reason }: ActedOptions & { readonly text: string },
  terminal: Terminal,
): Promise<string> {
  const { workers } = mill;
  try {
    const id = await changedWorkerIdOf(mill, text);
    await workers[verb](id, given({ actor, reason }));
    return id;
  } catch (error) {
    if (!(error instanceof MillraceError && UNKNOWN.has(error.code))) throw error;
    const near = closest(
      text,
      (await workers.list()).map((worker) => worker.id),
    );
    if (near !== null) terminal.err(`Did you mean ${near}?\n`);
    throw error;
  }
}

const UNKNOWN: ReadonlySet<ErrorCode> = new Set(["ID_INVALID", "WORKER_NOT_FOUND"]);

function tableOf(workers: readonly WorkerView[]): string {
  const now = systemClock.now();
  return table(
    [
      "ID",
      "HOST",
      "PID",
      "VERSION",
      "APP",
      "STATE",
      "RUNNING",
      "LANES",
      "TYPES",
      "TENANT",
      "JOINED",
      "HEARTBEAT",
      "MEMORY",
      "LAG",
    ],
    workers.map((worker) => [
      worker.id,
      worker.takenBy === null ? worker.host : `sql (${worker.takenBy})`,
      String(worker.pid),
      worker.version,
      worker.appVersion ?? "",
      stateOf(worker),
      `${worker.running}/${worker.slots}`,
      shortList(worker.lanes),
      shortList(worker.types),
      worker.tenant ?? "all",
      `${ageOf(worker.joinedAt, now)} ago`,
      `${formatDuration(worker.heartbeatAgoMs)} ago`,
      worker.memoryBytes === null ? "-" : `${Math.round(worker.memoryBytes / 1_000_000)} MB`,
      worker.loopLagMs === null ? "-" : formatDuration(worker.loopLagMs),
    ]),
  );
}

/** The first few names; `-o json` has them all. */
function shortList(names: readonly string[]): string {
  const more = names.length > NAMES_MAX ? ` +${names.length - NAMES_MAX}` : "";
  return `${names.slice(0, NAMES_MAX).join(",")}${more}`;
}

function stateOf({ isAlive, isQuiet, isStopping }: WorkerView): string {
  if (!isAlive) return "silent";
  if (isStopping) return "stopping";
  return isQuiet ? "quiet" : "working";
}
