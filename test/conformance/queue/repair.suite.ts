/** What is derived is repaired when it is missing or wrong, and goes with its origin. */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, failedWith, newJob, newJobs, retention } from "../../support/factories.ts";
import { addAfter, becauseOf, freed, stays, swept } from "../../support/flows.ts";
import { done, halfway, keep } from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  recordOf,
  runOne,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenPast } from "../doctor/past-the-store.ts";

const KEYED = { concurrencyKey: "docs/main" } as const;
const FINAL = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const KEEP_NO_JOBS = retention({ finishedMs: FINAL });

export function repairSuite(open: OpenPast): void {
  describe("repair by resolveDependencies", () => {
    proceedTests(open);
  });
  describe("repair by release", () => {
    releaseTests(open);
  });
  describe("repair that is not needed", () => {
    leftoverTests(open);
  });
}

/** A key as the database has it. */
async function keyOf(store: JobStore, id: JobId): Promise<number> {
  return (await recordOf(store, id)).key;
}

function proceedTests(open: OpenPast): void {
  test("finds ends that no settlement wrote down", async () => {
    await using db = await open();
    const { store } = db;
    const [good, bad] = await add(store, {}, {});
    const free = await addAfter(store, [good]);
    const lost = await addAfter(store, [good, bad]);
    const tolerant = await addAfter(store, [bad], { onFailed: "run" });
    const hear = await db.deafen("finished_dependency");
    const batch = await take(store);
    await store.settle([
      settleItem(batch, at(batch.jobs, 0), completed()),
      settleItem(batch, at(batch.jobs, 1), failedWith()),
    ]);
    for (const id of [free, lost, tolerant]) {
      expect((await recordOf(store, id)).heldBy).toEqual({ kind: "after" });
      expect(await store.openDependencies(id, 10)).toEqual([]);
    }
    await hear();

    await swept(store, free, lost, tolerant);

    expect((await recordOf(store, lost)).cancelReason).toBe(becauseOf(bad, "failed"));
    expect(await claimable(store)).toEqual([free, tolerant]);
  });

  test("finds them behind many others, however little it may look at", async () => {
    await using db = await open();
    const { store } = db;
    const parents = newJobs(30);
    await store.enqueue(parents);
    const children = parents.map(({ id }) => newJob({ after: [id] }));
    await store.enqueue(children);
    const hear = await db.deafen("finished_dependency");
    const batch = await take(store);
    await store.settle(
      [7, 29].map((index) => settleItem(batch, at(batch.jobs, index), completed())),
    );
    await hear();

    // How many each call moves is left open: the look that follows the commit of a dependant may
    // come this late, and then it has moved some.
    for (let call = 0; call < 30; call += 1) await store.resolveDependencies(4);

    expect(await claimable(store)).toEqual([at(children, 7).id, at(children, 29).id]);
  });

  test("finds a dependency that retention has not removed meanwhile", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, {});
    const child = await addAfter(store, [parent]);
    const hear = await db.deafen("finished_dependency");
    await runOne(store, completed());
    const page = { fresh: false, limit: 10, from: null };

    expect((await store.expired({ finishedMs: FINAL }, page)).jobs).toEqual([]);
    expect(await store.remove([await keyOf(store, parent)], KEEP_NO_JOBS)).toBe(0);
    expect((await store.prune(KEEP_NO_JOBS, 100)).jobs).toBe(0);
    await hear();
    await swept(store, child);

    expect(await claimable(store)).toEqual([child]);
  });

  test("cancels what waits for a job that is gone, unless it may run", async () => {
    await using db = await open();
    const { store } = db;
    const [parent] = await add(store, { due: { delayMs: 60_000 } });
    const lost = await addAfter(store, [parent]);
    const tolerant = await addAfter(store, [parent], { onFailed: "run" });
    const key = await keyOf(store, parent);
    for (const table of ["scheduled", "job"]) {
      await db.run(`DELETE FROM {${table}} WHERE key = ${key}`);
    }

    await swept(store, lost, tolerant);

    expect(await stateOf(store, lost)).toBe("cancelled");
    expect(await claimable(store)).toEqual([tolerant]);
  });
}

