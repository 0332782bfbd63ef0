/** Jobs that have crashed before: in how much company they run, and how they run alone. */
import { describe, expect, test } from "vitest";
import { CANNOT_EMPTY, EMPTY_MS_MAX } from "../../src/runtime/crashes/lone-runs.ts";
import type { JobId } from "../../src/core/job.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import { failedWith, newJob } from "../support/factories.ts";
import { addCrashed, stateOf } from "../support/steps.ts";
import { openSqlite, type TestStore } from "../support/stores.ts";
import { BlameFleet, type FleetPlan, type Work } from "./fleet.ts";

const POISON = { kind: "type", name: "poison" } as const;

describe("jobs with one crash", () => {
  test("take at most half of the slots of a process, over all its workers", async () => {
    await using db = await openSqlite();
    for (let count = 0; count < 10; count += 1) await crashed(db, 1, { ms: 5_000 });
    const fleet = await started(db, { processes: 1, workers: [4, 4] });

    await fleet.advance(40_000);

    expect(fleet.runs).toHaveLength(10);
    expect(fleet.mostAtOnce).toBe(4);
  });
});

describe("jobs with two crashes", () => {
  test("take at most an eighth of the slots, and at least one", async () => {
    await using db = await openSqlite();
    for (let count = 0; count < 4; count += 1) await crashed(db, 2, { ms: 5_000 });
    const fleet = await started(db, { processes: 1, workers: [4] });

    await fleet.advance(40_000);

    expect(fleet.runs).toHaveLength(4);
    expect(fleet.mostAtOnce).toBe(1);
  });
});

