/** P7, P8, P15: long queues, a snapshot that no client closes, and more and more processes. */
import { connect } from "../test/support/postgres.ts";
import { Child } from "./contestants/contestant.ts";
import {
  counted,
  drained,
  fill,
  rateBetween,
  steadyRate,
  type Arena,
  type Figures,
} from "./measurements.ts";
import { median } from "./report.ts";

const FUTURE = 1_000_000;
const READY = 200_000;
const HOUR_MS = 3_600_000;
const PINNED = 100_000;
const PINNED_MS_MAX = 120_000;
const PICKUPS = 100;
const PICKUP_GAP_MS = 20;
const FLEET = [1, 2, 4, 8];

/** `share`: the rate behind 1M future and 200k due jobs, over that of an otherwise empty queue. */
export async function backlog({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  const rateOf = async (ready: number, future: number): Promise<number> => {
    await using database = await fresh();
    const { url } = database;
    if (future > 0) await fill({ contestant, url, jobs: future, delayMs: HOUR_MS });
    await fill({ contestant, url, jobs: ready });
    await database.settle();
    return steadyRate(await drained(contestant, database, { jobs }));
  };
  const empty = await rateOf(jobs, 0);
  const behind = await rateOf(READY, FUTURE);
  return { empty, behind, share: behind / empty };
}

/**
 * With a snapshot held open, so that no dead row can be removed. `share`: the rate of the last
 * fifth of 100k jobs over that of the first. `extra`: how much longer a new job waits afterwards.
 */
export async function pinned({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  const count = Math.min(PINNED, jobs * 5);
  await using database = await fresh();
  const { url } = database;
  await using worker = await Child.start(contestant, url);
  await worker.ask("work", { slots: null });
  await worker.ask("send", { jobs: PICKUPS, gapMs: PICKUP_GAP_MS });
  await counted([worker], PICKUPS);
  const normal = median((await worker.ask("stop", null)).waited);

  await fill({ contestant, url, jobs: count });
  await database.settle();
  const pin = await connect(url);
  await pin.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await pin.query("SELECT count(*) FROM pg_class");
  await using second = await Child.start(contestant, url);
  await second.ask("work", { slots: null });
  await counted([second], count, PINNED_MS_MAX);
  await second.ask("send", { jobs: PICKUPS, gapMs: PICKUP_GAP_MS });
  await counted([second], count + PICKUPS);
  const { begun, waited } = await second.ask("stop", null);
  await pin.query("COMMIT");
  await pin.end();

  const drain = begun.slice(0, count).toSorted();
  const share = rateBetween(drain, 0.8, 1) / rateBetween(drain, 0.01, 0.21);
  return { share, extra: median(waited.slice(count)) - normal };
}

/** The rate with 1, 2, 4 and 8 processes, and `least`: the smallest step from one to the next. */
export async function fleet({ contestant, jobs, fresh }: Arena): Promise<Figures> {
  const rates: number[] = [];
  for (const processes of FLEET) {
    await using database = await fresh();
    // Every process has to warm up: what a small share of the jobs would not be enough for.
    const all = jobs * Math.max(2, processes);
    await fill({ contestant, url: database.url, jobs: all });
    await database.settle();
    rates.push(steadyRate(await drained(contestant, database, { jobs: all, processes })));
  }
  const steps = rates.slice(1).map((rate, index) => rate / (rates[index] ?? Number.NaN));
  const named = FLEET.map((processes, index) => [`of${processes}`, rates[index] ?? Number.NaN]);
  return { ...Object.fromEntries(named), least: Math.min(...steps) };
}
