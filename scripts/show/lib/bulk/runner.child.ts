/**
 * A process that runs bulk operations: a worker without jobs to run. Takes the URL as JSON and says
 * `ready`. It ends when its parent does.
 */
import { defineJob, openMillrace } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";

const { url }: { url: string } = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const mill = await openMillrace(url);
const worker = mill.work({ jobs: [defineJob({ type: "none" }).run(() => {})], signals: false });
await worker.ready;
console.log("ready");
