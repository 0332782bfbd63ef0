import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { JobHistory, LogEntry } from "../../../src/store/types/notes.ts";
import { completed, jobId, retryIn } from "../../support/factories.ts";
import { broken, done, halfway, keep, planned, running } from "../../support/notes.ts";
import { add, settleItem, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const ALL = { units: 1_000, logs: 1_000 };

/** What is kept about some jobs, which is what the verbs about one job answer. */
export function historiesSuite(open: OpenStore): void {
  describe("histories", () => {
    test("answer for each job what the verbs about one job answer", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await addWithHistories(store);
      const asked = [...ids.toReversed(), jobId()];

      const found = await store.histories(asked, ALL);

      expect(found).toEqual(await Promise.all(asked.map((id) => oneByOne(store, id))));
      expect(found.map(({ units }) => units.length)).toEqual([0, 2, 4, 0]);
      const runs = found.map(({ attempts }) => attempts.map(({ n }) => n));
      expect(runs).toEqual([[], [1], [1, 2], []]);
      expect(found.at(-1)).toEqual({ attempts: [], progress: null, units: [], logs: [] });
    });

    test("have the first units and the newest lines of each job", async () => {
      await using db = await open();
      const { store } = db;
      const [first, second] = await addWithHistories(store);

      const found = await store.histories([first, second], { units: 1, logs: 1 });

      expect(found.map(({ units }) => units.map(({ unit }) => unit))).toEqual([["a"], ["mine"]]);
      expect(found.map(({ logs }) => logs.map(({ message }) => message))).toEqual([
        ["second"],
        ["only"],
      ]);
    });

    test("are empty for no jobs", async () => {
      await using db = await open();
      expect(await db.store.histories([], ALL)).toEqual([]);
    });
  });
}

async function oneByOne(store: JobStore, id: JobId): Promise<JobHistory> {
  return {
    attempts: await store.attempts(id),
    progress: await store.progress(id),
    units: await store.units(id, {}, { limit: ALL.units }),
    logs: await store.logs(id, { limit: ALL.logs }),
  };
}

/** One job with two runs, one whose run has ended in the middle of a unit, and one that waits. */
async function addWithHistories(store: JobStore): Promise<readonly [JobId, JobId, JobId]> {
  const [first, second, third] = await add(
    store,
    { priority: 1 },
    { priority: 2 },
    { priority: 3 },
  );
  const run = await takeOne(store);
  await keep(store, run, {
    units: [broken("b"), done("a"), planned("c"), running("z", "check")],
    completed: { name: "fetch", result: '{"pages":3}' },
    progress: halfway(),
    logs: [line(1, "first")],
  });
  await store.settle([settleItem(run, run.job, retryIn(0))]);
  await store.promote(10);
  const again = await takeOne(store);
  await keep(store, again, { units: [done("b")], logs: [line(1, "second")] });
  await store.settle([settleItem(again, again.job, completed())]);
  const other = await takeOne(store);
  await keep(store, other, {
    units: [running("mine"), done("yours", "1", "check")],
    logs: [line(1, "only")],
  });
  await store.settle([settleItem(other, other.job, retryIn(1_000))]);
  return [first, second, third];
}

function line(turn: number, message: string): LogEntry {
  return { turn, at: 1_767_603_600_000, level: "info", message, fields: '{"n":1}' };
}
