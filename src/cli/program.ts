/**
 * Declares the commands. Store, engine and server are loaded when a command needs them, so that
 * `--help` and `--version` load none of them.
 */
import { Command, CommanderError } from "commander";
import { declareAttention } from "./commands/control/attention.ts";
import { declareAudit } from "./commands/audit/audit.ts";
import { declareOperations } from "./commands/bulk/operations.ts";
import { declareConfig } from "./commands/config.ts";
import { declareCopy } from "./commands/copy.ts";
import { declareDeadLetters } from "./commands/dead-letters.ts";
import { declareDev } from "./commands/dev.ts";
import { declareDoctor } from "./commands/doctor.ts";
import { declareEnqueue } from "./commands/enqueue.ts";
import { declareFailures } from "./commands/control/failures.ts";
import { declareJobs } from "./commands/jobs/jobs.ts";
import { declareDrain } from "./commands/control/drain.ts";
import { declareFairness } from "./commands/control/fairness.ts";
import { declareLanes } from "./commands/control/lanes.ts";
import { declareLimits } from "./commands/control/limits.ts";
import { declareTenants } from "./commands/control/tenants.ts";
import { declareIntake } from "./commands/control/intake.ts";
import { declarePayloads } from "./commands/payloads/payloads.ts";
import { declarePause } from "./commands/pause.ts";
import { declareProcess } from "./commands/process/process.ts";
import { declareBreakers } from "./commands/services/breakers.ts";
import { declareTypes } from "./commands/services/types.ts";
import { declareStats } from "./commands/stats.ts";
import { declareSchedules } from "./commands/schedules/schedules.ts";
import { declareToken } from "./commands/token.ts";
import { declareWorker } from "./commands/worker.ts";
import { declareWorkers } from "./commands/workers.ts";
import type { MigrateCommandOptions } from "./commands/migrate.ts";
import type { ServerOptions } from "./commands/server.ts";
import { applyConfig } from "./jobs-file/config-file.ts";
import { packageVersion } from "../lib/package-version.ts";
import { EXIT, reportError } from "./terminal/exit-codes.ts";
import { optionAdvice } from "./terminal/option-advice.ts";
import type { ExitCode } from "./terminal/exit-codes.ts";
import {
  applyServer,
  databaseOption,
  jobsOption,
  linkOption,
  outputOption,
  PORT_DEFAULT,
  portOption,
} from "./terminal/options.ts";
import type { Format } from "./terminal/output.ts";
import type { Shell } from "./shell.ts";
import { plainTerminal, type Terminal } from "./terminal/terminal.ts";
import { withoutSecrets } from "./terminal/usage-error.ts";

/** Runs a command line without the program's name. Never throws; returns the exit code. */
export async function runCommandLine(args: readonly string[], given: Terminal): Promise<ExitCode> {
  const terminal = plainTerminal(given);
  let exitCode: ExitCode = EXIT.success;
  const end = (code: ExitCode): void => {
    exitCode = code;
  };
  const program = createProgram({ terminal, end });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, terminal);
    // Commander has already printed the error.
    if (error.exitCode === 0) return EXIT.success;
    const advice = optionAdvice(error, program, args);
    if (advice !== null) terminal.err(`${advice}\n`);
    return EXIT.usage;
  }
}

/** The commands, for `runCommandLine` and for tests that cover them all. */
export function createProgram(shell: Shell): Command {
  const program = new Command("millrace")
    .description("Durable background jobs: one SQLite file to start, a fleet to grow.")
    .version(packageVersion(), "-v, --version", "Show the version.")
    .helpOption("-h, --help", "Show this help, or the help of a command.")
    .helpCommand("help [command]", "Show the help of a command.")
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: shell.terminal.out,
      writeErr: shell.terminal.err,
      outputError: (message, write) => write(withoutSecrets(message)),
    })
    .hook("preAction", async (_, command) => {
      await applyConfig(command);
      applyServer(command);
    })
    .addHelpText("after", HELP_AFTER);

  program.commandsGroup("Run:");
  declareDev(program, shell);
  declareServer(program, shell);
  declareDashboard(program, shell);
  declareWorker(program, shell);
  program.commandsGroup("Jobs:");
  declareEnqueue(program, shell);
  declareJobs(program, shell);
  declareDeadLetters(program, shell);
  declareFailures(program, shell);
  declareOperations(program, shell);
  program.commandsGroup("Operate:");
  declareAttention(program, shell);
  declarePause(program, shell);
  declareDrain(program, shell);
  declareLimits(program, shell);
  declareLanes(program, shell);
  declareFairness(program, shell);
  declareIntake(program, shell);
  declarePayloads(program, shell);
  declareTenants(program, shell);
  declareWorkers(program, shell);
  declareTypes(program, shell);
  declareBreakers(program, shell);
  declareStats(program, shell);
  declareSchedules(program, shell);
  declareToken(program, shell);
  declareAudit(program, shell);
  declareDoctor(program, shell);
  program.commandsGroup("Store:");
  declareMigrate(program, shell);
  declareBackup(program, shell);
  declareCopy(program, shell);
  declareConfig(program, shell);
  declareProcess(program, shell);
  pointToHelp(program, program.name());
  return program;
}

