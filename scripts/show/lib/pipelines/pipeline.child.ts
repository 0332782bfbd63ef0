/**
 * A process that asks for the pipeline and runs it, from the first call to the last: it opens the
 * store, enqueues under a key, works until the job and its children are final, stops and closes.
 * Takes {@link PipelineSettings} as JSON; where it dies stands in its environment.
 */
import { writeFileSync } from "node:fs";
import { openMillrace } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { countedStore } from "./counted-store.ts";
import { pipelineJobs, report, REPORT_KEY, warmUp } from "./pipeline.ts";
import type { PipelineSettings } from "./pipeline.ts";
import { until } from "../until.ts";

const END_MS_MAX = 60_000;

const settings: PipelineSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const calls = new Map<string, number>();
const store = settings.calls === undefined ? settings.url : await countedStore(settings.url, calls);
const mill = await openMillrace(store);
const [job] = await mill.enqueueMany([
  report.of(undefined, { idempotencyKey: REPORT_KEY }),
  ...[1, 2, 3].map((number) =>
    warmUp.of(number, { idempotencyKey: `warm-up ${number}`, priority: "high" }),
  ),
]);
const worker = mill.work({
  jobs: pipelineJobs(settings.deeds),
  lanes: { general: 1 },
  lease: settings.leaseMs,
  poll: 100,
});
await mill.wait(job);
await until("its children are final", END_MS_MAX, async () => {
  const { jobs } = await mill.jobs.list({ parentId: job.id });
  return jobs.every(({ finishedAt }) => finishedAt !== null);
});
await worker.stop();
await mill.close();
if (settings.calls !== undefined) {
  writeFileSync(settings.calls, JSON.stringify(Object.fromEntries(calls)));
}
process.exit(0);
