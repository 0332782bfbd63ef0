/** Retention on the embedded store behind very many jobs. */
import { describe, expect, test } from "vitest";
import { completed, newJobs, retention } from "../../../test/support/factories.ts";
import { add, at, settleAll, settleItem, take } from "../../../test/support/steps.ts";
import { pagesOf } from "../../../test/support/sweeps.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import type { JobStore } from "../store.ts";
import { makeSqliteStore } from "./create.ts";

const HOUR_MS = 3_600_000;
const AT_ONCE = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const LATE = {
  completed: HOUR_MS,
  completed_with_errors: HOUR_MS,
  failed: HOUR_MS,
  cancelled: HOUR_MS,
} as const;
const KEPT = retention({ finishedMs: AT_ONCE, types: { report: LATE } });
const PAGE = { fresh: true, limit: 10 } as const;

describe("retention behind thousands of jobs that are kept longer", () => {
  test("goes past them in one call", async () => {
    const { store, clock } = await openCheckpoints();
    await endJobs(store, 4_500, "report");
    await clock.advance(10);
    await endJobs(store, 3, "email");

    expect(await store.prune(KEPT, 100)).toMatchObject({ jobs: 3, more: false });
    await endJobs(store, 2, "email");
    expect(await store.prune(KEPT, 100)).toMatchObject({ jobs: 2, more: false });

    expect((await store.count({ type: "report" }, 10_000)).count).toBe(4_500);
    await store.close();
  });

  test("finds what had to be passed over before, by and by", async () => {
    const { store, clock } = await openCheckpoints();
    const [old] = await add(store, {}, { type: "report" });
    const pair = await take(store, { limit: 2 });
    await store.settle([settleItem(pair, at(pair.jobs, 0), completed())]);
    await endJobs(store, 4_500, "report");
    await clock.advance(10);
    expect((await pagesOf(store, KEPT, PAGE)).flat()).toEqual([]);
    await store.settle([settleItem(pair, at(pair.jobs, 1), completed())]);

    const sweeps = [1, 2, 3, 4].map(() => pagesOf(store, KEPT, PAGE));
    const found = (await Promise.all(sweeps)).flat(2).map(({ id }) => id);

    expect(new Set(found)).toEqual(new Set([old]));
    await store.close();
  });
});

async function openCheckpoints() {
  const clock = virtualClock();
  const store = makeSqliteStore({ path: ":memory:" }, { clock });
  await store.open();
  return { store, clock };
}

async function endJobs(store: JobStore, count: number, type: string): Promise<void> {
  await store.enqueue(newJobs(count, { type }));
  for (let left = count; left > 0; left -= 500) {
    await settleAll(store, await take(store, { limit: Math.min(left, 500) }), completed());
  }
}
