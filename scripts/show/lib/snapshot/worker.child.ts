/** The worker of `held-snapshot.ts`: reports in batches when the handler of each job began. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed } from "millrace";
import { shortRetention } from "../retention/flow.ts";
import { now, type WorkerSettings } from "./paced-jobs.ts";

const REPORT_MS = 50;

const { url, slots, handlerMs, keptMs }: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");

let begun: [number: number, at: number][] = [];
const timed = defineJob({ type: "timed", payload: typed<number>() }).run(async (number) => {
  begun.push([number, now()]);
  await sleep(handlerMs);
});

const mill = await openMillrace(url);
const worker = mill.work({
  jobs: [timed],
  lanes: { general: slots },
  preset: shortRetention(keptMs),
});
await worker.ready;
process.send?.([]);
const reporting = setInterval(() => {
  process.send?.(begun);
  begun = [];
}, REPORT_MS);
// The parent has ended, or asks for a stop.
process.once("disconnect", () => {
  clearInterval(reporting);
  void mill.close();
});
