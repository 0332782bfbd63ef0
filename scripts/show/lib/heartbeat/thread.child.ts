/**
 * Starts the heartbeat thread of a worker and reports its first beat. The second argument is the
 * root of the modules: `src`, or `dist` of a build.
 */
import type { HeartbeatParts } from "../../../../src/runtime/lease/heartbeat.ts";
import { defaults } from "../../../../src/core/presets.ts";
import { joinWorker } from "../../../../test/support/steps.ts";

const [url = "", root = "src"] = process.argv.slice(2);

const { parseDatabaseUrl } =
  await load<typeof import("../../../../src/client/database-url.ts")>("client/database-url");
const { makeStore } = await load<typeof import("../../../../src/make-store.ts")>("make-store");
const { startHeartbeat } =
  await load<typeof import("../../../../src/runtime/lease/heartbeat.ts")>(
    "runtime/lease/heartbeat",
  );
const { BeatTimes } = await load<typeof import("../../../../src/runtime/lease/beat-times.ts")>(
  "runtime/lease/beat-times",
);
const { systemClock } = await load<typeof import("../../../../src/lib/system.ts")>("lib/system");

const store = await makeStore(parseDatabaseUrl(url));
await store.open();
const worker = await joinWorker(store);
globalThis.gc?.();
const rss = process.memoryUsage.rss();
const startedAt = performance.now();
const beats = Promise.withResolvers<void>();
const parts: HeartbeatParts = {
  // The event loop does not beat: the first beat is the one of the thread.
  store: { thread: store.thread, renew: () => new Promise(() => {}) },
  clock: systemClock,
  worker,
  leaseMs: 60_000,
  beatMs: 20_000,
  times: new BeatTimes(),
  policies: {},
  policy: defaults.retry,
  onBeat: () => beats.resolve(),
  onEnded() {},
  failed: beats.reject,
  onNotOpen: (message) => beats.reject(new Error(message)),
};
startHeartbeat(parts);
await beats.promise;
const firstBeatMs = performance.now() - startedAt;
process.send?.({ firstBeatMs, megabytes: (process.memoryUsage.rss() - rss) / 1e6 });
process.once("disconnect", () => process.exit());

function load<Module>(name: string): Promise<Module> {
  const extension = root === "src" ? "ts" : "js";
  return import(new URL(`../../../../${root}/${name}.${extension}`, import.meta.url).href);
}
