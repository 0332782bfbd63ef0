/**
 * A process that begins the supervised process and carries it to its end. Takes
 * {@link ChannelSettings} as JSON; the environment says at which verb it dies.
 */
import { writeFileSync } from "node:fs";
import { openMillrace } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { AppendLog } from "../fleet/ledger.ts";
import { countedStore } from "../pipelines/counted-store.ts";
import { channelScene, PROCESS_KEY, type ChannelSettings, type Place } from "./channels.ts";

const settings: ChannelSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

let passes = 0;
function pass(place: Place): void {
  const { death } = settings;
  if (death?.place !== place) return;
  passes += 1;
  if (passes === death.pass) process.kill(process.pid, "SIGKILL");
}

const calls = new Map<string, number>();
const store = settings.calls === undefined ? settings.url : await countedStore(settings.url, calls);
const mill = await openMillrace(store);
const scene = channelScene({ log: new AppendLog(settings.log), pass });
const job = await mill.enqueue(scene.supervisor, { user: 7 }, { idempotencyKey: PROCESS_KEY });
const worker = mill.work({
  jobs: [scene.channel, scene.supervisor],
  functions: scene.functions,
  lease: settings.leaseMs,
  poll: 100,
});
await mill.wait(job);
await worker.stop();
await mill.close();
if (settings.calls !== undefined) {
  writeFileSync(settings.calls, JSON.stringify(Object.fromEntries(calls)));
}
process.exit(0);
