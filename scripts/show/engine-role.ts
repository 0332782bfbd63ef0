/**
 * What the role of the engine costs: the rates of enqueues and drains of a user who may only call
 * the routines, over those of the owner of the tables.
 *
 *     node --conditions=source scripts/show/engine-role.ts [--jobs 20000] [--single 2000]
 *         [--rounds 7]
 *
 * `--jobs` are enqueued by the thousand and drained by one worker. `--single` are enqueued one by
 * one, by 20 callers at a time. The rounds take turns, so that other load of the machine falls on
 * both. It ends with 1 if a median is below 0.95.
 */
import { defineJob, openMillrace, typed, type Millrace } from "../../src/index.ts";
import { ENGINE_LOGIN, installForEngine, urlAs } from "../../test/support/engine-role.ts";
import { Places } from "./lib/databases.ts";
import { numbersFrom } from "./lib/options.ts";

const WANTED = 0.95;
const CALLERS = 20;
const USERS = ["owner", "engine"] as const;
type User = (typeof USERS)[number];
const SHAPES = ["enqueue", "enqueue by the thousand", "drain"] as const;
type Shape = (typeof SHAPES)[number];
type Rates = Readonly<Record<Shape, number>>;

const options = numbersFrom("engine-role.ts", { jobs: 20_000, single: 2_000, rounds: 7 });
const report = defineJob({ type: "report", payload: typed<number>() });

await using places = await Places.open("postgres", { durable: true });
// The first drain of a process compiles the code that all others find compiled.
await ratesOf("owner");
const ratios = new Map<Shape, number[]>(SHAPES.map((shape) => [shape, []]));
for (let round = 0; round < options.rounds; round += 1) {
  const rates = new Map<User, Rates>();
  for (const user of round % 2 === 0 ? USERS : USERS.toReversed()) {
    rates.set(user, await ratesOf(user));
  }
  for (const shape of SHAPES) {
    const [owner = 0, engine = 0] = [rates.get("owner")?.[shape], rates.get("engine")?.[shape]];
    ratios.get(shape)?.push(engine / owner);
    const figures = `${owner.toFixed(0)}/s as the owner, ${engine.toFixed(0)}/s as the engine`;
    console.log(`round ${round + 1}: ${shape}: ${figures}: ${(engine / owner).toFixed(2)}`);
  }
}
for (const [shape, found] of ratios) {
  const sorted = found.toSorted((left, right) => left - right);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const spread = `${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)}`;
  console.log(`${shape}: median ${median.toFixed(3)} [${spread}], ${WANTED} wanted`);
  if (median < WANTED) process.exitCode = 1;
}

/** Both in an installation of their own, with its roles and routines. */
async function ratesOf(user: User): Promise<Rates> {
  const url = places.next();
  const schema = new URL(url).searchParams.get("schema") ?? "millrace";
  await installForEngine(url.replace(/\?.*$/, ""), schema);
  const mill = await openMillrace(user === "engine" ? urlAs(url, ENGINE_LOGIN) : url);
  const single = await enqueueSingly(mill);
  const many = await enqueueMany(mill);
  const drain = await drainAll(mill, options.single + options.jobs);
  await mill.close();
  return { enqueue: single, "enqueue by the thousand": many, drain };
}

async function enqueueSingly(mill: Millrace): Promise<number> {
  let next = 0;
  const began = performance.now();
  const caller = async (): Promise<void> => {
    while (next < options.single) await mill.enqueue(report, (next += 1));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return perSecond(options.single, began);
}

async function enqueueMany(mill: Millrace): Promise<number> {
  const { jobs } = options;
  const began = performance.now();
  for (let from = 0; from < jobs; from += 1_000) {
    const count = Math.min(1_000, jobs - from);
    await mill.enqueueMany(Array.from({ length: count }, (_, index) => report.of(from + index)));
  }
  return perSecond(jobs, began);
}

async function drainAll(mill: Millrace, jobs: number): Promise<number> {
  let left = jobs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    left -= 1;
    if (left === 0) resolve();
  };
  const began = performance.now();
  mill.work({ jobs: [report.run(done)], lanes: { general: 300 }, batch: 300 });
  await promise;
  return perSecond(jobs, began);
}

function perSecond(count: number, began: number): number {
  return count / ((performance.now() - began) / 1_000);
}
