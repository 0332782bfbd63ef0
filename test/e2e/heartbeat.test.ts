/** The heartbeat on a thread of its own: a real thread, a real file, the real clock. */
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { defaults } from "../../src/core/presets.ts";
import { systemClock } from "../../src/lib/system.ts";
import { BeatTimes } from "../../src/runtime/lease/beat-times.ts";
import { startHeartbeat, type HeartbeatParts } from "../../src/runtime/lease/heartbeat.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { Renewal } from "../../src/store/types/jobs-and-runs.ts";
import { add, at, joinWorker, take } from "../support/steps.ts";
import { virtualClock } from "../support/virtual-clock.ts";
import { temporaryFolder } from "./children.ts";
import { blindThread, hangingThread, lateThread, mortalThread } from "./mortal-thread.ts";

const LEASE_MS = 1_000;
const BEAT_MS = 50;
const HOUR_MS = 3_600_000;
/** How long a beat may be waited for: without it, the test fails. */
const PATIENCE_MS = 60_000;

describe("a heartbeat with a thread", () => {
  test(
    "beats on the loop until the thread has said its first word, and then no more",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: mortalThread(world.path, Infinity) });
      expect(heart.loopBeats()).toBe(1);

      await heart.until(() => heart.heard.includes("thread"));
      const before = heart.loopBeats();
      await heart.until(() => heart.heard.filter((who) => who === "thread").length > 5);

      expect(heart.loopBeats()).toBe(before);
      expect(heart.failures).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "tells the memory of the process, and since when the loop is blocked, while it is blocked",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: mortalThread(world.path, Infinity) });
      using file = new DatabaseSync(world.path, { readOnly: true });
      const lagMs = () =>
        Number(file.prepare("SELECT loop_lag_ms FROM millrace_worker").get()?.loop_lag_ms);
      await heart.until(() => heart.heard.filter((who) => who === "thread").length > 2);
      expect((await world.store.workers(1))[0]?.memoryBytes).toBeGreaterThan(10_000_000);

      // This loop is blocked until the thread has said so, for several beats.
      const until = systemClock.monotonic() + PATIENCE_MS / 2;
      while (!(lagMs() > 5 * BEAT_MS) && systemClock.monotonic() < until);
      const whileBlocked = lagMs();
      await heart.until(() => lagMs() <= whileBlocked - BEAT_MS);

      expect(whileBlocked).toBeGreaterThan(5 * BEAT_MS);
    },
    PATIENCE_MS,
  );

  test(
    "beats on the loop again when the thread has died",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: mortalThread(world.path, 3) });

      // One beat of the loop may still have been under way when the thread took over.
      await heart.until(
        () =>
          heart.heard.includes("thread") && heart.heard.slice(-3).every((who) => who === "loop"),
      );

      expect(heart.heard.lastIndexOf("loop")).toBeGreaterThan(heart.heard.lastIndexOf("thread"));
    },
    PATIENCE_MS,
  );

  test(
    "beats on the loop as well when the thread hangs and the lease has expired",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: hangingThread(world.path, 3, "renew") });
      await heart.until(() => heart.heard.filter((who) => who === "thread").length === 3);
      const before = heart.loopBeats();

      heart.assist();

      await heart.until(() => heart.heard.slice(-3).every((who) => who === "loop"));
      expect(heart.loopBeats()).toBeGreaterThan(before + 2);
    },
    PATIENCE_MS,
  );

  test(
    "goes on while the store does not answer which runs are overdue",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: hangingThread(world.path, 1, "overdue") });

      await heart.until(() => heart.heard.filter((who) => who === "thread").length > 5);

      expect(heart.failures).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "goes over to the thread when its store could not be opened at first",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: lateThread(world.path, 2) });

      await heart.until(() => heart.heard.filter((who) => who === "thread").length > 3);

      expect(heart.heard.at(-1)).toBe("thread");
      expect(heart.failures).toEqual(Array(2).fill("Error: the server is starting up"));
    },
    PATIENCE_MS,
  );

  test(
    "says once that the look for overdue runs fails, and goes on",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: blindThread(world.path) });

      await heart.until(() => heart.heard.filter((who) => who === "thread").length > 5);

      expect(heart.failures).toEqual([new Error("Error: a row cannot be read")]);
    },
    PATIENCE_MS,
  );

  test(
    "says nothing of the failures of a thread that is being stopped",
    async () => {
      await using world = await openWorld();
      await using heart = world.beat({ thread: lateThread(world.path, Infinity) });
      await heart.until(() => heart.failures.length > 0);
      const before = heart.failures.length;

      // While this loop is blocked, the thread reports further failures.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 * BEAT_MS);
      await heart.stop();

      expect(heart.failures).toHaveLength(before);
    },
    PATIENCE_MS,
  );

  test(
    "beats on the loop alone when the thread cannot start, and says so",
    async () => {
      await using world = await openWorld();
      const missing = { module: "file:///nowhere/store.js", options: {} };
      await using heart = world.beat({ thread: missing });

      await heart.until(() => heart.failures.length > 0);
      const before = heart.heard.length;
      await heart.until(() => heart.heard.length > before + 3);

      expect(heart.heard).not.toContain("thread");
      expect(heart.failures).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  test(
    "ends a run that its worker has let overrun, by the policy of its type",
    async () => {
      await using world = await openWorld();
      const { backoff } = defaults.retry;
      const retryable = { ...backoff.retryable, kind: "fixed", baseMs: 77_000, jitter: 0 } as const;
      await using heart = world.beat({
        thread: world.store.thread,
        policies: { email: { ...defaults.retry, backoff: { ...backoff, retryable } } },
      });

      await heart.until(async () => (await world.store.attempts(world.overrun)).length > 0);

      const { outcome, finishedAt, nextRunAt } = at(await world.store.attempts(world.overrun), 0);
      expect(outcome).toBe("timed_out");
      expect((nextRunAt ?? 0) - finishedAt).toBe(77_000);
      expect(await world.store.attempts(world.unlimited)).toEqual([]);
      await heart.until(() => heart.ended.length > 0);
      expect(heart.ended).toEqual([{ key: world.overrunKey, n: 1 }]);
    },
    PATIENCE_MS,
  );
});

