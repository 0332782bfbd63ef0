import { describe, expect, test } from "vitest";
import type { FinalState, JobId } from "../../../src/core/job.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { JobKey, NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { Periods, Pruned } from "../../../src/store/types/records.ts";
import {
  cancelled,
  completed,
  completedWithErrors,
  failedWith,
  newJobs,
  retention,
  retryIn,
} from "../../support/factories.ts";
import { addAfter, freed } from "../../support/flows.ts";
import { detailsOf, done, keep } from "../../support/notes.ts";
import {
  add,
  ask,
  at,
  eventsOf,
  recordOf,
  settleAll,
  settleItem,
  stateOf,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

const HOUR = 3_600_000;
const ENDINGS = [completed(), completedWithErrors(1), failedWith(), cancelled()] as const;
const NOW = every(0);
const ALL = { fresh: false, limit: 100, from: null } as const;
const FRESH = { fresh: true, limit: 100, from: null } as const;
const NOTHING = { jobs: [], next: null };
const KEEP_NO_JOBS = retention({ finishedMs: NOW });

export function staleSuite(open: OpenStore): void {
  describe("expired", () => {
    periodTests(open);
    passingTests(open);
  });
  describe("markStale", () => {
    markTests(open);
  });
  describe("remove", () => {
    removeTests(open);
  });
  describe("types with periods of their own", () => {
    typeTests(open);
    rescanTests(open);
  });
}

function every(ms: number): Readonly<Record<FinalState, number>> {
  return { completed: ms, completed_with_errors: ms, failed: ms, cancelled: ms };
}

/** Enqueues a job and ends it. Nothing else may be waiting. */
async function addEnded(
  store: JobStore,
  settlement: Settlement = completed(),
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const [id] = await add(store, overrides);
  await settleAll(store, await takeOne(store), settlement);
  return id;
}

async function outlivedIds(
  store: JobStore,
  periods: Periods,
  which: Parameters<JobStore["expired"]>[1] = ALL,
): Promise<readonly JobId[]> {
  return (await store.expired(periods, which)).jobs.map(({ id }) => id);
}

async function keysOf(store: JobStore, ...ids: readonly JobId[]): Promise<readonly JobKey[]> {
  const records = await Promise.all(ids.map((id) => recordOf(store, id)));
  return records.map(({ key }) => key);
}

function periodTests(open: OpenStore): void {
  test.each(ENDINGS.map(({ to }) => to))(
    "finds jobs that ended as %s by the age of that state (C-34)",
    async (state) => {
      await using db = await open();
      const { store, clock } = db;
      for (const ending of ENDINGS) await addEnded(store, ending);
      const periods = { finishedMs: { ...every(HOUR), [state]: 10_000 } };

      await clock.advance(9_999);
      const early = await store.expired(periods, ALL);
      await clock.advance(2);
      const late = await store.expired(periods, ALL);

      expect(early).toEqual(NOTHING);
      expect(late.jobs.map((job) => job.state)).toEqual([state]);
    },
  );

  test("shows the jobs as they are, longest ended first, no more than asked", async () => {
    await using db = await open();
    const { store, clock } = db;
    const ids = [];
    for (const ending of [...ENDINGS, ...ENDINGS]) {
      ids.push(await addEnded(store, ending, { payload: '{"n":1}', tags: { a: "1" } }));
      await clock.advance(10);
    }

    const { jobs } = await store.expired({ finishedMs: NOW }, ALL);

    expect(jobs.map(({ id }) => id)).toEqual(ids);
    expect(jobs).toEqual(await Promise.all(ids.map((id) => store.get(id))));
    expect(await outlivedIds(store, { finishedMs: NOW }, { ...ALL, limit: 3 })).toEqual(
      ids.slice(0, 3),
    );
  });

  test("counts from the end of a job, not from its beginning", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await clock.advance(20_000);
    await settleAll(store, batch, completed());
    await clock.advance(5_000);

    expect(await store.expired({ finishedMs: every(10_000) }, ALL)).toEqual(NOTHING);
  });

  test("finds nothing that has not ended, and changes nothing", async () => {
    await using db = await open();
    const { store, clock } = db;
    const ended = await addEnded(store);
    await add(store, { priority: 1 });
    await settleAll(store, await takeOne(store), retryIn(HOUR));
    await add(store, {}, {});
    await takeOne(store);
    await clock.advance(1_000);
    const before = await store.feed(0, 100);

    expect(await outlivedIds(store, { finishedMs: NOW })).toEqual([ended]);
    expect((await store.count({}, 10)).count).toBe(4);
    expect(await store.feed(0, 100)).toEqual(before);
  });

  test("is empty in an empty store", async () => {
    await using db = await open();

    expect(await db.store.expired({ finishedMs: NOW }, FRESH)).toEqual(NOTHING);
  });
}

