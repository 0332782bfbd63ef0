/**
 * One release of a pipeline, as a worker process. Takes {@link ReleaseSettings} as JSON, says
 * `stuck` when it is, and stops on SIGTERM.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace } from "millrace";
import { endWithParent } from "../fleet/end-with-parent.ts";
import { AppendLog } from "../fleet/ledger.ts";
import { HANDLER, resultOf } from "./releases.ts";
import type { ReleaseLine, ReleaseSettings } from "./releases.ts";

const STUCK_MS = 3_600_000;

const settings: ReleaseSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const log = new AppendLog(settings.log);
const { phases, stuckIn, mark } = settings;
let job: any = defineJob({ type: "changing", timeout: false });
for (const phase of phases) job = job.phase(phase, acting(phase));
if (phases.length === 0) job = job.run(acting(HANDLER));

interface Scene {
  readonly results: ReleaseLine["results"];
  readonly signal: AbortSignal;
  readonly step: (name: string, fn: () => void) => Promise<unknown>;
}

/** A phase does its step, and is stuck after it if that is how it goes. */
function acting(phase: string) {
  return async (_: unknown, { results, signal, step }: Scene): Promise<object> => {
    const note = (what: ReleaseLine["what"]): void => {
      const line: ReleaseLine = { pid: process.pid, what, phase, results };
      log.append(JSON.stringify(line));
    };
    note("phase");
    await step("prepare", () => note("step"));
    if (phase === stuckIn) {
      console.log("stuck");
      await sleep(STUCK_MS, undefined, { signal });
    }
    return resultOf(phase, mark);
  };
}

const mill = await openMillrace(settings.url);
const worker = mill.work({ jobs: [job], lease: 600, poll: 100, grace: 50 });
process.once("SIGTERM", () => {
  void worker.stop().then(() => mill.close());
});
await worker.ready;
