/**
 * A worker process of the campaigns. Takes {@link WorkerSettings} as JSON and says `ready` once it
 * works. SIGTERM stops it; it ends when its parent does.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError, NonRetryableError } from "millrace";
import type { Context } from "millrace";
import type { WorkerSettings } from "./children.ts";
import { endWithParent } from "./end-with-parent.ts";
import { DEAF_EXIT, logLine } from "./history.ts";
import { AppendLog } from "./ledger.ts";
import type { LedgerLine } from "./ledger.ts";
import { openPatiently } from "./open-patiently.ts";
import { childOf, pipeline, task, UNITS_PHASE } from "./task.ts";
import type { Act, Task } from "./task.ts";

const settings: WorkerSettings = JSON.parse(process.argv[2] ?? "{}");
endWithParent();

const ledger = new AppendLog(settings.ledger);
const { pid } = process;

const job = task.run(async (payload, ctx) => {
  const { fence } = ctx.lease;
  const note = noter(payload, ctx);
  note("start");
  talk(payload, ctx);
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

/** Runs whose first line is written: a run that resumes begins with a later phase. */
const begun = new Set<string>();

const phased = pipeline
  .phase("first", async (payload, ctx) => {
    const note = begin(payload, ctx);
    talk(payload, ctx);
    await quitting(note, () => perform(payload.act, ctx.signal));
    return ctx.lease.fence;
  })
  .phase(UNITS_PHASE, async (payload, ctx) => {
    const note = begin(payload, ctx);
    const options = { concurrency: 2, exclusive: ({ lock }: { lock: string }) => lock };
    await quitting(note, () =>
      ctx.each(
        payload.units ?? [],
        ({ key }) => key,
        async ({ key, ms, lock }, { signal }) => {
          note("start", { unit: key, lock });
          try {
            await sleep(ms, undefined, { signal });
          } catch (error) {
            note("quit", { unit: key, lock });
            throw error;
          }
          note("end", { unit: key, lock });
          return ctx.lease.fence;
        },
        options,
      ),
    );
    return ctx.lease.fence;
  })
  .phase("last", (payload, ctx) => {
    const note = begin(payload, ctx);
    note("end");
    return ctx.lease.fence;
  });

const mill = await openPatiently(settings.url);
const worker = mill.work({ jobs: [job, phased], ...settings.work });
process.once("SIGTERM", () => void stop());
await worker.ready;
console.log("ready");

async function stop(): Promise<void> {
  let isDeaf = false;
  await worker.stop().catch((error: unknown) => {
    isDeaf = error instanceof MillraceError && error.code === "STOP_TIMED_OUT";
  });
  await mill.close().catch(() => {});
  if (isDeaf) process.exit(DEAF_EXIT);
}

type Note = (what: LedgerLine["what"], about?: Pick<LedgerLine, "unit" | "lock">) => void;
type Run = Context<unknown, unknown>;

function noter({ lock }: Task, { job: { id }, lease: { fence }, attempt }: Run): Note {
  const own = lock === undefined ? {} : { lock };
  return (what, about = own) => {
    const line = { job: id, fence, pid, attempt, what, at: Date.now(), ...about };
    ledger.append(JSON.stringify(line satisfies LedgerLine));
  };
}

/** A phase begins, and with the first one the run. */
function begin(payload: Task, ctx: Run): Note {
  const note = noter(payload, ctx);
  const run = `${ctx.job.id} ${ctx.lease.fence}`;
  if (!begun.has(run)) note("start");
  begun.add(run);
  return note;
}

async function quitting<Answer>(note: Note, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    note("quit");
    throw error;
  }
}

function talk({ lines = 0 }: Task, { log, lease: { fence } }: Run): void {
  for (let turn = 1; turn <= lines; turn += 1) log.info(logLine(fence, turn));
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
