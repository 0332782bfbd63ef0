/**
 * A worker process of the campaigns on PostgreSQL. Takes {@link WorkerSettings} as JSON, says
 * `ready` once it works, and ends when its parent does.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import type { WorkerSettings } from "./children.ts";
import { AppendLog } from "./ledger.ts";
import type { LedgerLine } from "./ledger.ts";
import { childOf, order } from "./order.ts";

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");
const endWithParent = (): never => process.exit(1);
process.once("disconnect", endWithParent);

const ledger = new AppendLog(settings.ledger);
const { pid } = process;

const job = order.run(async (payload, ctx) => {
  const { fence } = ctx.lease;
  const note = (what: LedgerLine["what"]): void => {
    const line = { job: ctx.job.id, fence, pid, attempt: ctx.attempt, what, at: Date.now() };
    ledger.append(JSON.stringify(line satisfies LedgerLine));
  };
  note("start");
  await sleep(payload.ms);
  if (payload.end === "parent") await ctx.enqueue(order, childOf(payload));
  note("end");
  if (payload.end === "failure") throw new Error("as ordered");
});

const mill = await openMillrace(settings.url);
const worker = mill.work({ jobs: [job], ...settings.work });
await worker.ready;
process.send?.("ready");
await once(process, "message");
await worker.stop();
await mill.close();
process.off("disconnect", endWithParent).disconnect();
