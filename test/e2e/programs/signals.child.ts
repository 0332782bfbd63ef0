/**
 * A worker program without a word about signals, or with the ones that its settings name. Runs the
 * jobs of the type `long` in each database, and prints what happens.
 */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { defineJob, openMillrace } from "../../../src/index.ts";

export interface SignalProgram {
  readonly urls: readonly string[];
  readonly signals?: boolean;
  readonly grace?: `${number}ms` | `${number}h`;
  /** The application listens to SIGTERM itself. */
  readonly listens?: boolean;
  /** The application stops its workers itself before it waits. */
  readonly stopsFirst?: boolean;
}

const settings: SignalProgram = JSON.parse(process.argv[2] ?? "");
const { urls, listens = false, stopsFirst = false, signals, grace } = settings;

const long = defineJob({ type: "long" }).run(async (_, ctx) => {
  say("running");
  await once(ctx.signal, "abort");
  throw ctx.signal.reason;
});

const logger = { debug: skip, info: skip, warn: say, error: say };
const mills = await Promise.all(urls.map((url) => openMillrace(url, { logger })));
const options = {
  ...(signals !== undefined && { signals }),
  ...(grace !== undefined && { grace }),
};
const workers = mills.map((mill) => mill.work({ jobs: [long], ...options }));
if (listens) process.on("SIGTERM", () => say("the application hears SIGTERM"));
if (stopsFirst) {
  await Promise.all(workers.map(async (worker) => worker.stop()));
  say(`stopped, ${process.listenerCount("SIGTERM")} listener(s)`);
}
// A process whose only purpose is to run jobs has something that keeps it alive, such as a server.
setInterval(skip, 1_000_000);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function skip(): void {}
