/** The heartbeat's own thread. It shares nothing with the worker but the store. */
import { parentPort, workerData } from "node:worker_threads";
import { wait } from "../../core/clock.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import type { JobStore } from "../../store/store.ts";
import type { ThreadStart, ThreadWord } from "./heartbeat.ts";
import { OverdueWatch } from "./overdue-runs.ts";
import { beatOnce } from "./clock-skew.ts";
import { Ticker } from "../ticker.ts";

const start: ThreadStart = workerData;

void live();

async function live(): Promise<void> {
  const entry: { makeThreadStore(options: object): JobStore } = await import(start.entry.module);
  const store = await opened(() => entry.makeThreadStore(start.entry.options));
  const overruns = new OverdueWatch({
    store,
    clock: systemClock,
    dice: systemDice,
    worker: start.worker,
    beatMs: start.beatMs,
    policyOf: (type) => start.policies[type] ?? start.policy,
  });
  const ticker = new Ticker({
    clock: systemClock,
    retryMs: start.beatMs,
    failed: (error) => say({ type: "failed", message: String(error) }),
    async tick() {
      const beat = await beatOnce(store, systemClock, start);
      say({ type: "beat", beat });
      const { renewal } = beat;
      if (renewal.status === "renewed") await overruns.beat(renewal.now);
      return start.beatMs;
    },
  });
  ticker.wake();
}

/** A store may be away for a moment. A thread that gave up then would leave the loop alone. */
async function opened(make: () => JobStore): Promise<JobStore> {
  for (;;) {
    const store = make();
    try {
      await store.open();
      return store;
    } catch (error) {
      say({ type: "failed", message: String(error) });
      await wait(systemClock, start.beatMs);
    }
  }
}

function say(word: ThreadWord): void {
  parentPort?.postMessage(word);
}
