/**
 * Keeps the worker's lease alive and brings what was asked of it.
 *
 * Where the store can be opened by another thread, a thread of its own beats, so that a handler
 * that blocks the event loop loses no lease; it also ends runs that overran their limit while the
 * loop was blocked. Otherwise the beat is a ticker of this process.
 */
import { Worker as Thread } from "node:worker_threads";
import type { Clock } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import type { JobStore } from "../../store/store.ts";
import type { ThreadEntry, WorkerId } from "../../store/types/jobs-and-runs.ts";
import { beatOnce, type Beat } from "./clock-skew.ts";
import { Ticker } from "../ticker.ts";

export interface HeartbeatParts {
  readonly store: Pick<JobStore, "renew" | "thread">;
  readonly clock: Clock;
  readonly worker: WorkerId;
  readonly leaseMs: number;
  readonly beatMs: number;
  /** How a run counts that the thread had to end. */
  readonly policies: Readonly<Record<string, RetryPolicy>>;
  readonly policy: RetryPolicy;
  readonly heard: (beat: Beat) => void;
  readonly failed: (error: unknown) => void;
}

export interface Heartbeat {
  stop(): Promise<unknown>;
}

/** What the thread is started with. */
export interface ThreadStart {
  readonly entry: ThreadEntry;
  readonly worker: WorkerId;
  readonly leaseMs: number;
  readonly beatMs: number;
  readonly policies: Readonly<Record<string, RetryPolicy>>;
  readonly policy: RetryPolicy;
}

/** What it says. */
export type ThreadWord =
  | { readonly type: "beat"; readonly beat: Beat }
  | { readonly type: "failed"; readonly message: string };

export function startHeartbeat(parts: HeartbeatParts): Heartbeat {
  const entry = parts.store.thread;
  return entry === null ? inlineHeartbeat(parts) : threadHeartbeat(parts, entry);
}

/** Beats on this process's own loop. */
function inlineHeartbeat(parts: HeartbeatParts): Heartbeat {
  const { store, clock, worker, leaseMs, beatMs, heard, failed } = parts;
  const ticker = new Ticker({
    clock,
    retryMs: beatMs,
    failed,
    async tick() {
      heard(await beatOnce(store, clock, { worker, leaseMs }));
      return beatMs;
    },
  });
  ticker.wake();
  return ticker;
}

/** Beats on a thread. Until that has said its first word, and if it dies, the loop beats. */
function threadHeartbeat(parts: HeartbeatParts, entry: ThreadEntry): Heartbeat {
  const { worker, leaseMs, beatMs, policies, policy, heard, failed } = parts;
  const start: ThreadStart = { entry, worker, leaseMs, beatMs, policies, policy };
  const isSource = import.meta.url.endsWith(".ts");
  const file = new URL(
    isSource ? "./heartbeat-thread.ts" : "./heartbeat-thread.js",
    import.meta.url,
  );
  const thread = new Thread(file, { workerData: start });
  // The worker keeps the process alive, not its heart.
  thread.unref();
  let substitute: Heartbeat | null = inlineHeartbeat(parts);
  let isStopping = false;
  thread.on("message", (word: ThreadWord) => {
    if (word.type === "failed") {
      failed(new Error(word.message));
      return;
    }
    void substitute?.stop();
    substitute = null;
    heard(word.beat);
  });
  thread.on("error", failed);
  thread.on("exit", () => {
    if (!isStopping) substitute ??= inlineHeartbeat(parts);
  });
  return {
    async stop() {
      isStopping = true;
      await Promise.all([thread.terminate(), substitute?.stop()]);
    },
  };
}
