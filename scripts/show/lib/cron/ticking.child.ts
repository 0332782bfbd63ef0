/**
 * A worker process with a schedule for every second. Takes its settings as JSON and says `ready`
 * once it works. SIGTERM stops it; it ends when its parent does.
 */
import { defineJob, schedule } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { openPatiently } from "../fleet/open-patiently.ts";
import { TICKING, type TickingSettings } from "./ticking.ts";

const settings: TickingSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const job = defineJob({ type: TICKING }).run(() => {});
const mill = await openPatiently(settings.url);
const worker = mill.work({
  jobs: [job],
  schedules: [schedule(TICKING, { cron: "* * * * * *" }, job)],
  lease: settings.leaseMs,
});
process.once("SIGTERM", () => void worker.stop().then(() => mill.close()));
await worker.ready;
console.log("ready");