function passingTests(open: OpenStore): void {
  test("passes over what a lease still names", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [named] = await add(store, {}, {});
    const batch = await take(store);
    await settleAll(store, { ...batch, jobs: [at(batch.jobs, 0)] }, completed());
    await clock.advance(10);
    const free = await addEnded(store);
    await clock.advance(10);

    const meanwhile = await outlivedIds(store, { finishedMs: NOW }, { ...FRESH, limit: 1 });
    await settleAll(store, { ...batch, jobs: [at(batch.jobs, 1)] }, completed());

    expect(meanwhile).toEqual([free]);
    expect(await outlivedIds(store, { finishedMs: NOW })).toContain(named);
  });

  test("passes over what is marked already, if only fresh ones are asked for", async () => {
    await using db = await open();
    const { store, clock } = db;
    const ids = [];
    for (let turn = 0; turn < 5; turn += 1) {
      ids.push(await addEnded(store));
      await clock.advance(10);
    }
    await store.markStale(await keysOf(store, ids[0]!, ids[1]!, ids[3]!));

    expect(await outlivedIds(store, { finishedMs: NOW }, { ...FRESH, limit: 1 })).toEqual([ids[2]]);
    expect(await outlivedIds(store, { finishedMs: NOW }, FRESH)).toEqual([ids[2], ids[4]]);
    expect(await outlivedIds(store, { finishedMs: NOW })).toEqual(ids);
  });

  test("comes to an end when each that it names is marked (001-38)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const jobs = newJobs(700);
    await store.enqueue(jobs);
    for (let turn = 0; turn < 7; turn += 1) {
      await settleAll(store, await take(store), completed());
      await clock.advance(10);
    }

    const marked: JobId[] = [];
    for (let call = 0; call < 50; call += 1) {
      const { jobs: found } = await store.expired({ finishedMs: NOW }, FRESH);
      if (found.length === 0) break;
      marked.push(...found.map(({ id }) => id));
      await store.markStale(found.map(({ key }) => key));
    }

    expect(marked.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
    const late = await addEnded(store);
    await clock.advance(10);
    expect(await outlivedIds(store, { finishedMs: NOW }, FRESH)).toEqual([late]);
  });
}

