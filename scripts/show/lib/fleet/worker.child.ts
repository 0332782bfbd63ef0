/**
 * A worker process of the campaigns. Takes {@link WorkerSettings} as JSON and says `ready` once it
 * works. SIGTERM stops it; it ends when its parent does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError, NonRetryableError } from "millrace";
import type { WorkerSettings } from "./children.ts";
import { endWithParent } from "./end-with-parent.ts";
import { DEAF_EXIT } from "./history.ts";
import { AppendLog } from "./ledger.ts";
import type { LedgerLine } from "./ledger.ts";
import { openPatiently } from "./open-patiently.ts";
import { childOf, task } from "./task.ts";
import type { Act } from "./task.ts";

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const ledger = new AppendLog(settings.ledger);
const { pid } = process;

const job = task.run(async (payload, ctx) => {
  const { fence } = ctx.lease;
  const note = (what: LedgerLine["what"]): void => {
    const line = { job: ctx.job.id, fence, pid, attempt: ctx.attempt, what, at: Date.now() };
    ledger.append(JSON.stringify(line satisfies LedgerLine));
  };
  note("start");
  try {
    await perform(payload.act, ctx.signal);
  } catch (error) {
    note("quit");
    throw error;
  }
  if (payload.end === "parent") await ctx.enqueue(task, childOf(payload));
  const fails = payload.end === "failure" || (payload.end === "retry" && ctx.attempt === 1);
  note(fails ? "fail" : "end");
  if (payload.end === "failure") throw new NonRetryableError("as told");
  if (fails) throw new Error("as told");
  return { fence, pid };
});

const mill = await openPatiently(settings.url);
const worker = mill.work({ jobs: [job], signals: true, ...settings.work });
process.once("SIGTERM", () => void stop());
await worker.ready;
console.log("ready");

async function stop(): Promise<void> {
  let isDeaf = false;
  await worker.stop().catch((error: unknown) => {
    isDeaf = error instanceof MillraceError && error.code === "STOP_TIMED_OUT";
  });
  await mill.close().catch(() => {});
  // Otherwise the library has set it, because it was told to heed signals.
  if (isDeaf) process.exit(DEAF_EXIT);
}

async function perform(act: Act, signal: AbortSignal): Promise<void> {
  switch (act.kind) {
    case "wait":
      await sleep(act.ms, undefined, act.heedsAbort ? { signal } : {});
      return;
    case "spin":
      spin(act.ms);
      return;
    case "die":
      await sleep(act.afterMs);
      process.kill(pid, "SIGKILL");
  }
}

function spin(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
