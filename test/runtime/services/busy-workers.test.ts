/** Probes of workers that have a backlog of other jobs. */
import { defineJob, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { wait } from "../../../src/core/clock.ts";
import { defaults } from "../../../src/core/presets.ts";
import { openTest, replaceVerb, type RuntimeTest } from "../support.ts";

const POLL_MS = 1_000;
const OPEN_MS = 60_000;
const preset = { ...defaults, breaker: { failures: 3, openMs: OPEN_MS } };

interface Busy {
  /** How long each other job runs. */
  readonly ms: number;
  readonly lanes: Readonly<Record<string, number>>;
  /** Jobs of the service that wait. */
  readonly waiting?: number;
  /** The lane of the other jobs. */
  readonly lane?: string;
}

/** A worker with more jobs than it can run, while the breaker of the bank is open. */
async function busyWorker(kit: RuntimeTest, { ms, lanes, waiting = 1, lane }: Busy) {
  const seen = { isUp: false, paidAt: null as number | null, others: 0, busy: 0, busiest: 0 };
  const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() => {
    if (!seen.isUp) throw new TransientError("hung up");
    seen.paidAt ??= kit.clock.now();
  });
  const other = defineJob({ type: "other", payload: typed<number>(), ...(lane && { lane }) });
  const busy = other.run(async (own) => {
    seen.busy += 1;
    seen.busiest = Math.max(seen.busiest, seen.busy);
    await wait(kit.clock, own);
    seen.busy -= 1;
    seen.others += 1;
  });
  for (let count = 0; count < 3 + waiting; count += 1) await kit.mill.enqueue(pay);
  const slow = defineJob({ type: "slow" }).run(() => wait(kit.clock, 1_500));
  const worker = kit.mill.work({ jobs: [pay, busy, slow], preset, lanes, signals: false });
  await worker.ready;
  await kit.settled();
  expect((await kit.mill.breakers.get("bank")).state).toBe("open");
  seen.isUp = true;
  await kit.advance(OPEN_MS - 1_000);
  const jobs = Math.ceil((30_000 / ms) * Object.values(lanes).reduce((sum, own) => sum + own, 0));
  await kit.mill.enqueueMany(Array.from({ length: jobs }, () => busy.of(ms)));
  return { seen, worker, dueAt: kit.clock.now() + 1_000, slow };
}

/** Counts the calls of `claimProbe`, and calls `during` in each. */
function countProbes(kit: RuntimeTest, during = async (): Promise<void> => {}) {
  const counts = { calls: 0 };
  const claimProbe = kit.store.claimProbe.bind(kit.store);
  replaceVerb(kit.store, "claimProbe", async (...args: Parameters<typeof claimProbe>) => {
    counts.calls += 1;
    await during();
    return claimProbe(...args);
  });
  return counts;
}

describe("a worker with a backlog of other jobs", () => {
  test.each([
    { jobs: "short jobs in one slot", ms: 20, lanes: { general: 1 } },
    { jobs: "jobs of 100 ms in four slots", ms: 100, lanes: { general: 4 } },
    { jobs: "long jobs in two slots", ms: 3_000, lanes: { general: 2 } },
  ])("tries a service when its probe is due: $jobs", async ({ ms, lanes }) => {
    await using kit = await openTest({ preset });
    const { seen, dueAt } = await busyWorker(kit, { ms, lanes });

    await kit.advance(1_000 + 2 * POLL_MS + ms);

    expect((await kit.mill.breakers.get("bank")).state).toBe("closed");
    expect((seen.paidAt ?? Infinity) - dueAt).toBeLessThanOrEqual(2 * POLL_MS + ms);
    expect(seen.busiest).toBe(lanes.general);
    await kit.advance("1m");
    expect((await kit.mill.jobs.stats()).queued).toBe(0);
  });

  test("tries a service although slots of another lane become free more often", async () => {
    await using kit = await openTest({ preset });
    const lanes = { general: 1, fast: 1 };
    const { seen, slow } = await busyWorker(kit, { ms: 20, lanes, lane: "fast" });
    await kit.mill.enqueueMany(Array.from({ length: 20 }, () => slow.of()));

    await kit.advance(1_000 + 2 * POLL_MS + 1_500);

    expect(seen.paidAt).not.toBeNull();
  });

  test("gives the slot back if no job can be the probe, and asks once per poll", async () => {
    await using kit = await openTest({ preset });
    const { seen } = await busyWorker(kit, { ms: 20, lanes: { general: 1 }, waiting: 0 });
    await kit.advance(1_000);
    const counts = countProbes(kit);
    const before = seen.others;

    await kit.advance(10 * POLL_MS);

    expect(counts.calls).toBeGreaterThanOrEqual(8);
    expect(counts.calls).toBeLessThanOrEqual(12);
    expect(seen.others - before).toBeGreaterThanOrEqual(499);
    expect(seen.busiest).toBe(1);
  });

  test("never asks while no probe is due", async () => {
    await using kit = await openTest({ preset });
    const { seen } = await busyWorker(kit, { ms: 20, lanes: { general: 1 } });
    const counts = countProbes(kit);

    await kit.advance(900);

    expect([counts.calls, seen.others]).toEqual([0, 45]);
  });

  test("stops without the probe if it stops before a slot is free", async () => {
    await using kit = await openTest({ preset });
    const { seen, worker } = await busyWorker(kit, { ms: 3_000, lanes: { general: 2 } });
    await kit.advance(1_500);
    const counts = countProbes(kit);

    const stopped = worker.stop();
    await kit.advance("5s");
    await stopped;

    expect([counts.calls, seen.paidAt]).toEqual([0, null]);
    expect((await kit.mill.breakers.get("bank")).state).toBe("open");
  });

  test("leaves no slot empty after the store could not answer", async () => {
    await using kit = await openTest({ preset });
    const { seen } = await busyWorker(kit, { ms: 100, lanes: { general: 2 } });
    const counts = countProbes(kit, () => Promise.reject(new Error("planted")));

    await kit.advance(1_000 + 5 * POLL_MS);

    expect(counts.calls).toBeGreaterThanOrEqual(3);
    expect(seen.others).toBeGreaterThanOrEqual(116);
  });
});
