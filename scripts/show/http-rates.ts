/**
 * Rates over HTTP on the loopback address beside those of the library, in turns of one run: one
 * enqueue after the other, 50 at a time, 1,000 in one request, and GET /jobs/{id}. Then the time
 * from `enqueue` to the start in a worker, with and without `--streams` streams and one list
 * request per second; the ratio of the medians should be 1.2 at most.
 *
 *     node --conditions=source scripts/show/http-rates.ts [--store postgres] [--rounds 5]
 */
import { loadavg } from "node:os";
import { openMillrace, type Millrace } from "millrace";
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { LatencyWorker, observe } from "./lib/http/claim-latency.ts";
import { httpWay, libraryWay, measureRates, type Rates } from "./lib/http/rates.ts";
import { startServer } from "./lib/http/server-process.ts";
import { numbersAndStores } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("http-rates.ts", {
  rounds: 5,
  jobs: 200,
  rate: 20,
  latency: 60,
  streams: 50,
});
const RATIO_MAX = 1.2;
const FIGURES: readonly [name: string, key: keyof Rates, digits: number][] = [
  ["enqueue one by one, jobs/s", "single", 0],
  ["enqueue 50 at a time, jobs/s", "concurrent", 0],
  ["enqueue 1,000 at once, jobs/s", "bulk", 0],
  ["GET /jobs/{id}, p50 ms", "getP50", 2],
  ["GET /jobs/{id}, p99 ms", "getP99", 2],
];

await onStage(async () => {
  let sound = true;
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    console.log(`${kind}, load ${loadOf()}, ${options.rounds} rounds: median (lowest – highest)`);
    await showRates(places.next());
    const ratio = await showLatency(places.next());
    console.log(
      `ratio of the medians ${ratio.toFixed(2)}, wanted ≤ ${RATIO_MAX}; load ${loadOf()}`,
    );
    sound &&= ratio <= RATIO_MAX;
  }
  return { sound };
});

async function showRates(url: string): Promise<void> {
  await using server = await startServer({ url, port: 0 });
  await using mill = await openMillrace(url);
  const ways = [libraryWay(mill), httpWay(server.origin)];
  const found = new Map<string, Rates[]>(ways.map(({ name }) => [name, []]));
  // The first round warms up.
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      const rates = await measureRates(way, options.jobs);
      if (round > 0) found.get(way.name)?.push(rates);
    }
  }
  const rows = FIGURES.map(([name, key, digits]) => [
    name,
    ...ways.map((way) =>
      spread(
        (found.get(way.name) ?? []).map((one) => one[key]),
        digits,
      ),
    ),
  ]);
  for (const line of table(["", ...ways.map(({ name }) => name)], rows)) console.log(line);
}

/** The rounds with and without observers follow each other, so that both have the same load. */
async function showLatency(url: string): Promise<number> {
  await using server = await startServer({ url, port: 0 });
  await using mill = await openMillrace(url);
  await using worker = await LatencyWorker.start(url);
  await measured(mill, worker);
  const alone: (readonly number[])[] = [];
  const observed: (readonly number[])[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    alone.push(await measured(mill, worker));
    using _ = await observe(server.origin, options.streams);
    observed.push(await measured(mill, worker));
  }
  const rowOf = (name: string, rounds: readonly (readonly number[])[]): string[] => [
    name,
    spread(
      rounds.map((times) => percentile(times, 0.5)),
      2,
    ),
    spread(
      rounds.map((times) => percentile(times, 0.99)),
      2,
    ),
  ];
  const rows = [rowOf("alone", alone), rowOf(`beside ${options.streams} streams`, observed)];
  for (const line of table(["enqueue → start", "p50 ms", "p99 ms"], rows)) console.log(line);
  const medianOf = (rounds: readonly (readonly number[])[]): number =>
    percentile(
      rounds.map((times) => percentile(times, 0.5)),
      0.5,
    );
  return medianOf(observed) / medianOf(alone);
}

function measured(mill: Millrace, worker: LatencyWorker): Promise<readonly number[]> {
  return worker.measure(mill, options.latency, options.rate);
}

function spread(values: readonly number[], digits: number): string {
  const [low, middle, high] = [0, 0.5, 1].map((share) => percentile(values, share).toFixed(digits));
  return `${middle} (${low} – ${high})`;
}

function loadOf(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
