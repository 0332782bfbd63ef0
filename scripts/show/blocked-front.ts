/**
 * Jobs that may not start do not slow down those behind them, whatever holds them back.
 *
 *     node --conditions=source scripts/show/blocked-front.ts [--store sqlite|postgres]
 *         [--front 200000] [--claims 40]
 *
 * For each kind of gate, so many blocked jobs are enqueued before the jobs that may run. `first` is
 * the first claim of a worker, which finds all of them in its way. Then the jobs are moved out of
 * the way, as the workers do, and `usual` is the median of later claims, over the median of claims
 * on a queue without jobs in front.
 */
import type { JobStore } from "../../src/store/store.ts";
import type { NewJob, WorkerId } from "../../src/store/types/jobs-and-runs.ts";
import { completed, declaration, newJob, workerId } from "../../test/support/factories.ts";
import { claimable, joinWorker, settleAll, take } from "../../test/support/steps.ts";
import { openStore, Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";

const FILL = 2_000;
const BATCH = 20;
const HOUR_MS = 3_600_000;
const FIRST_MS_MAX = 100;
const RATIO_MAX = 1.5;
const WHY = { reason: "the show", by: null } as const;
const OTHER = { kind: "type", name: "other" } as const;
const HOURLY = { count: 1, perMs: HOUR_MS, burst: 1 } as const;
const ACME = { kind: "tenant", name: "acme" } as const;

/** What is in front, and what holds it back. */
interface Scene {
  readonly name: string;
  readonly front: Partial<NewJob>;
  /** What the jobs in front need before they are enqueued. */
  readonly before?: (store: JobStore) => Promise<Partial<NewJob>>;
  readonly close: (store: JobStore) => Promise<unknown>;
}

/** One job runs, and no other of those in front may. */
async function takeOne(store: JobStore): Promise<void> {
  await take(store, { worker: await longWorker(store), limit: 1 });
}

async function outage(
  store: JobStore,
  parked?: { forMs: number; tenant: string | null },
): Promise<void> {
  const limits = { failuresMax: 1, openMs: HOUR_MS };
  const run = { key: 1, n: 1 };
  const failure = { outcome: "failed", service: "bank", run, reason: "down", limits } as const;
  const park = parked === undefined ? {} : { park: parked };
  await store.reportCalls([{ ...failure, tenant: "acme", ...park }]);
}

async function useBank(store: JobStore): Promise<void> {
  await store.declareTypes(workerId(), [declaration({ type: "other", services: ["bank"] })]);
}

const SCENES: readonly Scene[] = [
  {
    name: "paused lane",
    front: { lane: "slow" },
    close: (s) => s.pause({ kind: "lane", name: "slow" }, WHY),
  },
  { name: "paused type", front: {}, close: (store) => store.pause(OTHER, WHY) },
  { name: "paused tenant", front: { tenant: "acme" }, close: (store) => store.pause(ACME, WHY) },
  {
    name: "paused service",
    front: {},
    async close(store) {
      await useBank(store);
      await store.pause({ kind: "service", name: "bank" }, WHY);
    },
  },
  {
    name: "open breaker",
    front: {},
    async close(store) {
      await useBank(store);
      await outage(store);
    },
  },
  {
    name: "parked service, one tenant",
    front: { tenant: "acme" },
    async close(store) {
      await useBank(store);
      await outage(store, { forMs: HOUR_MS, tenant: "acme" });
    },
  },
  {
    name: "parked service",
    front: {},
    async close(store) {
      await useBank(store);
      await outage(store, { forMs: HOUR_MS, tenant: null });
    },
  },
  {
    name: "limit of a type",
    front: {},
    async close(store) {
      await store.setLimit(OTHER, { concurrency: 1, rate: null }, null);
      await takeOne(store);
    },
  },
  {
    name: "limit of a tenant",
    front: { tenant: "acme" },
    async close(store) {
      await store.setLimit(ACME, { concurrency: 1, rate: null }, null);
      await takeOne(store);
    },
  },
  {
    name: "limit of a service",
    front: {},
    async close(store) {
      await useBank(store);
      await store.setLimit({ kind: "service", name: "bank" }, { concurrency: 1, rate: null }, null);
      await takeOne(store);
    },
  },
  {
    name: "rate of a type",
    front: {},
    async close(store) {
      await store.setLimit(OTHER, { concurrency: null, rate: HOURLY }, null);
      await takeOne(store);
    },
  },
  { name: "taken key", front: { concurrencyKey: "one" }, close: takeOne },
  {
    name: "rate of a key",
    front: { tenant: "acme", concurrencyKey: "one" },
    async close(store) {
      const key = { kind: "key", name: "one", tenant: "acme" } as const;
      await store.setLimit(key, { concurrency: null, rate: HOURLY }, null);
      // The key is free again, and the next claim finds that it has no token.
      const worker = await longWorker(store);
      await settleAll(store, await take(store, { worker, limit: 1 }), completed());
      await claimable(store, { worker, limit: 1 });
    },
  },
  {
    name: "dependency",
    front: {},
    async before(store) {
      const awaited = newJob({ type: "other" });
      await store.enqueue([awaited]);
      return { after: [awaited.id] };
    },
    close: takeOne,
  },
];

async function longWorker(store: JobStore): Promise<WorkerId> {
  return joinWorker(store, { leaseMs: HOUR_MS });
}

async function fill(store: JobStore, count: number, job: Partial<NewJob>): Promise<void> {
  for (let made = 0; made < count; made += FILL) {
    const size = Math.min(FILL, count - made);
    await store.enqueue(Array.from({ length: size }, () => newJob(job)));
  }
}

/** A store with a worker and some jobs that may run. */
class Queue {
  readonly #store: JobStore;
  readonly #worker: WorkerId;

  private constructor(store: JobStore, worker: WorkerId) {
    this.#store = store;
    this.#worker = worker;
  }

  static async open(url: string, scene: Scene | null, front: number): Promise<Queue> {
    const store = await openStore(url);
    if (scene !== null) {
      const needed = await scene.before?.(store);
      await fill(store, front, { type: "other", ...scene.front, ...needed });
      await scene.close(store);
    }
    await fill(store, 2 * BATCH, { type: "email" });
    return new Queue(store, await longWorker(store));
  }

  /** How long a claim takes. As many jobs wait as before. */
  async claim(): Promise<number> {
    const request = { worker: this.#worker, lanes: "any", limit: BATCH, prefetch: false } as const;
    const began = performance.now();
    const { jobs } = await this.#store.claim(request);
    const ms = performance.now() - began;
    if (jobs.length !== BATCH || jobs.some(({ type }) => type !== "email")) {
      throw new Error(`a claim took ${jobs.length} jobs instead of ${BATCH}`);
    }
    await fill(this.#store, BATCH, { type: "email" });
    return ms;
  }

  /** Moves blocked jobs out of the way, as the workers do. */
  async hold(): Promise<void> {
    while ((await this.#store.hold(1_000)) > 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }
}

/** Claims with and without jobs in front take turns, so that both meet the same machine. */
async function measured(
  places: Places,
  scene: Scene | null,
  { front, claims }: { readonly front: number; readonly claims: number },
): Promise<{ readonly first: number; readonly usual: number; readonly empty: number }> {
  await using empty = await Queue.open(places.next(), null, 0);
  await using queue = await Queue.open(places.next(), scene, front);
  await empty.claim();
  const first = await queue.claim();
  await queue.hold();
  const times: { readonly empty: number; readonly queue: number }[] = [];
  for (let made = 0; made < claims; made += 1) {
    times.push({ empty: await empty.claim(), queue: await queue.claim() });
  }
  return {
    first,
    usual: percentile(
      times.map((time) => time.queue),
      0.5,
    ),
    empty: percentile(
      times.map((time) => time.empty),
      0.5,
    ),
  };
}

const options = numbersAndStores("scripts/show/blocked-front.ts", { front: 200_000, claims: 40 });
let late = 0;
for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: true });
  // The first run of any code is slow: it is thrown away.
  await measured(places, null, options);
  console.log(`\n${kind}, ${options.front} blocked jobs in front, ${BATCH} jobs per claim`);
  for (const scene of SCENES) {
    const { first, usual, empty } = await measured(places, scene, options);
    const ratio = usual / empty;
    const isGood = first <= FIRST_MS_MAX && ratio <= RATIO_MAX;
    if (!isGood) late += 1;
    const verdict = isGood ? "ok" : "TOO SLOW";
    const times = `first ${first.toFixed(1)} ms, then ${usual.toFixed(2)} ms`;
    console.log(`${scene.name.padEnd(28)} ${times}, ratio ${ratio.toFixed(2)}  ${verdict}`);
  }
}
process.exitCode = late === 0 ? 0 : 1;
