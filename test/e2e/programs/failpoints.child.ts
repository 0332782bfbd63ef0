/**
 * A worker on a file, as any application has one. It says what it is warned of, and which jobs it
 * has run. What else happens to it stands in its environment.
 */
import { writeSync } from "node:fs";
import { defineJob, openMillrace } from "../../../src/index.ts";

const [path = ""] = process.argv.slice(2);

const mail = defineJob({ type: "mail" }).run((_, ctx) => print(`ran ${ctx.job.id}`));

const logger = {
  debug() {},
  info() {},
  warn: (text: string) => print(`warned: ${text}`),
  error() {},
};
const mill = await openMillrace(`sqlite:${path}`, { logger });
mill.work({ jobs: [mail], lanes: { general: 1 }, lease: "1s", poll: "100ms" });

/** Straight to the descriptor: what was printed is out even if the process is killed next. */
function print(line: string): void {
  writeSync(1, `${line}\n`);
}
