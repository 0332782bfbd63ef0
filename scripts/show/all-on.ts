/**
 * P17: the drain rate with everything switched on, as a share of the rate with nothing switched on.
 *
 *     node --conditions=source scripts/show/all-on.ts [--store sqlite|postgres]
 *         [--jobs 20000] [--rounds 5] [--batch 300] [--each 1]
 *
 * On: a limit on every type and tenant, a concurrency key on a fifth of the jobs, an open breaker
 * of a service with jobs behind it, a fair lane, and two readers of the feed. `--each 1` also
 * measures every switch alone, and a fair lane in which one tenant has three times the share of the
 * others, so that its jobs must overtake. The rounds take turns, so that other load of the machine
 * falls on all of them.
 */
import { defineJob, openMillrace, typed, type Millrace } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";

const WANTED = 0.85;
const TENANTS = ["acme", "bolt", "core"] as const;
const KEYED_EVERY = 5;
/** Distinct keys, so that no job waits for a key. */
const keyOf = (index: number): string => `key-${index}`;
const HELD = 1_000;

const SWITCHES = ["limits", "keys", "breaker", "fairness", "readers"] as const;
type Switches = ReadonlySet<(typeof SWITCHES)[number] | "weights">;

const report = defineJob({ type: "report", payload: typed<number>() });
const email = defineJob({ type: "email", payload: typed<number>() });
const transfer = defineJob({ type: "transfer", payload: typed<number>(), services: ["bank"] });

const options = numbersAndStores("scripts/show/all-on.ts", {
  jobs: 20_000,
  rounds: 5,
  batch: 300,
  each: 0,
});
const shapes = new Map<string, Switches>([["all", new Set(SWITCHES)]]);
if (options.each > 0) {
  for (const name of [...SWITCHES, "weights"] as const) shapes.set(name, new Set([name]));
}

for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: true });
  // The first drain of a process compiles the code that all others find compiled.
  await drainRate(places.next(), new Set(SWITCHES));
  for (const [name, switches] of shapes) {
    const ratios: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const order = round % 2 === 0 ? [false, true] : [true, false];
      const rates = new Map<boolean, number>();
      for (const isOn of order) {
        rates.set(isOn, await drainRate(places.next(), isOn ? switches : new Set()));
      }
      const [off = 0, on = 0] = [rates.get(false), rates.get(true)];
      ratios.push(on / off);
      const figures = `${off.toFixed(0)}/s with nothing on, ${on.toFixed(0)}/s with ${name} on`;
      console.log(`${kind}: round ${round + 1}: ${figures}: ${(on / off).toFixed(2)}`);
    }
    const sorted = ratios.toSorted((left, right) => left - right);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const spread = `${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)}`;
    console.log(`${kind}: ${name}: median ${median.toFixed(2)} [${spread}], ${WANTED} wanted`);
    if (name === "all" && median < WANTED) process.exitCode = 1;
  }
}

async function drainRate(url: string, on: Switches): Promise<number> {
  const { jobs, batch } = options;
  const mill = await openMillrace(url);
  await switchOn(mill, on);
  await enqueueAll(mill, jobs, on);
  let left = jobs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    left -= 1;
    if (left === 0) resolve();
  };
  const readers = on.has("readers") ? [1, 2].map(() => mill.stream({}).getReader()) : [];
  const reading = readers.map(async (reader) => {
    for (;;) if ((await reader.read()).done) return;
  });
  const began = performance.now();
  const handlers = [report.run(done), email.run(done), transfer.run(() => {})];
  mill.work({ jobs: handlers, lanes: { general: batch }, batch });
  await promise;
  const rate = jobs / ((performance.now() - began) / 1_000);
  await Promise.all(readers.map((reader) => reader.cancel()));
  await Promise.all(reading);
  await mill.close();
  return rate;
}

async function switchOn(mill: Millrace, on: Switches): Promise<void> {
  if (on.has("limits")) {
    for (const { type } of [report, email]) await mill.limits.set({ type }, { concurrency: 5_000 });
    for (const tenant of TENANTS) await mill.limits.set({ tenant }, { concurrency: 5_000 });
  }
  if (on.has("fairness")) await mill.fairness.set("general", {});
  if (on.has("weights")) await mill.fairness.set("general", { weights: { acme: 3 } });
  if (on.has("breaker")) {
    await mill.breakers.forceOpen("bank", "P17", { actor: "all-on" });
    const held = Array.from({ length: HELD }, (_, index) => transfer.of(index));
    await mill.enqueueMany(held);
  }
}

async function enqueueAll(mill: Millrace, jobs: number, on: Switches): Promise<void> {
  for (let from = 0; from < jobs; from += 1_000) {
    const requests = Array.from({ length: Math.min(1_000, jobs - from) }, (_, index) => {
      const job = from + index;
      const tenant = TENANTS[job % TENANTS.length]!;
      const isKeyed = on.has("keys") && job % KEYED_EVERY === 0;
      const contract = job % 2 === 0 ? report : email;
      return contract.of(job, isKeyed ? { tenant, concurrencyKey: keyOf(job) } : { tenant });
    });
    await mill.enqueueMany(requests);
  }
}
