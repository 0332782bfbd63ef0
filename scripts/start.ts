/**
 * Builds, then starts the server on a SQLite file in this folder, with demo jobs to watch.
 * Arguments go to the server.
 */
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { build } from "./build.ts";
import { root } from "./lib/command.ts";

const { ok, complaints } = await build();
if (ok) {
  const entry = join(root, "bin", "millrace.js");
  // In this very process: one less that has to pass signals and exit codes on.
  process.argv = [process.execPath, entry, "server", "--demo", ...process.argv.slice(2)];
  await import(pathToFileURL(entry).href);
} else {
  process.stderr.write(complaints);
  process.exitCode = 1;
}
