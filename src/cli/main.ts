/** The program behind `bin/millrace.js`. Node's version has been checked before this is loaded. */
import { runCommandLine } from "./program.ts";
import { systemTerminal } from "./terminal/terminal.ts";

/** As a shell says it of a program that a closed pipe has ended. */
const CLOSED_PIPE = 141;

async function main(): Promise<void> {
  // `millrace jobs list | head` closes the pipe when it has seen enough.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => process.exit(CLOSED_PIPE));
  }
  process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal);
  // A job file may have opened what nobody closes, a pool or a timer: the command is over all the
  // same. What is still on its way to the reader arrives first.
  process.stdout.write("", () => process.exit());
}

void main();
