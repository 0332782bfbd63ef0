/** Rates of enqueuing and reading, by the library and over HTTP. */
import { defineJob, typed, type Millrace } from "millrace";
import { percentile } from "../percentile.ts";
import { TOKEN } from "./server-process.ts";

const CONCURRENT = 50;
const BULK = 1_000;

const noted = defineJob({ type: "noted", payload: typed<{ n: number }>() });

/** Both ways to enqueue and to read. */
export interface Way {
  readonly name: string;
  enqueue(n: number): Promise<string>;
  enqueueMany(count: number): Promise<void>;
  get(id: string): Promise<void>;
}

export function libraryWay(mill: Millrace): Way {
  return {
    name: "library",
    enqueue: async (n) => (await mill.enqueue(noted, { n })).id,
    enqueueMany: async (count) => {
      await mill.enqueueMany(Array.from({ length: count }, (_, n) => noted.of({ n })));
    },
    get: async (id) => void (await mill.jobs.get(id)),
  };
}

export function httpWay(origin: string): Way {
  const ask = async (path: string, body?: object): Promise<any> => {
    const response = await fetch(origin + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const jobOf = (n: number): object => ({ type: "noted", payload: { n } });
  return {
    name: "HTTP",
    enqueue: async (n) => (await ask("/api/v1/jobs", jobOf(n))).id,
    enqueueMany: async (count) => {
      await ask("/api/v1/jobs/batch", { jobs: Array.from({ length: count }, (_, n) => jobOf(n)) });
    },
    get: (id) => ask(`/api/v1/jobs/${id}`),
  };
}

/** The figures of one round. Rates are jobs per second, times are milliseconds. */
export interface Rates {
  readonly single: number;
  readonly concurrent: number;
  readonly bulk: number;
  readonly getP50: number;
  readonly getP99: number;
}

export async function measureRates(way: Way, jobs: number): Promise<Rates> {
  const ids: string[] = [];
  const single = await rateOf(jobs, async () => {
    for (let n = 0; n < jobs; n += 1) ids.push(await way.enqueue(n));
  });
  const concurrent = await rateOf(jobs * 2, async () => {
    let next = 0;
    const send = async (): Promise<void> => {
      while (next < jobs * 2) await way.enqueue((next += 1));
    };
    await Promise.all(Array.from({ length: CONCURRENT }, send));
  });
  const bulk = await rateOf(BULK, () => way.enqueueMany(BULK));
  const times: number[] = [];
  for (let n = 0; n < jobs * 2; n += 1) {
    const startedAt = performance.now();
    await way.get(ids[n % ids.length]!);
    times.push(performance.now() - startedAt);
  }
  const [getP50, getP99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return { single, concurrent, bulk, getP50, getP99 };
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - startedAt);
}
