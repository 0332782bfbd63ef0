/** The program behind `bin/millrace.js`. Node's version has been checked before this is loaded. */
import { runCommandLine } from "./program.ts";
import { systemTerminal } from "./terminal/terminal.ts";

async function main(): Promise<void> {
  // A log that has no reader must not end a worker with runs in flight.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal);
  // A job file may have left a pool or a timer open, which must not keep the command alive. Exit
  // after the pending output is written.
  process.stdout.write("", () => process.exit());
}

void main();
