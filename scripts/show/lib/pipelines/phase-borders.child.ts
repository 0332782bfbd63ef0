/**
 * The worker process of cancel-between.ts. Takes {@link BorderSettings} as JSON, says `ready` once
 * it works, and stops on SIGTERM.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import { borderedJob, PHASES } from "./phase-borders.ts";
import type { BorderLine, BorderSettings, Cancellation, Scene } from "./phase-borders.ts";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { AppendLog } from "../fleet/ledger.ts";

const SHORT_MS = 20;
/** The last phase is long enough for a cancel to arrive that was asked for before it. */
const LAST_MS = 1_500;

const settings: BorderSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const log = new AppendLog(settings.log);
const mill = await openMillrace(settings.url);

/** One phase: it waits, and cancels its own job at the end if that is how it goes. */
function acting(phase: (typeof PHASES)[number]) {
  const isLast = phase === PHASES.at(-1);
  const number = PHASES.indexOf(phase) + 1;
  return async ({ way, border }: Cancellation, { job, lease, signal }: Scene): Promise<string> => {
    const note = (what: BorderLine["what"]): void => {
      const line: BorderLine = { job: job.id, phase, fence: lease.fence, what };
      log.append(JSON.stringify(line));
    };
    note("begin");
    try {
      await sleep(isLast ? LAST_MS : SHORT_MS, undefined, { signal });
    } catch (error) {
      note("cut");
      throw error;
    }
    if (way === "handler" && border === number) await mill.jobs.cancel(job.id);
    note("end");
    return phase;
  };
}

const worker = mill.work({
  jobs: [borderedJob(acting)],
  lanes: { general: settings.slots },
  lease: settings.leaseMs,
  poll: 100,
});
process.once("SIGTERM", () => {
  void worker.stop().then(() => mill.close());
});
await worker.ready;
console.log("ready");