/** Lets the usage errors of each command point to the help of that command. */
function pointToHelp(command: Command, path: string): void {
  const isGroup = command.commands.length > 0;
  command.showHelpAfterError(
    `Run ${path} --help to see ${isGroup ? "its commands" : "its arguments and options"}.`,
  );
  for (const each of command.commands) pointToHelp(each, `${path} ${each.name()}`);
}

const HELP_AFTER = `
Examples:
  millrace dev                                 dashboard, worker for jobs.ts, port ${PORT_DEFAULT}
  millrace worker --jobs jobs.ts               run jobs until Ctrl-C
  millrace enqueue email '{"to":"ada@example.com"}' --follow
  millrace jobs list --state failed
  millrace backup jobs-monday.db               while workers run
  millrace copy --from sqlite:./jobs.db --to postgres://user@host/database

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 completed with errors, 4 cancelled,
5 the store cannot be used, 124 timed out, 130 interrupted.
Precedence: flag, environment variable, millrace.config.ts, default.
`;

function declareServer(program: Command, { terminal, end }: Shell): void {
  program
    .command("server")
    .description("Serve the dashboard and the HTTP API until Ctrl-C.")
    .addOption(databaseOption())
    .addOption(portOption())
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--public-url <url>", "address that browsers use, for a host beyond this machine")
    .option("--trust-proxy", "believe the X-Forwarded-Host header of a proxy")
    .option("--redact <field...>", "fields whose values only managers read")
    .addOption(linkOption())
    .addOption(jobsOption())
    .option("--demo", "also run demo jobs")
    .addHelpText("after", SERVER_HELP_AFTER)
    .action(async (options: Omit<ServerOptions, "isAnyPort">, command: Command) => {
      const { server } = await import("./commands/server.ts");
      const isAnyPort = command.getOptionValueSource("port") === "default";
      end(await server({ ...options, isAnyPort }, terminal));
    });
}

const SERVER_HELP_AFTER = `
The printed link signs one browser in, within 15 minutes. Programs send a token of millrace token,
or MILLRACE_TOKEN, if it is set for the server: its owner may do everything. A --host beyond this
machine needs such a credential and --public-url. --trust-proxy needs --public-url.

With --jobs, or jobs in millrace.config.ts, jobs that are enqueued over HTTP use their definition:
the payload is checked, and lane, timeout and attempts are set. A type that the file does not
declare is refused (422 TYPE_UNKNOWN). Without a job file, any type and payload are accepted, with
the settings that a worker has declared for the type, or else the default settings.
`;

function declareDashboard(program: Command, { terminal, end }: Shell): void {
  program
    .command("dashboard")
    .description("Serve the dashboard of an existing store, without a job file. Reads only.")
    .addOption(databaseOption())
    .addOption(portOption())
    .option("--write", "also act on jobs, schedules and workers from the page")
    .addHelpText("after", DASHBOARD_HELP_AFTER)
    .action(async (options: { db: string; port: number; write?: true }, command: Command) => {
      const { server } = await import("./commands/server.ts");
      const { db, port, write } = options;
      const isAnyPort = command.getOptionValueSource("port") === "default";
      const isReadOnly = write !== true;
      const chosen = { db, port, host: "127.0.0.1", isAnyPort, isReadOnly, isExisting: true };
      end(await server(chosen, terminal));
    });
}

const DASHBOARD_HELP_AFTER = `
The page listens on this machine alone. The printed link signs one browser in. Without --write the
server has no route that changes anything, whatever credential a caller has.

Examples:
  npx millrace dashboard --db sqlite:./millrace.db
  npx millrace dashboard --db postgres://user@host/database --write
`;

function declareMigrate(program: Command, { terminal, end }: Shell): void {
  program
    .command("migrate")
    .description("Apply the migrations of a store.")
    .option("--print", "print the SQL and change nothing")
    .option("--roles", "make the roles for plain SQL, with their grants (PostgreSQL)")
    .option("--shared-roles", "the same, also if another database of the server has them")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (options: MigrateCommandOptions) => {
      const { migrate, migrateRoles, printMigrations } = await import("./commands/migrate.ts");
      const isPrint = options.print === true;
      const isRoles = options.roles === true || options.sharedRoles === true;
      if (isRoles) end(await migrateRoles(options, terminal));
      else end(isPrint ? printMigrations(options, terminal) : await migrate(options, terminal));
    });
}

function declareBackup(program: Command, { terminal, end }: Shell): void {
  program
    .command("backup <file>")
    .description("Copy a store into a new file while workers run.")
    .addOption(databaseOption())
    .addOption(outputOption())
    .action(async (file: string, options: { db: string; output: Format }) => {
      const { backup } = await import("./commands/backup.ts");
      end(await backup(file, options, terminal));
    });
}
