/** The heartbeat's own thread. It shares nothing with the worker but the store. */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemDice } from "../lib/system.ts";
import { settle } from "../core/settle.ts";
import type { JobStore, OverdueRun, SettleItem } from "../store/store.ts";
import type { ThreadStart, ThreadWord } from "./heartbeat.ts";
import { Ticker } from "./ticker.ts";

const start: ThreadStart = workerData;

void beat();

async function beat(): Promise<void> {
  const entry: { makeThreadStore(options: object): JobStore } = await import(start.entry.module);
  const store = entry.makeThreadStore(start.entry.options);
  await store.open();
  const ticker = new Ticker({
    clock: systemClock,
    retryMs: start.beatMs,
    failed: (error) => say({ type: "failed", message: String(error) }),
    async tick() {
      const renewal = await store.renew(start.worker, start.leaseMs);
      say({ type: "renewal", renewal });
      await endOverdue(store);
      return start.beatMs;
    },
  });
  ticker.wake();
}

/** The worker ends its own overdue runs; what is still there a beat later, it could not. */
async function endOverdue(store: JobStore): Promise<void> {
  const runs = await store.overdue(start.worker, 2 * start.beatMs);
  if (runs.length > 0) await store.settle(runs.map(timedOut));
}

function timedOut({ lease, key, n, limitMs, facts }: OverdueRun): SettleItem {
  const policy = start.policies[facts.type] ?? start.policy;
  const context = { policy, random: systemDice.random() };
  return { lease, key, n, settlement: settle(facts, { type: "timed_out", limitMs }, context) };
}

function say(word: ThreadWord): void {
  parentPort?.postMessage(word);
}
