/** The worker process of late-commits.ts. Takes {@link LateSettings} as JSON; SIGTERM stops it. */
import { openMillrace } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { late } from "./late-commits.ts";
import type { LateSettings } from "./late-commits.ts";

const { url }: LateSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const mill = await openMillrace(url);
const worker = mill.work({ jobs: [late.run(() => {})], lanes: { general: 10 }, poll: 50 });
process.once("SIGTERM", () => {
  void worker.stop().then(() => mill.close());
});
await worker.ready;
console.log("ready");
