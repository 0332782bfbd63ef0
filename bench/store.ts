/**
 * The bare store: enqueue one by one, by 50 callers, in bulk; claim and settle; beside a bare loop.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { JobStore } from "../src/store/store.ts";
import type { SettleItem } from "../src/store/types/jobs-and-runs.ts";
import { BareLoop } from "./contestants/bare-sqlite.ts";
import type { DatabaseKind, Databases } from "./databases.ts";
import type { Row } from "./report.ts";
import type { Options, Outcome } from "./side-by-side.ts";
import { joinWorker, newJobs, openStore } from "./store-jobs.ts";
import { newPayload } from "./contestants/system.ts";

const CALLERS = 50;
const BULK = 1_000;
const BATCH = 100;
const SINGLES_SHARE = 20;
const LOOP_DELAY = "event-loop delay p99";

type Note = (work: string, value: number) => void;

interface Sides {
  readonly ours: number[];
  readonly bare: number[];
}

/** Rounds of ours and of the bare loop in turn, each on a fresh database. */
export async function benchStore(kind: DatabaseKind, options: Options): Promise<Outcome> {
  const { rounds, jobs, databases, say } = options;
  const figures = new Map<string, Sides>();
  const noteFor =
    (side: keyof Sides): Note =>
    (work, value) => {
      const entry = figures.get(work) ?? { ours: [], bare: [] };
      entry[side].push(value);
      figures.set(work, entry);
    };
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1}, store`);
    await onFresh(databases, kind, (url) => ours(url, jobs, noteFor("ours")));
    if (kind !== "sqlite") continue;
    await onFresh(databases, kind, (url) => bare(url, jobs, noteFor("bare")));
  }
  return { rows: [...figures].map(([work, sides]) => rowOf(work, sides)), failures: [] };
}

async function onFresh(
  databases: Databases,
  kind: DatabaseKind,
  work: (url: string) => Promise<void>,
): Promise<void> {
  await using database = await databases.fresh(kind);
  await work(database.url);
}

function rowOf(work: string, { ours: mine, bare: loop }: Sides): Row {
  const ratios = loop.map((value, index) => (mine[index] ?? Number.NaN) / value);
  const others = loop.length > 0 ? [{ name: "bare loop", values: loop, ratios, target: null }] : [];
  if (work === LOOP_DELAY) {
    return { id: "P14", work, unit: "ms", better: "less", ours: mine, others, bound: 20 };
  }
  return { id: "", work, unit: "jobs/s", better: "more", ours: mine, others, bound: null };
}

async function ours(url: string, jobs: number, note: Note): Promise<void> {
  const store = await openStore(url);
  const singles = Math.ceil(jobs / SINGLES_SHARE);
  const single = await rate(singles, async () => {
    for (let made = 0; made < singles; made += 1) await store.enqueue(newJobs(1));
  });
  note("enqueue, one by one", single);

  const concurrent = await rate(jobs, async () => {
    let left = jobs;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await store.enqueue(newJobs(1));
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  });
  note(`enqueue, ${CALLERS} callers`, concurrent);

  const bulk = await rate(jobs, async () => {
    for (let made = 0; made < jobs; made += BULK) await store.enqueue(newJobs(BULK));
  });
  note(`enqueue, bulk of ${BULK}`, bulk);

  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  note(`claim + settle, batch ${BATCH}`, await rate(singles + 2 * jobs, () => drain(store)));
  note(LOOP_DELAY, loop.percentile(99) / 1e6);
  loop.disable();
  await store.close();
}

/** Claims and settles everything, the settle of one batch overlapping the claim of the next. */
async function drain(store: JobStore): Promise<void> {
  const worker = await joinWorker(store);
  const request = { worker, lanes: "any", limit: BATCH, prefetch: false } as const;
  let settled: Promise<unknown> = Promise.resolve();
  for (;;) {
    const { lease, jobs } = await store.claim(request);
    if (lease === null) break;
    await settled;
    settled = store.settle(
      jobs.map(({ key, n }): SettleItem => ({ lease, key, n, settlement: COMPLETED })),
    );
  }
  await settled;
}

const COMPLETED: SettleItem["settlement"] = {
  to: "completed",
  outcome: "succeeded",
  tries: 1,
  crashes: 0,
  result: null,
  failedUnits: 0,
  fault: null,
};

async function bare(url: string, jobs: number, note: Note): Promise<void> {
  const loop = new BareLoop(url.slice("sqlite:".length));
  const singles = Math.ceil(jobs / SINGLES_SHARE);
  const payload = (): string => JSON.stringify(newPayload());
  const insert = async (count: number, batch: number): Promise<void> => {
    for (let made = 0; made < count; made += batch) {
      loop.enqueue(Array.from({ length: batch }, payload));
    }
  };
  note("enqueue, one by one", await rate(singles, () => insert(singles, 1)));
  note(`enqueue, ${CALLERS} callers`, await rate(jobs, () => insert(jobs, CALLERS)));
  note(`enqueue, bulk of ${BULK}`, await rate(jobs, () => insert(jobs, BULK)));
  const emptied = async (): Promise<void> => {
    while (loop.turn(BATCH).length > 0);
  };
  note(`claim + settle, batch ${BATCH}`, await rate(singles + 2 * jobs, emptied));
  loop.close();
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (count / (performance.now() - began)) * 1000;
}
