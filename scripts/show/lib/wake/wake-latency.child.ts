/** The worker of `wake-latency.ts`: reports when the handler of each job began. */
import { defineJob, openMillrace, typed } from "millrace";

const url = process.argv[2] ?? "";

const timed = defineJob({ type: "timed", payload: typed<number>() }).run((number) => {
  // The monotonic clock has the same origin in all processes of a host.
  process.send?.({ number, startedAt: Number(process.hrtime.bigint()) / 1e6 });
});

const mill = await openMillrace(url);
// Finished jobs of a filled installation are old, and must stay.
const worker = mill.work({ jobs: [timed], retention: false });
await worker.ready;
process.send?.("ready");
// The parent has ended, or asks for a stop.
process.once("disconnect", () => void mill.close());
