/**
 * The bare store: enqueue one by one, by 50 callers, in bulk; claim and settle; beside a bare loop.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { idSource } from "../src/core/ids.ts";
import { systemClock, systemDice } from "../src/lib/system.ts";
import { makeSqliteStore } from "../src/store/sqlite/make.ts";
import type { JobStore, NewJob, SettleItem } from "../src/store/store.ts";
import { BareLoop } from "./bare-sqlite.ts";
import { PAYLOAD } from "./payload.ts";
import type { Row } from "./report.ts";

const CALLERS = 50;
const BULK = 1_000;
const BATCH = 100;
const SINGLES_SHARE = 20;

const newId = idSource(systemClock, systemDice);

/** Rounds of ours and of the bare loop in turn, each on a fresh file. */
export async function benchStore(options: { rounds: number; jobs: number }): Promise<Row[]> {
  const figures = new Map<string, { ours: number[]; bare: number[] }>();
  const note = (name: string, side: "ours" | "bare", value: number): void => {
    const entry = figures.get(name) ?? { ours: [], bare: [] };
    entry[side].push(value);
    figures.set(name, entry);
  };
  for (let round = 0; round < options.rounds; round += 1) {
    await inFolder((folder) => ours(join(folder, "ours.db"), options.jobs, note));
    await inFolder(async (folder) => bare(join(folder, "bare.db"), options.jobs, note));
  }
  return [...figures].map(([name, { ours: mine, bare: loop }]) => ({
    name,
    unit: name.endsWith("delay p99") ? "ms" : "jobs/s",
    ours: mine,
    bare: loop,
    ratios: loop.map((value, index) => (mine[index] ?? Number.NaN) / value),
  }));
}

type Note = (name: string, side: "ours" | "bare", value: number) => void;

async function ours(path: string, jobs: number, note: Note): Promise<void> {
  const store = makeSqliteStore({ path });
  await store.open();
  const singles = Math.ceil(jobs / SINGLES_SHARE);
  const single = await rate(singles, async () => {
    for (let made = 0; made < singles; made += 1) await store.enqueue([newJob()]);
  });
  note("enqueue, one by one", "ours", single);

  const concurrent = await rate(jobs, async () => {
    let left = jobs;
    const caller = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await store.enqueue([newJob()]);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  });
  note(`enqueue, ${CALLERS} callers`, "ours", concurrent);

  const bulk = await rate(jobs, async () => {
    for (let made = 0; made < jobs; made += BULK) {
      await store.enqueue(Array.from({ length: BULK }, newJob));
    }
  });
  note(`enqueue, bulk of ${BULK}`, "ours", bulk);

  const total = singles + 2 * jobs;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  note(`claim + settle, batch ${BATCH}`, "ours", await rate(total, () => drain(store)));
  note("event-loop delay p99", "ours", loop.percentile(99) / 1e6);
  await store.close();
}

/** Claims and settles everything, the settle of one batch overlapping the claim of the next. */
async function drain(store: JobStore): Promise<void> {
  const worker = newId();
  await store.join({ id: worker, host: "bench", pid: 0, version: "0", protocol: 1, leaseMs: 1e6 });
  let settled: Promise<unknown> = Promise.resolve();
  for (;;) {
    const { lease, jobs } = await store.claim({
      worker,
      lanes: "any",
      limit: BATCH,
      buffer: false,
    });
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

async function bare(path: string, jobs: number, note: Note): Promise<void> {
  const loop = new BareLoop(path);
  const singles = Math.ceil(jobs / SINGLES_SHARE);
  const insert = async (count: number, batch: number): Promise<void> => {
    for (let made = 0; made < count; made += batch) {
      loop.enqueue(Array.from({ length: batch }, newId));
    }
  };
  note("enqueue, one by one", "bare", await rate(singles, () => insert(singles, 1)));
  note(`enqueue, ${CALLERS} callers`, "bare", await rate(jobs, () => insert(jobs, CALLERS)));
  note(`enqueue, bulk of ${BULK}`, "bare", await rate(jobs, () => insert(jobs, BULK)));
  const total = singles + 2 * jobs;
  note(`claim + settle, batch ${BATCH}`, "bare", await rate(total, async () => loop.drain(BATCH)));
  loop.close();
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (count / (performance.now() - began)) * 1000;
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function newJob(): NewJob {
  return {
    id: newId(),
    type: "email",
    tenant: "default",
    lane: "general",
    category: null,
    priority: 100,
    due: { delayMs: 0 },
    maxAttempts: 5,
    timeoutMs: null,
    payload: PAYLOAD,
    payloadVersion: null,
    correlationId: null,
    parentId: null,
    retryOf: null,
    concurrencyKey: null,
    idempotency: null,
    dedup: null,
    webhookUrl: null,
    tags: {},
    createdBy: null,
    onOrphan: "retry",
    retryOwner: "queue",
  };
}
