/**
 * `--clients` clients open a stream and never read, while one client reads and `--changes` jobs run
 * whose progress events have `--chars` characters each. The memory of the server stays bounded, and
 * the healthy client gets every event. Then the server gets SIGTERM with the stalled clients, and
 * another one with `--streams` open streams: both must end within the grace.
 *
 *     node --conditions=source scripts/show/sse-stalled.ts [--store postgres] [--seconds 30]
 */
import { loadavg } from "node:os";
import { Places } from "./lib/databases.ts";
import { isSound } from "./lib/http/feed-check.ts";
import { stalledRound, stopWithStreams } from "./lib/http/stalled.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, ...options } = numbersAndStores("sse-stalled.ts", {
  clients: 200,
  changes: 1_000,
  chars: 8_000,
  seconds: 30,
  streams: 1_000,
});
/** What the server may grow by, in all and in the second half, and how long it may take to stop. */
const GROWTH_MB_MAX = 300;
const LATE_GROWTH_MB_MAX = 75;
const STOP_MS_MAX = 12_000;

await onStage(async () => {
  let sound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const report = await stalledRound(places.next(), options);
    const { healthy, streamMb, beforeMb, halfMb, peakMb, afterMb, cut, stopMs, exit } = report;
    const { events, missing, repeated } = healthy;
    console.log(`${kind}, load ${loadavg()[0]?.toFixed(1)}`);
    say(`stream of each client: ${mb(streamMb)}; all stalled: ${mb(streamMb * options.clients)}`);
    const half = `after half of the changes ${mb(halfMb)}`;
    say(`server before ${mb(beforeMb)}, ${half}, peak ${mb(peakMb)}, after ${mb(afterMb)}`);
    say(`healthy client: ${events} events, ${missing} missing, ${repeated} repeated`);
    say(`stalled clients cut off after ${options.seconds} s: ${cut} of ${options.clients}`);
    say(`SIGTERM with ${options.clients - cut} stalled: ${seconds(stopMs)}, exit ${exit}`);
    const stop = await stopWithStreams(places.next(), options.streams);
    say(`SIGTERM with ${stop.ended} streams: ${seconds(stop.stopMs)}, exit ${stop.exit}`);
    sound &&= isSound(healthy) && peakMb - beforeMb <= GROWTH_MB_MAX;
    sound &&= afterMb - halfMb <= LATE_GROWTH_MB_MAX;
    sound &&= Math.max(stopMs, stop.stopMs) <= STOP_MS_MAX && exit === 0 && stop.exit === 0;
  }
  return { sound };
});

function say(line: string): void {
  console.log(`  ${line}`);
}

function mb(value: number): string {
  return `${value.toFixed(0)} MB`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
