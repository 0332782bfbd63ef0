/** The thread of the heartbeat. It shares only the store with the worker. */
import { parentPort, workerData } from "node:worker_threads";
import { wait } from "../../core/clock.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import type { ThreadStore } from "../../store/store.ts";
import type { ThreadStart, ThreadMessage } from "./heartbeat.ts";
import { BeatTimes } from "./beat-times.ts";
import { OverdueWatch } from "./overdue-runs.ts";
import { beatOnce } from "./clock-skew.ts";
import { Ticker } from "../ticker.ts";

const start: ThreadStart = workerData;

void run();

async function run(): Promise<void> {
  const entry: { makeThreadStore(options: object): ThreadStore } = await import(start.entry.module);
  const store = await opened(() => entry.makeThreadStore(start.entry.options));
  const overdueWatch = new OverdueWatch({
    store,
    clock: systemClock,
    dice: systemDice,
    worker: start.worker,
    beatMs: start.beatMs,
    policyOf: (type) => start.policies[type] ?? start.policy,
  });
  // Not a part of the beat: a look that the store answers late must not delay the next beat.
  let isLooking = false;
  let lastFailure = "";
  const lookForOverdue = async (now: number, hasRuns: boolean): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const runs = await overdueWatch.beat(now, hasRuns);
      lastFailure = "";
      if (runs.length > 0) post({ type: "ended", runs });
    } catch (error) {
      // Once: a row that cannot be read stays at every beat.
      if (String(error) !== lastFailure) postFailure(error);
      lastFailure = String(error);
    } finally {
      isLooking = false;
    }
  };
  const times = new BeatTimes(start.times);
  /** When the first heartbeat was posted that the event loop has not heard of. */
  let unheardSince: number | null = null;
  const ticker = new Ticker({
    clock: systemClock,
    retryMs: start.beatMs,
    failed: postFailure,
    async tick() {
      const loopLagMs = times.takeLag(systemClock.monotonic(), unheardSince);
      if (unheardSince !== null && times.isHeard(unheardSince)) unheardSince = null;
      const vitals = { memoryBytes: process.memoryUsage.rss(), loopLagMs };
      const beat = await beatOnce(store, systemClock, { ...start, times, vitals });
      unheardSince ??= systemClock.monotonic();
      post({ type: "beat", beat });
      const { renewal } = beat;
      if (renewal.status === "renewed") void lookForOverdue(renewal.now, renewal.busy);
      return start.beatMs;
    },
  });
  ticker.wake();
}

/** Retries, because the store may be unavailable for a moment. */
async function opened(make: () => ThreadStore): Promise<ThreadStore> {
  for (;;) {
    const store = make();
    try {
      await store.open();
      return store;
    } catch (error) {
      post({ type: "not-open", message: String(error) });
      await wait(systemClock, start.beatMs);
    }
  }
}

function postFailure(error: unknown): void {
  post({ type: "failed", message: String(error) });
}

function post(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
