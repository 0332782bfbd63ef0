/**
 * A worker process of the campaigns. Takes {@link WorkerSettings} as JSON and says `ready` once it
 * works. Ends when its parent does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import type { WorkerSettings } from "./children.ts";
import { effect } from "./effect.ts";
import type { Effect } from "./effect.ts";
import { AppendLog } from "./ledger.ts";
import type { LedgerLine } from "./ledger.ts";

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const ledger = new AppendLog(settings.ledger);
const { pid } = process;

const job = effect.run(async (payload, ctx) => {
  const { fence } = ctx.lease;
  const note = (what: LedgerLine["what"]): void => {
    const line = { job: ctx.job.id, fence, pid, attempt: ctx.attempt, what, at: Date.now() };
    ledger.append(JSON.stringify(line satisfies LedgerLine));
  };
  note("start");
  try {
    await perform(payload, ctx.signal);
  } catch (error) {
    note("quit");
    throw error;
  }
  note("end");
  return { fence, pid };
});

const mill = await openMillrace(settings.url);
const worker = mill.work({ jobs: [job], signals: true, ...settings.work });
await worker.ready;
console.log("ready");

async function perform(task: Effect, signal: AbortSignal): Promise<void> {
  switch (task.act) {
    case "sleep":
      await sleep(task.ms, undefined, task.heedsAbort ? { signal } : {});
      return;
    case "spin":
      spin(task.ms);
      return;
    case "die":
      process.kill(pid, "SIGKILL");
  }
}

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** The pipe from the parent closes with it, however it ends. */
function endWithParent(): void {
  const pipe = process.stdin.on("end", () => process.exit(1)).resume();
  // What waits for the parent must not keep a stopped worker from ending.
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
}
