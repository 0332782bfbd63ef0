/**
 * The worker process of the retention show. Takes {@link FlowSettings} as JSON, says again and
 * again how many jobs it has run, and ends when its parent does.
 */
import { once } from "node:events";
import { NonRetryableError, openMillrace } from "millrace";
import { drop, shortRetention } from "./flow.ts";
import type { FlowSettings } from "./flow.ts";

const TELL_MS = 10;

const { url, slots, keptMs }: FlowSettings = JSON.parse(process.argv[2] ?? "{}");
const endWithParent = (): never => process.exit(1);
process.once("disconnect", endWithParent);

let ended = 0;
const job = drop.run(async ({ fails }) => {
  ended += 1;
  if (fails) throw new NonRetryableError("as asked for");
});

const mill = await openMillrace(url);
const worker = mill.work({
  jobs: [job],
  lanes: { general: slots },
  batch: Math.min(slots, 500),
  preset: shortRetention(keptMs),
});
await worker.ready;
const telling = setInterval(() => process.send?.(ended), TELL_MS);
process.send?.(0);
await once(process, "message");
clearInterval(telling);
await worker.stop();
await mill.close();
process.off("disconnect", endWithParent).disconnect();
