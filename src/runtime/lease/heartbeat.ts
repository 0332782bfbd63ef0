/**
 * Renews the lease of a worker and receives the requests for it.
 *
 * If another thread can open the store, the heartbeat has its own thread, so that a handler that
 * blocks the event loop does not lose the lease. That thread also ends runs that have exceeded
 * their time-out while the loop was blocked. Otherwise the heartbeat is a ticker of the event loop.
 */
import { Worker as Thread } from "node:worker_threads";
import type { Clock } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import type { JobStore } from "../../store/store.ts";
import type { ThreadEntry, WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { BeatTimes } from "./beat-times.ts";
import { beatOnce, type Beat } from "./clock-skew.ts";
import { EventLoopWatch } from "./event-loop-watch.ts";
import type { RunName } from "../run/lock-queue.ts";
import { Ticker } from "../ticker.ts";

/** The default of V8 fits servers: a thread that only beats would keep megabytes of garbage. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 2 };

export interface HeartbeatParts {
  readonly store: Pick<JobStore, "renew" | "thread">;
  readonly clock: Clock;
  readonly worker: WorkerId;
  readonly leaseMs: number;
  readonly beatMs: number;
  /** Shared with the thread. */
  readonly times: BeatTimes;
  /** For runs that the thread ends: the retry policies by type, and the one of other types. */
  readonly policies: Readonly<Record<string, RetryPolicy>>;
  readonly policy: RetryPolicy;
  readonly onBeat: (beat: Beat) => void;
  /** The thread has ended runs over their time limit. */
  readonly onEnded: (runs: readonly RunName[]) => void;
  readonly failed: (error: unknown) => void;
  /** The thread cannot open the store: the heartbeats come from the event loop. */
  readonly onNotOpen: (message: string) => void;
}

export interface Heartbeat {
  stop(): Promise<unknown>;
  /** The lease has expired: the event loop beats as well, because the thread may hang. */
  assist(): void;
}

/** The `workerData` of the thread. */
export interface ThreadStart {
  readonly entry: Omit<ThreadEntry, "isValid">;
  readonly worker: WorkerId;
  readonly leaseMs: number;
  readonly beatMs: number;
  /** The memory of the {@link BeatTimes} of the worker. */
  readonly times: SharedArrayBuffer;
  readonly policies: Readonly<Record<string, RetryPolicy>>;
  readonly policy: RetryPolicy;
}

/** The messages of the thread. */
export type ThreadMessage =
  | { readonly type: "beat"; readonly beat: Beat }
  | { readonly type: "ended"; readonly runs: readonly RunName[] }
  /** The thread cannot open the store and tries again. The event loop beats meanwhile. */
  | { readonly type: "not-open"; readonly message: string }
  | { readonly type: "failed"; readonly message: string };

export function startHeartbeat(parts: HeartbeatParts): Heartbeat {
  const entry = parts.store.thread;
  const watch = new EventLoopWatch();
  watch.start();
  const heartbeat =
    entry === null ? inlineHeartbeat(parts, watch) : threadHeartbeat(parts, entry, watch);
  return {
    assist: () => heartbeat.assist(),
    stop() {
      watch.stop();
      return heartbeat.stop();
    },
  };
}

/** Beats on the event loop of the worker. */
function inlineHeartbeat(parts: HeartbeatParts, watch: EventLoopWatch): Heartbeat {
  const { store, clock, worker, leaseMs, beatMs, times, onBeat, failed } = parts;
  const ticker = new Ticker({
    clock,
    retryMs: beatMs,
    failed,
    async tick() {
      const vitals = { memoryBytes: process.memoryUsage.rss(), loopLagMs: watch.take() };
      onBeat(await beatOnce(store, clock, { worker, leaseMs, times, vitals }));
      return beatMs;
    },
  });
  ticker.wake();
  return { stop: () => ticker.stop(), assist() {} };
}

/**
 * Beats on a thread. The event loop beats until the first message, after the thread has ended, and
 * from the expiry of the lease until the next message.
 */
function threadHeartbeat(
  parts: HeartbeatParts,
  entry: ThreadEntry,
  watch: EventLoopWatch,
): Heartbeat {
  const { worker, leaseMs, beatMs, policies, policy, onBeat, onEnded, onNotOpen, failed } = parts;
  const times = parts.times.buffer;
  const { module, options, isValid = () => true } = entry;
  const lease = { worker, leaseMs, beatMs, times };
  const start: ThreadStart = { entry: { module, options }, ...lease, policies, policy };
  const isSource = import.meta.url.endsWith(".ts");
  const file = new URL(
    isSource ? "./heartbeat-thread.ts" : "./heartbeat-thread.js",
    import.meta.url,
  );
  const thread = new Thread(file, { workerData: start, resourceLimits: THREAD_LIMITS });
  // The worker keeps the process alive, not its heartbeat.
  thread.unref();
  let substitute: Heartbeat | null = inlineHeartbeat(parts, watch);
  let isStopping = false;
  thread.on("message", (message: ThreadMessage) => {
    // A thread that is stopped while it loads reports that its modules are incomplete.
    if (isStopping && (message.type === "failed" || message.type === "not-open")) return;
    if (message.type === "failed") {
      failed(new Error(message.message));
      return;
    }
    if (message.type === "not-open") {
      onNotOpen(message.message);
      return;
    }
    if (message.type === "ended") {
      onEnded(message.runs);
      return;
    }
    void substitute?.stop();
    substitute = null;
    parts.times.tellLag(watch.take(), parts.clock.monotonic());
    onBeat(message.beat);
    // The heartbeat of the event loop then fails, and says why.
    if (!isValid()) void thread.terminate();
  });
  thread.on("error", failed);
  thread.on("exit", () => {
    if (!isStopping) substitute ??= inlineHeartbeat(parts, watch);
  });
  return {
    async stop() {
      isStopping = true;
      await Promise.all([thread.terminate(), substitute?.stop()]);
    },
    assist() {
      if (!isStopping) substitute ??= inlineHeartbeat(parts, watch);
    },
  };
}