function releaseTests(open: OpenPast): void {
  test("frees names of runs that have ended and of jobs that are gone", async () => {
    await using db = await open();
    const { store } = db;
    const [ended] = await add(store, {});
    await runOne(store, completed());
    const key = await keyOf(store, ended);
    const row = `INSERT INTO {lock} (tenant, name, job, n)`;
    await db.run(`${row} SELECT tenant, 'a', key, 1 FROM {job} WHERE key = ${key}`);
    await db.run(`${row} SELECT tenant, 'b', 99999, 1 FROM {job} WHERE key = ${key}`);
    const ids = await add(store, { concurrencyKey: "a" }, { concurrencyKey: "b" });
    await store.hold(100);
    expect(await claimable(store)).toEqual([]);

    for (let call = 0; call < 2; call += 1) await store.release(100);

    expect(await claimable(store)).toEqual(ids);
  });

  test("leaves names of runs that go on alone", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, KEYED, KEYED);
    const { lease, job } = await takeOne(store);
    await store.acquireLocks({ lease, key: job.key, n: job.n }, ["edition"]);

    for (let call = 0; call < 2; call += 1) await store.release(100);

    expect(await store.lockHolder("default", "docs/main")).toBe(id);
    expect(await store.lockHolder("default", "edition")).toBe(id);
    expect(await claimable(store)).toEqual([]);
  });
}

function leftoverTests(open: OpenPast): void {
  test("leaves no need, end or name behind when everything has run or was cancelled", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await add(store, KEYED, {});
    const free = await addAfter(store, [one]);
    const lost = await addAfter(store, [one, two]);
    const next = await addAfter(store, [lost]);
    const batch = await take(store);
    await store.settle([
      settleItem(batch, at(batch.jobs, 1), failedWith()),
      settleItem(batch, at(batch.jobs, 0), completed()),
    ]);
    await freed(store, free, lost, next);
    await stays(store);

    for (const table of ["dependency", "finished_dependency", "lock"])
      expect(await db.count(table)).toBe(0);
  });

  test("leaves no dependency of a cancelled job behind, while the other job waits", async () => {
    await using db = await open();
    const [parent] = await add(db.store, { due: { delayMs: 60_000 } });
    const child = await addAfter(db.store, [parent]);

    await db.store.cancel(child, null, null);

    expect(await db.count("dependency")).toBe(0);
  });

  test.each(["prune", "remove"] as const)("leaves nothing of a job behind: %s", async (verb) => {
    await using db = await open();
    const { store } = db;
    const [parent, id] = await add(store, { lane: "other" }, KEYED);
    const batch = await takeOne(store, { lanes: ["general"] });
    const line = { turn: 1, at: 1, level: "info", message: "said", fields: null } as const;
    await keep(store, batch, {
      progress: halfway(),
      units: [done("a")],
      completed: { name: "fetch", result: null },
      logs: [line],
    });
    await settleAll(store, batch, completed());
    const gone = await addAfter(store, [parent]);
    await store.cancel(gone, null, null);
    const keys = [await keyOf(store, id), await keyOf(store, gone)];
    expect(await store.markStale(keys)).toBe(2);
    const tables = [
      "log",
      "stale",
      "dependency",
      "phase",
      "unit",
      "run",
      "lock",
      "finished_dependency",
    ];
    expect(await db.count("log")).toBe(1);

    if (verb === "prune") await store.prune(KEEP_NO_JOBS, 100);
    if (verb === "remove") await store.remove(keys, KEEP_NO_JOBS);

    expect(await db.count("job")).toBe(1);
    for (const table of tables) expect([table, await db.count(table)]).toEqual([table, 0]);
  });
}
