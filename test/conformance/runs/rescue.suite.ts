import { describe, expect, test } from "vitest";
import type { JobId, State } from "../../../src/core/job.ts";
import type { RunFacts, Settlement } from "../../../src/core/outcome.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { RescueAnswer, WorkerId } from "../../../src/store/types/jobs-and-runs.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  fault,
  newJob,
  newJobs,
  retryIn,
  runAgain,
  workerId,
  workerInfo,
} from "../../support/factories.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  joinWorker,
  recordOf,
  rescueSilent,
  runOne,
  settleItem,
  stateOf,
  take,
  takeOne,
  startAll,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const LEASE_AND_MORE_MS = 30_001;

export function rescueSuite(open: OpenStore): void {
  describe("rescue", () => {
    test("takes started jobs through the settle door, charged (C-05, 002-02, 002-32)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      const startedAt = clock.now();
      await clock.advance(LEASE_AND_MORE_MS);
      const dueAt = clock.now() + 2_000;

      const rescue = await rescueSilent(store, batch.worker, { decide: () => crashedIn(2_000) });

      expect(rescue).toEqual({
        returned: 0,
        settled: [{ id, to: "scheduled" }],
        missing: [],
        done: true,
      });
      expect(await recordOf(store, id)).toMatchObject({
        state: "scheduled",
        runAt: dueAt,
        attempts: 1,
        crashes: 1,
      });
      expect(await store.attempts(id)).toMatchObject([
        {
          n: 1,
          fence: batch.lease.number,
          worker: batch.worker,
          claimedAt: startedAt,
          startedAt,
          finishedAt: clock.now(),
          outcome: "crashed",
          nextRunAt: dueAt,
        },
      ]);
      expect((await eventsOf(store, id)).at(-1)).toBe("job:retrying");
    });

    test("hands the decision the facts of each job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const fresh = newJob({ maxAttempts: 7, onOrphan: "fail" });
      const seasoned = newJob({ maxAttempts: 9, retryOwner: "supervisor" });
      await store.enqueue([seasoned]);
      await runOne(store, crashedOnce());
      await runOne(store, { ...crashedOnce(), tries: 2, crashes: 1 });
      await store.enqueue([fresh]);
      const batch = await take(store);
      await clock.advance(LEASE_AND_MORE_MS);
      const asked: RunFacts[] = [];

      await rescueSilent(store, batch.worker, {
        decide(job) {
          asked.push(job);
          return crashedOnce();
        },
      });

      expect(asked.toSorted((a, b) => a.maxAttempts - b.maxAttempts)).toMatchObject([
        { tries: 0, crashes: 0, maxAttempts: 7, onOrphan: "fail", retryOwner: "queue" },
        { tries: 2, crashes: 1, maxAttempts: 9, onOrphan: "retry", retryOwner: "supervisor" },
      ]);
    });

    test("asks whether the run was alone: not if its process had begun another (I7)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      const { worker } = await take(store, { limit: 1 });
      await clock.advance(1);
      await take(store, { worker, limit: 2 });
      await clock.advance(LEASE_AND_MORE_MS);

      expect(await verdictsOf(store, worker)).toEqual([false, false, false]);
    });

    test("finds a run alone beside ended runs and prefetched jobs (I7)", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      const batch = await take(store, { limit: 2 });
      await take(store, { worker: batch.worker, prefetch: true });
      await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
      await clock.advance(LEASE_AND_MORE_MS);

      expect(await verdictsOf(store, batch.worker)).toEqual([true]);
    });

    test("finds a run alone though workers of other processes died as well", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      const [two, one] = [await take(store, { limit: 2 }), await takeOne(store)];
      await clock.advance(LEASE_AND_MORE_MS);

      // The runs of the other process are still open when this one is counted.
      expect(await verdictsOf(store, one.worker)).toEqual([true]);
      expect(await verdictsOf(store, two.worker)).toEqual([false, false]);
    });

    test("finds a run alone though a process with several runs was rescued before", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      const [several, one] = [await take(store, { limit: 2 }), await takeOne(store)];
      await clock.advance(LEASE_AND_MORE_MS);

      expect(await verdictsOf(store, several.worker)).toEqual([false, false]);
      expect(await verdictsOf(store, one.worker)).toEqual([true]);
    });

    test("finds no run alone where two workers of a process had begun one each", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      const process = workerId();
      const one = await takeOne(store, { worker: await joinWorker(store, { process }) });
      const other = await takeOne(store, { worker: await joinWorker(store, { process }) });
      await clock.advance(LEASE_AND_MORE_MS);

      // The first worker and its run are gone before the second is rescued.
      expect(await verdictsOf(store, one.worker)).toEqual([false]);
      expect(await verdictsOf(store, other.worker)).toEqual([false]);
    });

    test("finds a run alone whose process has another worker without a run", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      const process = workerId();
      const idle = await joinWorker(store, { process });
      const busy = await takeOne(store, { worker: await joinWorker(store, { process }) });
      await take(store, { worker: idle, prefetch: true });
      await clock.advance(LEASE_AND_MORE_MS);

      expect(await verdictsOf(store, idle)).toEqual([]);
      expect(await verdictsOf(store, busy.worker)).toEqual([true]);
    });

    test("gives the same verdict on all runs, however many transactions that takes", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.enqueue(newJobs(5));
      const { worker } = await take(store, { limit: 3 });
      await take(store, { worker, limit: 2 });
      await clock.advance(LEASE_AND_MORE_MS);

      const verdicts: boolean[] = [];
      for (let chunk = 0; chunk < 5; chunk += 1) {
        verdicts.push(...(await verdictsOf(store, worker, 1)));
      }

      expect(verdicts).toEqual([false, false, false, false, false]);
      expect(await store.silent(10)).toEqual([]);
    });

    test.each(["renew", "register"] as const)(
      "counts anew after a worker has come back between two transactions: %s",
      async (verb) => {
        await using db = await open();
        const { store, clock } = db;
        await add(store, {}, {});
        const info = workerInfo();
        await store.register(info);
        await take(store, { worker: info.id });
        await clock.advance(LEASE_AND_MORE_MS);
        const first = await verdictsOf(store, info.id, 1);
        await (verb === "renew" ? store.renew(info.id, 1_000) : store.register(info));
        await clock.advance(LEASE_AND_MORE_MS);

        expect(first).toEqual([false]);
        expect(await verdictsOf(store, info.id)).toEqual([true]);
      },
    );

    test("counts anew for a worker that has outlived another of its process", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      const process = workerId();
      const one = await takeOne(store, { worker: await joinWorker(store, { process }) });
      const other = await takeOne(store, { worker: await joinWorker(store, { process }) });
      await clock.advance(LEASE_AND_MORE_MS);
      const first = await verdictsOf(store, one.worker);
      await store.renew(other.worker, 1_000);
      await clock.advance(LEASE_AND_MORE_MS);

      expect(first).toEqual([false]);
      expect(await verdictsOf(store, other.worker)).toEqual([true]);
    });

    test("does with each job what the decision says (C-05)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [dies, waits, again] = await add(
        store,
        { onOrphan: "fail", payload: '{"marker":"m4rk3r"}' },
        { maxAttempts: 2 },
        { maxAttempts: 3 },
      );
      const batch = await take(store);
      await clock.advance(LEASE_AND_MORE_MS);
      const error = fault({ name: "CrashError", message: "its worker died" });

      const rescue = await rescueSilent(store, batch.worker, {
        decide: (job) => {
          if (job.onOrphan === "fail") return { ...failedWith(error), outcome: "crashed" };
          return job.maxAttempts === 2 ? crashedIn(500) : crashedOnce();
        },
      });

      expect(byId(rescue)).toEqual(
        new Map<JobId, State>([
          [dies, "failed"],
          [waits, "scheduled"],
          [again, "queued"],
        ]),
      );
      expect(await stateOf(store, dies)).toBe("failed");
      expect(await store.deadLetter(dies)).toMatchObject({ id: dies, fault: error, attempts: 1 });
      expect((await store.deadLetter(dies))?.spec).toContain("m4rk3r");
      expect((await eventsOf(store, dies)).at(-1)).toBe("job:failed");
      expect(await claimable(store)).toEqual([again]);
    });

    test("returns a prefetch uncharged and unasked (I7)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const jobs = newJobs(3);
      await store.enqueue(jobs);
      const batch = await take(store, { prefetch: true });
      await clock.advance(LEASE_AND_MORE_MS);
      const [latecomer] = await add(store, {});

      const rescue = await rescueSilent(store, batch.worker, {
        decide() {
          throw new Error("a prefetch asks no decision");
        },
      });

      expect(rescue).toEqual({ returned: 3, settled: [], missing: [], done: true });
      expect(await store.attempts(jobs[0]!.id)).toEqual([]);
      expect(await recordOf(store, jobs[0]!.id)).toMatchObject({
        state: "queued",
        attempts: 0,
        crashes: 0,
      });
      const again = await take(store);
      expect(again.jobs.map((job) => job.id)).toEqual([...jobs.map((job) => job.id), latecomer]);
      expect(at(again.jobs, 0)).toEqual(at(batch.jobs, 0));
    });

    test("tells a started lease of a worker from its prefetch", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [running, buffered] = await add(store, {}, {});
      const run = await take(store, { limit: 1 });
      await take(store, { worker: run.worker, prefetch: true, limit: 1 });
      await clock.advance(LEASE_AND_MORE_MS);

      const rescue = await rescueSilent(store, run.worker, { decide: () => crashedIn(10) });

      expect(rescue).toEqual({
        returned: 1,
        settled: [{ id: running, to: "scheduled" }],
        missing: [],
        done: true,
      });
      expect(await stateOf(store, buffered)).toBe("queued");
    });

    test("treats a prefetch that was begun as started", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await startAll(store, batch);
      await clock.advance(LEASE_AND_MORE_MS);

      const rescue = await rescueSilent(store, batch.worker, { decide: crashedOnce });

      expect(rescue).toMatchObject({ returned: 0, settled: [{ id, to: "queued" }] });
    });

    test("leaves alone what was settled or handed back before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [done, lost, kept, back] = await add(store, {}, {}, {}, {});
      await runOne(store, runAgain());
      const run = await take(store, { limit: 2 });
      const prefetch = await take(store, { worker: run.worker, prefetch: true });
      await store.settle([settleItem(run, at(run.jobs, 0), completed())]);
      await store.returnPrefetched(prefetch.lease, [at(prefetch.jobs, 1).key]);
      await clock.advance(LEASE_AND_MORE_MS);

      const rescue = await rescueSilent(store, run.worker, { decide: () => crashedIn(10) });

      expect(rescue).toEqual({
        returned: 1,
        settled: [{ id: lost, to: "scheduled" }],
        missing: [],
        done: true,
      });
      expect(await stateOf(store, done)).toBe("completed");
      expect(await store.attempts(done)).toHaveLength(2);
      expect(await claimable(store)).toEqual([kept, back]);
    });

    test("moves nothing when the worker has beaten since it was seen", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await clock.advance(LEASE_AND_MORE_MS);
      const { beats } = at(await store.silent(1), 0);
      await store.renew(batch.worker, 1_000);
      // Silent again: only the count of beats tells that this silence is another one.
      await clock.advance(1_001);

      const rescue = await store.rescue({
        worker: batch.worker,
        beats,
        limit: 10,
        decide: crashedOnce,
      });

      expect(rescue).toEqual({ returned: 0, settled: [], missing: [], done: false });
      expect(await stateOf(store, id)).toBe("running");
      expect(await store.settle([settleItem(batch, batch.job, completed())])).toEqual(["settled"]);
    });

    test("moves nothing of a worker whose lease stands (I5)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await clock.advance(LEASE_AND_MORE_MS);
      const { beats } = at(await store.silent(1), 0);
      await store.renew(batch.worker, 60_000);

      const rescues = [];
      for (const seen of [beats, beats + 1]) {
        const request = { worker: batch.worker, beats: seen, limit: 10, decide: crashedOnce };
        rescues.push(await store.rescue(request));
      }

      expect(rescues).toMatchObject([
        { returned: 0, settled: [] },
        { returned: 0, settled: [] },
      ]);
      expect(await stateOf(store, id)).toBe("running");
      expect(await store.renew(batch.worker, 1_000)).toMatchObject({ status: "renewed" });
    });

    test("moves no more than asked, and all in the end", async () => {
      await using db = await open();
      const { store, clock } = db;
      const jobs = newJobs(9);
      await store.enqueue(jobs);
      const run = await take(store, { limit: 3 });
      await take(store, { worker: run.worker, limit: 2 });
      await take(store, { worker: run.worker, limit: 4, prefetch: true });
      await clock.advance(LEASE_AND_MORE_MS);

      const rescues: RescueAnswer[] = [];
      do {
        rescues.push(
          await rescueSilent(store, run.worker, { limit: 2, decide: () => crashedIn(10) }),
        );
      } while (!rescues.at(-1)?.done && rescues.length < 20);

      const moved = rescues.map((rescue) => rescue.returned + rescue.settled.length);
      expect(Math.max(...moved)).toBe(2);
      expect(rescues[0]?.done).toBe(false);
      expect(moved.reduce((sum, count) => sum + count)).toBe(9);
      expect(rescues.flatMap((rescue) => rescue.settled.map(({ id }) => id)).toSorted()).toEqual(
        jobs
          .slice(0, 5)
          .map((job) => job.id)
          .toSorted(),
      );
      expect((await store.count({ states: ["scheduled"] }, 20)).count).toBe(5);
      expect((await store.count({ states: ["queued"] }, 20)).count).toBe(4);
      expect((await store.count({ states: ["running"] }, 20)).count).toBe(0);
    });

    test("counts a job of a prefetch that it ends as one of those it may move", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [asked] = await add(store, {}, {});
      const { worker } = await take(store, { limit: 1, prefetch: true });
      await take(store, { worker, limit: 1, prefetch: true });
      await store.cancel(asked, null, null);
      await clock.advance(LEASE_AND_MORE_MS);
      const request = { worker, beats: 0, limit: 1, decide: crashedOnce };

      const first = await store.rescue(request);
      const second = await store.rescue(request);

      expect(first).toEqual({ returned: 0, settled: [], missing: [], done: false });
      expect(await stateOf(store, asked)).toBe("cancelled");
      expect(second).toMatchObject({ returned: 1, settled: [], done: true });
    });

    test("moves each job once when two handles rescue at once", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      const jobs = newJobs(20);
      await store.enqueue(jobs);
      const { worker } = await take(store);
      await clock.advance(LEASE_AND_MORE_MS);
      const { beats } = at(await store.silent(1), 0);
      const request = { worker, beats, limit: 100, decide: crashedOnce };

      const rescues = await Promise.all([store.rescue(request), other.rescue(request)]);

      const moved = rescues.flatMap((rescue) => rescue.settled.map(({ id }) => id));
      expect(moved.toSorted()).toEqual(jobs.map((job) => job.id).toSorted());
      expect(await store.attempts(jobs[0]!.id)).toHaveLength(1);
      expect(await claimable(store)).toHaveLength(20);
    });

    test("touches no other worker, silent or living", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [, silentToo, living] = await add(store, {}, {}, {});
      const dead = await takeOne(store);
      await takeOne(store);
      const alive = await takeOne(store, { worker: await joinWorker(store, { leaseMs: 90_000 }) });
      await clock.advance(LEASE_AND_MORE_MS);

      await rescueSilent(store, dead.worker, { decide: crashedOnce });

      expect(await stateOf(store, silentToo)).toBe("running");
      expect(await stateOf(store, living)).toBe("running");
      expect(await store.silent(10)).toHaveLength(1);
      expect(await store.renew(alive.worker, 1_000)).toMatchObject({ status: "renewed" });
    });

    test("forgets the worker, which is then lost", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const { worker } = await takeOne(store);
      await clock.advance(LEASE_AND_MORE_MS);

      await rescueSilent(store, worker, { decide: crashedOnce });

      expect(await store.silent(10)).toEqual([]);
      expect(await store.renew(worker, 1_000)).toEqual({ status: "lost" });
    });

    test("moves nothing when the decision throws, and can be tried again", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {});
      const { worker } = await take(store);
      await clock.advance(LEASE_AND_MORE_MS);
      let asked = 0;
      const decide = (): Settlement => {
        asked += 1;
        if (asked === 2) throw new Error("undecided");
        return crashedOnce();
      };

      await expect(rescueSilent(store, worker, { decide })).rejects.toThrow("undecided");

      expect(await store.attempts(ids[0])).toEqual([]);
      expect(await stateOf(store, ids[0])).toBe("running");
      const rescue = await rescueSilent(store, worker, { decide: crashedOnce });
      expect(rescue.settled).toHaveLength(2);
    });

    test("does not lose a request to cancel (I8)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await add(store, {});
      const batch = await take(store, { prefetch: true });
      await store.cancel(id, "ada", null);
      await clock.advance(LEASE_AND_MORE_MS);

      await rescueSilent(store, batch.worker, { decide: crashedOnce });
      const worker = await joinWorker(store);
      const next = await store.claim({ worker, lanes: "any", limit: 1, prefetch: true });
      if (next.lease) await startAll(store, next);

      expect(await stateOf(store, id)).toBe("cancelled");
    });
  });
}

/** Whether each started run of a silent worker was alone, as the decision is told. */
async function verdictsOf(store: JobStore, worker: WorkerId, limit = 100): Promise<boolean[]> {
  const verdicts: boolean[] = [];
  await rescueSilent(store, worker, {
    limit,
    decide(_, isAlone) {
      verdicts.push(isAlone);
      return crashedIn(60_000);
    },
  });
  return verdicts;
}

function crashedIn(delayMs: number): Settlement {
  return { ...retryIn(delayMs), outcome: "crashed", crashes: 1, fault: null };
}

function byId(rescue: RescueAnswer): ReadonlyMap<JobId, State> {
  return new Map(rescue.settled.map(({ id, to }) => [id, to]));
}