describe("a job at the crash cap", () => {
  test("starts when its process is empty, and nothing starts beside it", async () => {
    await using db = await openSqlite();
    const long = await enqueued(db, { ms: 10_000 });
    const fleet = await started(db, { processes: 1, workers: [2, 2] });
    await fleet.advance(1_000);
    const lone = await crashed(db, 3, { ms: 10_000 });
    await fleet.advance(5_000);
    const late = await enqueued(db, { ms: 1_000 });

    await fleet.advance(60_000);

    expect(fleet.runs.map(({ id }) => id)).toEqual([long, lone, late]);
    expect(fleet.mostAtOnce).toBe(1);
    expect(await stateOf(db.store, lone)).toBe("completed");
  });

  test("finds no job marked as started in the workers and lanes of its process", async () => {
    await using db = await openSqlite();
    const jobs = (ms: number): NewJob[] =>
      ["image", "mail", "report"].flatMap((lane) =>
        Array.from({ length: 5 }, () => newJob({ ...jobOf({ ms }), lane })),
      );
    const fleet = await started(db, {
      processes: 1,
      workers: [{ image: 1 }, { mail: 1, report: 1, lone: 1 }],
    });
    // A lane that has seen short runs prefetches, and marks one job per slot ahead.
    await db.store.enqueue(jobs(1));
    await fleet.advance(2_000);
    await db.store.enqueue(jobs(1_500));
    await fleet.advance(1_000);
    expect(await begun(db)).toBe(6);
    const lone = await addCrashed(db.store, 3, { ...jobOf({ ms: 60_000 }), lane: "lone" });

    await fleet.runUntil(async () => fleet.runs.some(({ id }) => id === lone), 60_000);

    expect(await begun(db)).toBe(1);
    expect(fleet.runs.at(-1)).toMatchObject({ id: lone, until: Infinity });
  });

  test.each([
    ["handler", {}],
    ["unit", { isUnit: true }],
  ])("waits for a %s that goes on after its run, and other jobs do not wait", async (_, how) => {
    await using db = await openSqlite();
    const deaf = deafJob({ ms: 60_000, ...how });
    await db.store.enqueue([deaf]);
    const fleet = await started(db, { processes: 1, workers: [2] });
    await fleet.advance(10_000);
    expect(await stateOf(db.store, deaf.id)).toBe("failed");
    const lone = await crashed(db, 3, { ms: 1_000 });
    await fleet.advance(5_000);
    const late = await enqueued(db, { ms: 1_000 });

    await fleet.advance(40_000);
    expect(fleet.runs.map(({ id }) => id)).toEqual([deaf.id, late]);
    expect(fleet.logged.filter((message) => message === CANNOT_EMPTY)).toHaveLength(1);
    await fleet.advance(10_000);

    expect(await stateOf(db.store, lone)).toBe("completed");
    expect(fleet.runs.filter(({ id }) => id === lone)).toHaveLength(1);
  });

  test("goes back when a run ends without its handler while the process empties", async () => {
    await using db = await openSqlite();
    const deaf = deafJob({ ms: 600_000 }, 20_000);
    await db.store.enqueue([deaf]);
    const fleet = await started(db, { processes: 1, workers: [2] });
    await fleet.advance(1_000);
    const lone = await crashed(db, 3, { ms: 1_000 });
    await fleet.advance(10_000);
    expect(await stateOf(db.store, lone)).toBe("running");
    const late = await enqueued(db, { ms: 1_000 });

    await fleet.advance(30_000);

    expect(fleet.runs.map(({ id }) => id)).toEqual([deaf.id, late]);
    expect(await stateOf(db.store, lone)).toBe("queued");
  });

  test.each(["mail", "report"])("is found in the lane %s, whichever claims last", async (lane) => {
    await using db = await openSqlite();
    const fleet = await started(db, { processes: 1, workers: [{ mail: 1, report: 1 }] });
    await fleet.advance(1_000);
    const lone = await addCrashed(db.store, 3, { ...jobOf({ ms: 1_000 }), lane });

    await fleet.advance(20_000);

    expect(await stateOf(db.store, lone)).toBe("completed");
  });

  test.each([
    ["cancelled", (store: JobStore, id: JobId) => store.cancel(id, null, null)],
    ["failed", (store: JobStore, id: JobId) => store.intervene(id, () => failedWith())],
  ])("gives its process back when it is %s before the start", async (state, end) => {
    await using db = await openSqlite();
    const long = await enqueued(db, { ms: 600_000 });
    const fleet = await started(db, { processes: 1, workers: [2] });
    await fleet.advance(1_000);
    const lone = await crashed(db, 3, { ms: 600_000 });
    await fleet.advance(5_000);
    const late = await enqueued(db, { ms: 1_000 });
    await fleet.advance(5_000);
    expect(await stateOf(db.store, late)).toBe("queued");

    await end(db.store, lone);
    await fleet.advance(2_000);

    expect(fleet.runs.map(({ id }) => id)).toEqual([long, late]);
    expect(await stateOf(db.store, lone)).toBe(state);
  });

  test("runs although fresh jobs of its key come faster than they end", async () => {
    await using db = await openSqlite();
    const lone = await crashed(db, 3, { ms: 1_000 }, { type: "poison", concurrencyKey: "account" });
    await db.store.pause(POISON, { reason: "not yet", by: null });
    const fleet = await started(db, { processes: 1, workers: [4] });
    for (let second = 0; second < 30; second += 1) {
      if (second === 10) await db.store.resume(POISON);
      await enqueued(db, { ms: 2_500 });
      for (let count = 0; count < 5; count += 1) {
        await enqueued(db, { ms: 300 }, { concurrencyKey: "account" });
      }
      await fleet.advance(1_000);
    }

    expect(await stateOf(db.store, lone)).toBe("completed");
  });

  test("goes first in a new process", async () => {
    await using db = await openSqlite();
    const first = await enqueued(db, { ms: 1_000 });
    const lone = await crashed(db, 3, { ms: 1_000 });
    const fleet = await started(db, { processes: 1, workers: [4] });

    await fleet.advance(10_000);

    expect(fleet.runs.map(({ id }) => id)).toEqual([lone, first]);
  });

  test("empties one process of the fleet at a time", async () => {
    await using db = await openSqlite();
    for (let count = 0; count < 3; count += 1) await crashed(db, 3, { ms: 5_000 });
    for (let count = 0; count < 3; count += 1) await enqueued(db, { ms: 30_000 });
    const fleet = await started(db, { processes: 2, workers: [2] });

    await fleet.advance(4_000);

    expect(fleet.runs).toHaveLength(3);
    expect(fleet.logged.filter((message) => message.includes("emptied"))).toHaveLength(1);
  });

  test("goes back when the process does not become empty, and other jobs start again", async () => {
    await using db = await openSqlite();
    const endless = await enqueued(db, { ms: 3 * EMPTY_MS_MAX });
    const fleet = await started(db, { processes: 1, workers: [2] });
    await fleet.advance(1_000);
    const lone = await crashed(db, 3, { ms: 1_000 });
    await fleet.advance(5_000);
    const late = await enqueued(db, { ms: 1_000 });
    await fleet.advance(60_000);
    expect(fleet.runs.map(({ id }) => id)).toEqual([endless]);

    await fleet.advance(EMPTY_MS_MAX);

    expect(fleet.runs.map(({ id }) => id)).toEqual([endless, late]);
    expect(await stateOf(db.store, lone)).toBe("queued");
  });

  test("goes back uncharged when its worker stops before the start", async () => {
    await using db = await openSqlite();
    await enqueued(db, { ms: 8_000 });
    const fleet = await started(db, { processes: 1, workers: [2] });
    await fleet.advance(1_000);
    const lone = await crashed(db, 3, { ms: 1_000 });
    await fleet.advance(5_000);
    expect(await stateOf(db.store, lone)).toBe("running");

    const stopped = fleet.workers[0]!.stop();
    await fleet.advance(5_000);
    await stopped;

    expect(await stateOf(db.store, lone)).toBe("queued");
    expect(await db.store.attempts(lone)).toHaveLength(3);
  });
});