/** A worker on a file, with two runs that began an hour ago; one of them may take a second. */
async function openWorld() {
  const folder = temporaryFolder();
  const path = join(folder.path, "jobs.db");
  const before = makeSqliteStore({ path }, { clock: virtualClock(Date.now() - HOUR_MS) });
  await before.open();
  const worker = await joinWorker(before);
  const [overrun, unlimited] = await add(before, { timeoutMs: 1_000 }, { timeoutMs: null });
  const { jobs } = await take(before, { worker });
  const overrunKey = jobs.find(({ id }) => id === overrun)?.key;
  await before.close();

  const store = makeSqliteStore({ path });
  await store.open();
  const beat = (parts: BeatParts) => startBeating({ store, worker, ...parts });
  return {
    path,
    store,
    overrun,
    overrunKey,
    unlimited,
    beat,
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}

interface BeatParts extends Partial<Pick<HeartbeatParts, "policies">> {
  readonly thread: HeartbeatParts["store"]["thread"];
}

/** A heartbeat that keeps who was heard: the thread, or the loop. */
function startBeating({
  store,
  worker,
  thread,
  policies = {},
}: BeatParts & Pick<HeartbeatParts, "store" | "worker">) {
  const news = new EventEmitter();
  const ofLoop = new Set<Renewal>();
  const heard: ("loop" | "thread")[] = [];
  const failures: unknown[] = [];
  const ended: object[] = [];
  let loopBeats = 0;
  const heartbeat = startHeartbeat({
    store: {
      thread,
      async renew(...args) {
        loopBeats += 1;
        const renewal = await store.renew(...args);
        ofLoop.add(renewal);
        return renewal;
      },
    },
    clock: systemClock,
    worker,
    leaseMs: LEASE_MS,
    beatMs: BEAT_MS,
    times: new BeatTimes(),
    policies,
    policy: defaults.retry,
    onBeat({ renewal }) {
      heard.push(ofLoop.has(renewal) ? "loop" : "thread");
      news.emit("news");
    },
    onEnded(runs) {
      ended.push(...runs);
      news.emit("news");
    },
    onNotOpen(message) {
      failures.push(message);
      news.emit("news");
    },
    failed(error) {
      failures.push(error);
      news.emit("news");
    },
  });
  return {
    heard,
    failures,
    ended,
    loopBeats: () => loopBeats,
    assist: () => heartbeat.assist(),
    stop: () => heartbeat.stop(),
    /** Looks again whenever something was heard. */
    async until(condition: () => boolean | Promise<boolean>): Promise<void> {
      while (!(await condition())) await once(news, "news");
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await heartbeat.stop();
    },
  };
}
