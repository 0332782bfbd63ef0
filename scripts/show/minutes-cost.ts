/**
 * What the histograms of minutes cost: the drain rate with them over the rate without them.
 *
 *     node --conditions=source scripts/show/minutes-cost.ts [--store sqlite|postgres]
 *         [--jobs 20000] [--rounds 7]
 *
 * Without: the database drops the rows of the outbox, so that settles store none and no fold has
 * work. The lists of a batch are still built, and on PostgreSQL a settle without such rows looks
 * for the row of each job, so the rate without is a little low. The rounds take turns, so that
 * other load of the machine falls on both.
 */
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { defineJob, openMillrace, typed } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";

const WANTED = 0.97;
const options = numbersAndStores("scripts/show/minutes-cost.ts", { jobs: 20_000, rounds: 7 });
const report = defineJob({ type: "report", payload: typed<number>() });

for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: true });
  // The first drain of a process compiles the code that all others find compiled.
  await drainRate(places.next(), true);
  const ratios: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const rates = new Map<boolean, number>();
    for (const isOn of round % 2 === 0 ? [false, true] : [true, false]) {
      rates.set(isOn, await drainRate(places.next(), isOn));
    }
    const [off = 0, on = 0] = [rates.get(false), rates.get(true)];
    ratios.push(on / off);
    const figures = `${off.toFixed(0)}/s without, ${on.toFixed(0)}/s with minutes`;
    console.log(`${kind}: round ${round + 1}: ${figures}: ${(on / off).toFixed(2)}`);
  }
  const sorted = ratios.toSorted((left, right) => left - right);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const spread = `${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)}`;
  console.log(`${kind}: median ${median.toFixed(2)} [${spread}], ${WANTED} wanted`);
  if (median < WANTED) process.exitCode = 1;
}

async function drainRate(url: string, isOn: boolean): Promise<number> {
  const { jobs } = options;
  const mill = await openMillrace(url);
  if (!isOn) await dropMinutes(url);
  for (let from = 0; from < jobs; from += 1_000) {
    const count = Math.min(1_000, jobs - from);
    await mill.enqueueMany(Array.from({ length: count }, (_, index) => report.of(from + index)));
  }
  let left = jobs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    left -= 1;
    if (left === 0) resolve();
  };
  const began = performance.now();
  mill.work({ jobs: [report.run(done)], lanes: { general: 300 }, batch: 300 });
  await promise;
  const rate = jobs / ((performance.now() - began) / 1_000);
  await mill.close();
  return rate;
}

async function dropMinutes(url: string): Promise<void> {
  if (url.startsWith("sqlite:")) {
    using db = new DatabaseSync(url.slice("sqlite:".length));
    db.exec(`CREATE TRIGGER no_minutes BEFORE INSERT ON millrace_minute_outbox
      BEGIN SELECT RAISE(IGNORE); END`);
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  const schema = new URL(url).searchParams.get("schema") ?? "millrace";
  await client.query(`
    CREATE FUNCTION ${schema}.no_minutes() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER no_minutes BEFORE INSERT ON ${schema}.minute_outbox
    FOR EACH ROW EXECUTE FUNCTION ${schema}.no_minutes()`);
  await client.end();
}