describe("a type whose jobs have died alone", () => {
  test("is opened again by a probe that succeeds", async () => {
    await using db = await openSqlite();
    for (let count = 0; count < 3; count += 1) await crashed(db, 3, { ms: 0, diesAfterMs: 10 });
    const fleet = await started(db, { processes: 1, workers: [4] });
    await fleet.advance(30_000);
    expect(await db.store.gates()).toMatchObject([{ kind: "type", name: "healthy" }]);
    const waiting = await Promise.all([1, 2, 3].map(() => enqueued(db, { ms: 1_000 })));
    await fleet.advance(20_000);
    expect(fleet.runs).toHaveLength(3);

    await fleet.advance(60_000);

    expect(await db.store.gates()).toEqual([]);
    for (const id of waiting) expect(await stateOf(db.store, id)).toBe("completed");
    expect(fleet.deaths.own).toBe(3);
  });
});

async function started(db: TestStore, plan: FleetPlan): Promise<BlameFleet> {
  const fleet = new BlameFleet(db, plan, 1);
  await fleet.start();
  return fleet;
}

async function enqueued(
  { store }: TestStore,
  work: Work,
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const job = newJob({ ...jobOf(work), ...overrides });
  await store.enqueue([job]);
  return job.id;
}

/** A job whose only run ends by its time-out, without its handler. */
function deafJob(work: Work, timeoutMs = 1_000): NewJob {
  return newJob({ ...jobOf(work), timeoutMs, maxAttempts: 1 });
}

/** How many runs the store knows as begun. */
async function begun({ store }: TestStore): Promise<number> {
  const workers = await store.workers(10);
  return workers.reduce((total, { running }) => total + running, 0);
}

/** A waiting job that has crashed so often. In a lane of its own, no other job is claimed. */
function crashed(
  { store }: TestStore,
  crashes: number,
  work: Work,
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const lane = `crashed-${(lanes += 1)}`;
  return addCrashed(store, crashes, { ...jobOf(work), lane, ...overrides });
}

let lanes = 0;

function jobOf(work: Work) {
  return { type: "healthy", payload: JSON.stringify(work), timeoutMs: null };
}
