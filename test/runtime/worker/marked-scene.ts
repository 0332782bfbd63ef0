/** A worker with jobs that are marked as started and wait for a slot. */
import assert from "node:assert/strict";
import { defineJob, typed } from "millrace";
import { latch, type RuntimeTest } from "../support.ts";

type MarkedKit = Pick<RuntimeTest, "mill" | "store" | "settled" | "crashAt">;

export interface MarkedSettings {
  readonly slots?: number;
  /** How many of the jobs wait for `end` when they run. Default: one for each slot. */
  readonly long?: number;
  readonly maxAttempts?: number;
  readonly onOrphan?: "retry" | "fail";
  /** Lanes beside the general one. */
  readonly lanes?: Readonly<Record<string, number>>;
  /** Called by every handler. */
  readonly during?: () => Promise<void>;
  /** How many jobs are marked. Default: one for each slot. */
  readonly marks?: number;
}

/**
 * Every slot runs a job until `end` opens. As many jobs are marked as started, and one more is
 * prefetched. `ran` has the numbers of the jobs whose handlers were called: 0 for the first job,
 * which has ended, then one for each slot, then the jobs that wait.
 */
export async function withMarked(kit: MarkedKit, settings: MarkedSettings = {}) {
  const { slots = 1, long = slots, marks = slots, lanes = {}, during, ...others } = settings;
  const end = latch();
  const ends = new Map(Array.from({ length: long }, (_, index) => [index + 1, latch()]));
  const note = latch();
  const ran: number[] = [];
  let [busy, busiest] = [0, 0];
  const job = defineJob({
    type: "marked",
    payload: typed<number>(),
    timeout: "1m",
    ...others,
  }).run(async (number, ctx) => {
    ran.push(number);
    busy += 1;
    busiest = Math.max(busiest, busy);
    if (number === 1) void note.passed.then(() => ctx.progress(50)).catch(() => {});
    await during?.();
    const own = ends.get(number);
    if (own !== undefined) await Promise.race([end.passed, own.passed]);
    busy -= 1;
  });
  const worker = kit.mill.work({ jobs: [job], lanes: { general: slots, ...lanes } });
  // A lane prefetches once it has seen that runs are short.
  await kit.mill.enqueue(job, 0);
  await kit.settled();
  const numbers = Array.from({ length: 2 * slots + 1 }, (_, index) => job.of(index + 1));
  const jobs = await kit.mill.enqueueMany(numbers);
  await kit.settled();
  const info = (await kit.store.workers(10)).find(({ id }) => id === worker.id);
  const prefetched = slots + 1 - marks;
  assert.deepEqual([info?.running, info?.prefetched], [slots + marks, prefetched]);
  const [running, waiting] = [jobs.slice(0, slots), jobs.slice(slots)];
  const first = running[0];
  const [marked, next] = waiting;
  assert.ok(first && marked && next);
  return {
    worker,
    job,
    /** The first job that runs, the first that waits, and the one behind it. */
    running: first,
    marked,
    next,
    waiting,
    end,
    endOne: (number: number): void => ends.get(number)?.open(),
    ran,
    busiest: () => busiest,
    /** The process of the worker dies. The jobs of the worker are rescued 45 seconds later. */
    die: async (): Promise<void> => {
      kit.crashAt("record");
      note.open();
      await kit.settled();
      end.open();
    },
  };
}
