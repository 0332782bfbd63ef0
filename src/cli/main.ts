/** The program behind `bin/millrace.js`. Node's version has been checked before this is loaded. */
import { runCommandLine } from "./program.ts";
import { systemTerminal } from "./terminal/terminal.ts";

/** The exit code that shells report for a program ended by a closed pipe. */
const CLOSED_PIPE = 141;

async function main(): Promise<void> {
  // `millrace jobs list | head` closes the pipe before the end of the output.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => process.exit(CLOSED_PIPE));
  }
  process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal);
  // A job file may have left a pool or a timer open, which must not keep the command alive. Exit
  // after the pending output is written.
  process.stdout.write("", () => process.exit());
}

void main();
