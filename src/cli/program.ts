/**
 * The command line: what can be said, and which module does it. A command's own code is loaded when
 * the command is used, so that `--help` and `--version` touch neither store nor server.
 */
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXIT, reportError } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { Terminal } from "./terminal.ts";

const PORT_DEFAULT = 7333;

/** Runs a command line, given without the program's own name. Never throws: it answers a code. */
export async function runCommandLine(
  args: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.success;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // Commander has already said what it had to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.success : EXIT.usage;
    return reportError(error, terminal);
  }
}

function createProgram(terminal: Terminal, end: (code: ExitCode) => void): Command {
  const program = new Command("millrace")
    .description("Durable background jobs: one SQLite file to start, a fleet to grow.")
    .version(packageVersion(), "-v, --version", "Show the version.")
    .helpOption("-h, --help", "Show this help, or that of a command.")
    .helpCommand("help [command]", "Show the help of a command.")
    .showSuggestionAfterError()
    .showHelpAfterError("Run millrace --help to see what there is.")
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .addHelpText("after", HELP_AFTER);

  program
    .command("server")
    .description("Serve the dashboard and the HTTP API until Ctrl-C.")
    .addOption(databaseOption())
    .addOption(portOption())
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .action(async (options: { db: string; port: number; host: string }, command: Command) => {
      const { server } = await import("./commands/server.ts");
      const isAnyPort = command.getOptionValueSource("port") === "default";
      end(await server({ ...options, isAnyPort }, terminal));
    });

  program
    .command("migrate")
    .description("Bring the tables of a store up to date.")
    .addOption(databaseOption())
    .action(async (options: { db: string }) => {
      const { migrate } = await import("./commands/migrate.ts");
      end(await migrate(options, terminal));
    });

  program
    .command("backup <file>")
    .description("Copy a store into a new file, beside running workers.")
    .addOption(databaseOption())
    .action(async (file: string, options: { db: string }) => {
      const { backup } = await import("./commands/backup.ts");
      end(await backup(file, options, terminal));
    });

  return program;
}

const HELP_AFTER = `
Examples:
  millrace server                              on ./millrace.db, http://127.0.0.1:${PORT_DEFAULT}
  millrace server --db sqlite:/var/lib/jobs.db --port 8080
  millrace backup jobs-monday.db               while workers go on

Exit codes: 0 success, 1 failure, 2 wrong usage, 5 the store cannot be used.
A flag wins over its environment variable, and that over the default.
`;

function databaseOption(): Option {
  return new Option("--db <url>", "where the jobs are")
    .env("MILLRACE_DATABASE_URL")
    .default("sqlite:./millrace.db");
}

function portOption(): Option {
  return new Option("--port <number>", "port to listen on; if none is given, a free one near it")
    .env("MILLRACE_PORT")
    .default(PORT_DEFAULT)
    .argParser(parsePort);
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("It is a number from 0 to 65535; 0 takes any free port.");
}

/** From the package's own manifest, which lies two folders up in the source and in the build. */
function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