function markTests(open: OpenStore): void {
  test("marks final jobs, once, and tells of each once (001-38)", async () => {
    await using db = await open();
    const { store } = db;
    const ids = [];
    for (const ending of ENDINGS) ids.push(await addEnded(store, ending));
    const keys = await keysOf(store, ...ids);

    const first = await store.markStale(keys.slice(0, 3));
    const second = await store.markStale(keys);
    const third = await store.markStale(keys);

    expect([first, second, third]).toEqual([3, 1, 0]);
    for (const id of ids) {
      expect((await recordOf(store, id)).isStale).toBe(true);
      expect((await eventsOf(store, id)).filter((kind) => kind === "job:stale")).toHaveLength(1);
      expect((await eventsOf(store, id)).at(-1)).toBe("job:stale");
    }
  });

  test("changes nothing else of a job", async () => {
    await using db = await open();
    const { store, clock } = db;
    const id = await addEnded(store, failedWith());
    const other = await addEnded(store);
    const before = await recordOf(store, id);
    await clock.advance(1_000);

    await store.markStale([before.key]);

    expect(before.isStale).toBe(false);
    expect(await recordOf(store, id)).toEqual({ ...before, isStale: true });
    expect((await recordOf(store, other)).isStale).toBe(false);
    const { jobs } = await store.list({}, { limit: 10 });
    expect(jobs.map((job) => [job.id, job.isStale])).toEqual([
      [other, false],
      [id, true],
    ]);
    expect(await store.deadLetter(id)).not.toBeNull();
  });

  test("passes over what has not ended, and what there is not", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, { priority: 1 }, {}, { due: { delayMs: HOUR } });
    await takeOne(store);
    const keys = await keysOf(store, ...ids);

    expect(await store.markStale([...keys, 99_999])).toBe(0);
    expect(await store.markStale([])).toBe(0);
    for (const id of ids) {
      expect((await recordOf(store, id)).isStale).toBe(false);
      expect(await eventsOf(store, id)).not.toContain("job:stale");
    }
  });

  test("passes over a job between two runs", async () => {
    await using db = await open();
    const { store } = db;
    const id = await addEnded(store, retryIn(HOUR));

    expect(await store.markStale(await keysOf(store, id))).toBe(0);
    expect((await recordOf(store, id)).isStale).toBe(false);
  });

  test("tells of a job once when two handles mark it at once", async () => {
    await using db = await open();
    const { store } = db;
    const other = await db.another();
    await store.enqueue(newJobs(20));
    const batch = await take(store);
    await settleAll(store, batch, completed());
    const keys = batch.jobs.map(({ key }) => key);

    const counts = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        (index % 2 ? store : other).markStale(index % 3 ? keys : keys.toReversed()),
      ),
    );

    expect(counts.reduce((sum, count) => sum + count)).toBe(20);
    for (const { id } of batch.jobs) {
      expect((await eventsOf(store, id)).filter((kind) => kind === "job:stale")).toHaveLength(1);
    }
  });
}

