/**
 * What the store on PostgreSQL does in ways of its own: successes are settled on a shorter way than
 * other ends, and wake-ups travel through the database.
 */
import { describe, expect, test } from "vitest";
import type { SettleItem } from "../../src/store/store.ts";
import { cancelled, completed, failedWith, newJob, retention } from "../support/factories.ts";
import { add, at, runOne, settleItem, take, takeOne } from "../support/steps.ts";
import type { PostgresTestStore } from "../support/stores.ts";

/** Each way to say something of a job that one does not hold. */
const FORGERIES: readonly (readonly [string, (item: SettleItem) => SettleItem])[] = [
  ["a wrong secret", (item) => ({ ...item, lease: { ...item.lease, secret: "guessed" } })],
  ["an unknown lease", (item) => ({ ...item, lease: { ...item.lease, number: 9_999 } })],
  ["the number of an earlier run", (item) => ({ ...item, n: item.n - 1 })],
  ["the number of a later run", (item) => ({ ...item, n: item.n + 1 })],
  ["an unknown job", (item) => ({ ...item, key: 9_999 })],
];

export function ownWaysSuite(
  open: (connections?: "own" | "shared") => Promise<PostgresTestStore>,
): void {
  describe("settle on either way", () => {
    test.each(FORGERIES)("refuses %s and changes nothing (I4)", async (_, forge) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      const item = settleItem(batch, batch.job, completed("1"));

      expect(await store.settle([forge(item)])).toEqual(["stale"]);

      expect(await store.attempts(id)).toEqual([]);
      expect(await store.settle([item])).toEqual(["settled"]);
    });

    test.each([completed(), failedWith()])(
      "refuses a job that has not begun, though it has $to",
      async (settlement) => {
        await using db = await open();
        const { store } = db;
        const [id] = await add(store, {});
        const batch = await take(store, { buffer: true });

        const answers = await store.settle([settleItem(batch, at(batch.jobs, 0), settlement)]);

        expect(answers).toEqual(["stale"]);
        expect(await store.attempts(id)).toEqual([]);
      },
    );
  });

  describe("count beside a lease that is half settled", () => {
    test("counts only the runs that are open", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {}, {});
      const batch = await take(store);
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);

      expect(await store.count({ states: ["running"] }, 10)).toBe(2);
      expect(await store.stats(10)).toMatchObject({ running: 2 });
    });
  });

  describe("prune of jobs that ended in several ways", () => {
    test("removes no more than asked in all", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (const ending of [completed(), cancelled(), completed(), cancelled()]) {
        await store.enqueue([newJob()]);
        await runOne(store, ending);
        await clock.advance(1);
      }
      const finishedMs = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

      expect(await store.prune(retention({ finishedMs }), 3)).toMatchObject({ jobs: 3 });
      expect(await store.count({}, 10)).toBe(1);
    });
  });

  describe.each(["own", "shared"] as const)("watch with connections %s", (connections) => {
    test("hears what another process has done", async () => {
      await using db = await open(connections);
      const other = await db.another();
      const calls = callsOf(db);
      // The first call comes when the ear is open.
      await calls.next();

      await add(other, {});

      await expect(calls.next()).resolves.toBe("work");
    });
  });

  describe("watch on a connection that was cut", () => {
    test("hears again on another one", async () => {
      await using db = await open("own");
      const other = await db.another();
      const calls = callsOf(db);
      await calls.next();

      await db.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'millrace listener'`,
      );
      await calls.next();
      await add(other, {});

      await expect(calls.next()).resolves.toBe("work");
    });
  });
}

/** The hints that a listener hears, one after the other. */
function callsOf({ store }: PostgresTestStore): { next(): Promise<string> } {
  const heard: string[] = [];
  const waiting: ((hint: string) => void)[] = [];
  store.watch((hint) => {
    const next = waiting.shift();
    if (next === undefined) heard.push(hint);
    else next(hint);
  });
  return {
    next: () =>
      new Promise((resolve) => {
        const first = heard.shift();
        if (first === undefined) waiting.push(resolve);
        else resolve(first);
      }),
  };
}
