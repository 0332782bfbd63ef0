/** The program behind `bin/millrace.js`. Node's version has been checked before this is loaded. */
import { runCommandLine } from "./program.ts";
import { systemTerminal } from "./terminal.ts";

async function main(): Promise<void> {
  process.exitCode = await runCommandLine(process.argv.slice(2), systemTerminal);
}

void main();