function removeTests(open: OpenStore): void {
  test("removes a whole job, and says so (000-44, 001-38)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id, kept] = await add(
      store,
      { tags: { a: "1" }, type: "email", tenant: "acme", correlationId: "order-7" },
      { tags: { a: "1" } },
    );
    const batch = await takeOne(store);
    const line = { turn: 1, at: 1, level: "info", message: "said", fields: null } as const;
    await keep(store, batch, { units: [done("a")], logs: [line] });
    await settleAll(store, batch, failedWith());
    await clock.advance(1);
    const keys = await keysOf(store, id);
    await store.markStale(keys);

    const count = await store.remove(keys, KEEP_NO_JOBS);

    expect(count).toBe(1);
    expect(await store.get(id)).toBeNull();
    expect(await store.attempts(id)).toEqual([]);
    expect(await store.logs(id, { limit: 10 })).toEqual([]);
    expect(await store.units(id, {}, { limit: 10 })).toEqual([]);
    for (const filter of [{}, { tags: { a: "1" } }]) {
      const { jobs } = await store.list(filter, { limit: 10 });
      expect(jobs.map((job) => job.id)).toEqual([kept]);
    }
    expect((await detailsOf(store, id)).at(-1)).toEqual([
      "job:deleted",
      { type: "email", tenant: "acme", correlationId: "order-7" },
    ]);
    expect(await store.deadLetter(id)).not.toBeNull();
    expect(await store.remove(keys, KEEP_NO_JOBS)).toBe(0);
  });

  test("removes no job that has not ended, and none that there is not", async () => {
    await using db = await open();
    const { store } = db;
    const retrying = await addEnded(store, retryIn(HOUR));
    const ids = await add(store, { priority: 1 }, {}, { due: { delayMs: HOUR } });
    await takeOne(store);
    const keys = await keysOf(store, retrying, ...ids);

    const count = await store.remove([...keys, 99_999], KEEP_NO_JOBS);

    expect(count).toBe(0);
    expect((await store.count({}, 10)).count).toBe(4);
    expect(await store.attempts(retrying)).toHaveLength(1);
    expect(await store.remove([], KEEP_NO_JOBS)).toBe(0);
  });

  test("passes over what a lease still names", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [named, rest] = await add(store, {}, {});
    const batch = await take(store);
    await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
    await clock.advance(1);
    const keys = await keysOf(store, named);

    const early = await store.remove(keys, KEEP_NO_JOBS);
    await store.settle([settleItem(batch, at(batch.jobs, 1), completed())]);
    await clock.advance(1);
    const late = await store.remove(keys, KEEP_NO_JOBS);

    expect([early, late]).toEqual([0, 1]);
    expect(await stateOf(store, rest)).toBe("completed");
  });

  test("keeps idempotency keys for their own time", async () => {
    await using db = await open();
    const { store, clock } = db;
    const idempotency = { key: "order 7", onConflict: "return-existing" } as const;
    const id = await addEnded(store, completed(), { idempotency });
    const rules = retention({ finishedMs: NOW, idempotencyMs: 10_000 });
    await clock.advance(1_000);

    await store.remove(await keysOf(store, id), rules);
    const early = await ask(store, { idempotency });
    await clock.advance(9_001);
    await store.prune(rules, 10);

    expect(early).toEqual({ status: "existing", id, state: null, by: "idempotency" });
    expect(await ask(store, { idempotency })).toMatchObject({ status: "created" });
  });

  test("leaves the jobs that ran after it alone", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [parent] = await add(store, {});
    const child = await addAfter(store, [parent]);
    await settleAll(store, await takeOne(store), completed());
    await freed(store, child);
    await clock.advance(1);

    expect(await store.remove(await keysOf(store, parent), KEEP_NO_JOBS)).toBe(1);
    expect(await recordOf(store, child)).toMatchObject({ state: "queued", heldBy: null });
  });

  test("removes marked jobs with prune as well", async () => {
    await using db = await open();
    const { store, clock } = db;
    const id = await addEnded(store);
    await store.markStale(await keysOf(store, id));
    await clock.advance(1);

    expect(await store.prune(KEEP_NO_JOBS, 10)).toMatchObject({ jobs: 1 });
    expect(await store.get(id)).toBeNull();
  });
}

function typeTests(open: OpenStore): void {
  test("are found and removed by those, and by no others", async () => {
    await using db = await open();
    const { store, clock } = db;
    const longer = await addEnded(store, completed(), { type: "longer" });
    const plain = await addEnded(store);
    const shorter = await addEnded(store, completed(), { type: "shorter" });
    await clock.advance(10_001);
    const rules = retention({
      finishedMs: every(20_000),
      types: { shorter: every(10_000), longer: every(30_000), unheard: NOW },
    });

    const found = [];
    const pruned = [];
    for (let turn = 0; turn < 3; turn += 1) {
      found.push(await outlivedIds(store, rules));
      pruned.push((await sweep(store, rules, clock)).jobs);
      await clock.advance(10_000);
    }

    expect(found).toEqual([[shorter], [plain], [longer]]);
    expect(pruned).toEqual([1, 1, 1]);
    expect((await store.count({}, 10)).count).toBe(0);
  });

  test.each(ENDINGS.map(({ to }) => to))("go by the period of %s, too", async (state) => {
    await using db = await open();
    const { store, clock } = db;
    for (const ending of ENDINGS) await addEnded(store, ending);
    for (const ending of ENDINGS) await addEnded(store, ending, { type: "report" });
    await clock.advance(10_001);
    const types = { report: { ...every(HOUR), [state]: 10_000 } };
    const rules = retention({ finishedMs: every(HOUR), types });

    const { jobs: found } = await store.expired(rules, ALL);
    await sweep(store, rules, clock);

    expect(found.map((job) => [job.type, job.state])).toEqual([["report", state]]);
    expect((await store.count({}, 10)).count).toBe(7);
    expect((await store.count({ type: "report", states: [state] }, 10)).count).toBe(0);
  });

  test("are kept when everything else goes, and the other way round", async () => {
    await using db = await open();
    const { store, clock } = db;
    await addEnded(store, failedWith(), { type: "report" });
    const plain = await addEnded(store, failedWith());
    await clock.advance(1);

    const first = await sweep(store, retention({ ...everythingBut("report") }), clock);
    const gone = await store.get(plain);
    const rules = retention({ finishedMs: every(HOUR), types: { report: NOW } });
    const second = await sweep(store, rules, clock);

    expect([first.jobs, gone, second.jobs]).toEqual([1, null, 1]);
  });
}

function everythingBut(type: string): Periods {
  return { finishedMs: NOW, types: { [type]: every(HOUR) } };
}

/** Prunes until nothing is left to be removed, as the runtime does, and adds up. */
async function sweep(
  store: JobStore,
  rules: Parameters<JobStore["prune"]>[0],
  clock: VirtualClock,
  limit = 100,
): Promise<Pick<Pruned, "jobs">> {
  let jobs = 0;
  for (let call = 0; call < 20; call += 1) {
    const pruned = await store.prune(rules, limit);
    jobs += pruned.jobs;
    if (!pruned.more && pruned.jobs === 0) return { jobs };
  }
  expect.fail(`still more after 20 calls at ${clock.now()}`);
}

function rescanTests(open: OpenStore): void {
  test("do not keep what lies behind them for ever, however many they are", async () => {
    await using db = await open();
    const { store, clock } = db;
    await store.enqueue(newJobs(2_500, { type: "report" }));
    for (let turn = 0; turn < 5; turn += 1) {
      await settleAll(store, await take(store, { limit: 500 }), completed());
    }
    await clock.advance(10);
    const behind = newJobs(30);
    await store.enqueue(behind);
    await settleAll(store, await take(store), completed());
    await clock.advance(10);
    const rules = retention(everythingBut("report"));

    const found = new Set<JobId>();
    for (let call = 0; call < 20 && found.size < 30; call += 1) {
      const { jobs } = await store.expired(rules, { ...FRESH, limit: 10 });
      expect(jobs.every(({ type }) => type === "email")).toBe(true);
      for (const { id } of jobs) found.add(id);
      await store.markStale(jobs.map(({ key }) => key));
    }
    let removed = 0;
    for (let call = 0; call < 20 && removed < 30; call += 1) {
      removed += (await store.prune(rules, 10)).jobs;
    }

    expect([found.size, removed]).toEqual([30, 30]);
    expect((await store.count({ type: "report" }, 3_000)).count).toBe(2_500);
  });

  test("are found when their time has come, after those behind them have gone", async () => {
    await using db = await open();
    const { store, clock } = db;
    await store.enqueue(newJobs(20, { type: "report" }));
    await settleAll(store, await take(store), completed());
    await clock.advance(10);
    await store.enqueue(newJobs(20));
    await settleAll(store, await take(store), completed());
    await clock.advance(10);
    const rules = retention(everythingBut("report"));

    const first = await sweep(store, rules, clock, 5);
    let later = 0;
    for (let call = 0; call < 100 && later < 20; call += 1) {
      await clock.advance(HOUR / 10);
      later += (await sweep(store, rules, clock, 5)).jobs;
    }

    expect([first.jobs, later]).toEqual([20, 20]);
  });

  test("are found when an operator shortens their period", async () => {
    await using db = await open();
    const { store, clock } = db;
    await store.enqueue(newJobs(20, { type: "report" }));
    await settleAll(store, await take(store), completed());
    await clock.advance(10);
    await store.prune(retention(everythingBut("report")), 5);
    await store.expired(everythingBut("report"), FRESH);

    let [found, removed] = [0, 0];
    for (let call = 0; call < 100 && removed < 20; call += 1) {
      await clock.advance(60_000);
      found ||= (await store.expired({ finishedMs: NOW }, FRESH)).jobs.length;
      removed += (await store.prune(KEEP_NO_JOBS, 5)).jobs;
    }

    expect([found, removed]).toEqual([20, 20]);
  });
}
