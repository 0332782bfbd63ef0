/** Types whose jobs kill their process one after the other: their gate is closed, probes run. */
import { describe, expect, test } from "vitest";
import {
  crashGateReason,
  LONE_DEATHS_MAX,
  PROBE_MS_MAX,
  PROBE_MS_MIN,
} from "../../../src/core/crashes.ts";
import type { Settlement } from "../../../src/core/outcome.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import {
  completed,
  completedWithErrors,
  diedAlone,
  failedWith,
  retention,
} from "../../support/factories.ts";
import {
  add,
  addCrashed,
  claimable,
  claimableAlone,
  claimRequest,
  joinWorker,
  loneRequest,
  recordOf,
  rescueSilent,
  settleAll,
  settleItem,
  stateOf,
  takeAlone,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import { wakes } from "../../support/flows.ts";

const EMAIL = { kind: "type", name: "email" } as const;
const SINCE = { closedAt: expect.any(Number) };
const CLOSED = { ...EMAIL, ...SINCE, until: null, reason: crashGateReason(3), by: "millrace" };
const PAUSED = { reason: "maintenance", by: "ada" } as const;
const LIMITS = { once: 1, often: 1, cap: 3 } as const;

export function crashStreakSuite(open: OpenStore): void {
  describe("rescue of runs that died alone", () => {
    test("closes the gate of the type at the third, and not before", async () => {
      await using db = await open();
      const { store, clock } = db;
      const gates: unknown[] = [];
      for (let count = 0; count < LONE_DEATHS_MAX; count += 1) {
        await dieAlone(store);
        await clock.advance(10);
        gates.push(await store.gates());
      }

      expect(gates).toEqual([[], [], [{ ...CLOSED, closedAt: clock.now() - 10 }]]);
      const [id] = await add(store, {});
      expect(await claimable(store)).toEqual([]);
      expect(await stateOf(store, id)).toBe("queued");
    });

    test.each([
      { end: "success", settlement: completed() },
      { end: "success with errors", settlement: completedWithErrors(1) },
    ])("counts from the beginning after a $end of the type", async ({ settlement }) => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);
      await endOne(store, settlement);
      await clock.advance(10);
      await die(store, clock, 2);

      expect(await store.gates()).toEqual([]);
      await dieAlone(store);
      expect(await store.gates()).toEqual([CLOSED]);
    });

    test("counts from the beginning after a success whose job was removed", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);
      await endOne(store, completed());
      const finishedMs = { ...retention().finishedMs, completed: 0 };
      expect(await store.prune(retention({ finishedMs }), 10)).toMatchObject({ jobs: 1 });

      await dieAlone(store);

      expect(await store.gates()).toEqual([]);
    });

    test("counts from the beginning after a success that is stored with a note", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);
      await add(store, { lane: "ends" });
      const batch = await takeOne(store, { lanes: ["ends"] });
      const progress = { phase: null, phases: [], percent: 100, overall: 100, data: null };
      const item = { ...settleItem(batch, batch.job, completed()), note: { progress } };
      expect(await store.settle([item])).toEqual(["settled"]);

      await dieAlone(store);

      expect(await store.gates()).toEqual([]);
    });

    test("goes on counting after other ends, and after successes of other types", async () => {
      await using db = await open();
      const { store, clock } = db;
      await endOne(store, completed());
      await clock.advance(10);
      await die(store, clock, 2);
      await endOne(store, failedWith());
      await endOne(store, completed(), { type: "sms" });
      await clock.advance(10);

      await dieAlone(store);

      expect(await store.gates()).toEqual([CLOSED]);
    });

    test("counts each type apart", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);
      await die(store, clock, 2, { type: "sms" });

      expect(await store.gates()).toEqual([]);
      await dieAlone(store, { type: "sms" });
      expect(await store.gates()).toMatchObject([{ kind: "type", name: "sms" }]);
    });

    test("counts no crash that was not the end of a lone run", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);
      await dieAlone(store, {}, { ...failedWith(), outcome: "crashed", crashes: 1 });

      expect(await store.gates()).toEqual([]);
    });

    test("leaves a pause of an operator as it is", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {}, {});
      const runs = [await takeOne(store), await takeOne(store), await takeOne(store)];
      const until = clock.now() + 10_000;
      await store.pause(EMAIL, { ...PAUSED, forMs: 10_000 });

      for (const { worker } of runs) {
        await store.deregister(worker);
        await rescueSilent(store, worker, { decide: diedAlone });
      }

      expect(await store.gates()).toEqual([{ ...EMAIL, ...PAUSED, ...SINCE, until }]);
      expect(await claimableAlone(store)).toBeNull();
    });

    test("closes the gate after a pause of an operator that is over", async () => {
      await using db = await open();
      const { store, clock } = db;
      await store.pause(EMAIL, { ...PAUSED, forMs: 5 });
      await clock.advance(10);

      await die(store, clock, LONE_DEATHS_MAX);

      expect(await store.gates()).toEqual([CLOSED]);
    });

    test("closes a gate that an operator has opened again", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 3);
      await store.resume(EMAIL);

      await die(store, clock, 2);
      expect(await store.gates()).toEqual([]);
      await dieAlone(store);

      expect(await store.gates()).toEqual([CLOSED]);
    });
  });

  describe("claimAlone of a probe", () => {
    test("takes a fresh job behind the gate, when the wait is over", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      const [, first] = await add(store, { priority: 2 }, { priority: 1 });
      await store.hold(100);

      await clock.advance(PROBE_MS_MIN - 1);
      expect(await claimableAlone(store)).toBeNull();
      expect(await awaitsAlone(store)).toBe(false);
      await clock.advance(1);
      expect(await awaitsAlone(store)).toBe(true);
      const claim = await takeAlone(store);

      expect(claim).toMatchObject({ isProbe: true, job: { id: first, n: 1, crashes: 0 } });
      expect(await recordOf(store, first)).toMatchObject({ state: "running", startedAt: null });
      expect(await claimable(store)).toEqual([]);
    });

    test("takes a job that is not yet held, with and without crashes", async () => {
      await using db = await open();
      const { store, clock } = db;
      const crashed = await addCrashed(store, 1, { priority: 1 });
      await closeGate(store, { priority: 0 });
      const [fresh] = await add(store, { priority: 2 });
      await clock.advance(PROBE_MS_MIN);

      const first = await takeAlone(store);
      await finish(store, first, { ...completed(), crashes: 1 });
      await clock.advance(2 * PROBE_MS_MIN);
      const second = await takeAlone(store);

      expect([first.job.id, second.job.id]).toEqual([crashed, fresh]);
      expect([first.isProbe, second.isProbe]).toEqual([true, true]);
    });

    test("takes the most urgent job, held or not", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, { priority: 2 });
      await store.hold(100);
      const [urgent] = await add(store, { priority: 1 });
      await clock.advance(PROBE_MS_MIN);

      expect((await takeAlone(store)).job.id).toBe(urgent);
    });

    test.each(["held", "not held"])("leaves its key to a job that is %s", async (place) => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      const keyed = { priority: 2, concurrencyKey: "account" };
      const [probe] = await add(store, keyed);
      if (place === "held") await store.hold(100);
      const [next] = await add(store, { ...keyed, type: "sms" });
      await clock.advance(PROBE_MS_MIN);
      const worker = await joinWorker(store);
      const crashed = { once: 1, often: 1, cap: 3 };

      expect(await claimable(store, { worker, crashed })).toEqual([]);
      expect(await claimableAlone(store)).toBe(probe);
      expect(await claimable(store, { worker, crashed })).toEqual([next]);
    });

    test("takes no job behind another gate", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await store.pause({ kind: "type", name: "sms" }, PAUSED);
      await add(store, { type: "sms", priority: 1 });
      const [id] = await add(store, { priority: 2 });
      await store.hold(100);
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBe(id);
    });

    test("waits twice as long before the next one, up to an hour", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, {});
      await store.hold(100);
      const waits: number[] = [];
      for (let ms = PROBE_MS_MIN; waits.length < 8; ms = Math.min(2 * ms, PROBE_MS_MAX)) {
        await clock.advance(ms - 1);
        expect(await claimableAlone(store)).toBeNull();
        await clock.advance(1);
        expect(await claimableAlone(store)).not.toBeNull();
        waits.push(ms);
      }

      expect(waits.at(-1)).toBe(PROBE_MS_MAX);
    });

    test("waits for each type apart", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await clock.advance(1);
      await closeGate(store, { type: "sms" });
      const ids = await add(store, { priority: 2 }, { type: "sms", priority: 1 });
      await clock.advance(PROBE_MS_MIN);

      // The longest due goes first, also if its jobs are less urgent.
      expect(await claimableAlone(store)).toBe(ids[0]);
      expect(await claimableAlone(store)).toBe(ids[1]);
      expect(await claimableAlone(store)).toBeNull();
    });

    test("goes before a job that has reached the cap", async () => {
      await using db = await open();
      const { store, clock } = db;
      const poison = await addCrashed(store, 3, { type: "sms", priority: 0 });
      await closeGate(store);
      const [probe] = await add(store, { priority: 5 });

      expect(await claimableAlone(store)).toBe(poison);
      await clock.advance(PROBE_MS_MIN);
      const worker = await joinWorker(store);
      const first = await store.claimAlone(loneRequest(worker));
      expect(first).toMatchObject({ isProbe: true, job: { id: probe } });
      await store.returnPrefetched(first!.lease, [first!.job.key]);
      const second = await store.claimAlone(loneRequest(worker));
      expect(second).toMatchObject({ isProbe: false, job: { id: poison } });
    });

    test("takes only the lanes, types and tenants asked for", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      const held = await add(store, { lane: "fast", tenant: "bolt" });
      await store.hold(100);
      await add(store, { lane: "bulk", tenant: "acme", priority: 1 });
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store, { types: ["sms"] })).toBeNull();
      expect(await claimableAlone(store, { lanes: ["slow"] })).toBeNull();
      expect(await claimableAlone(store, { tenants: ["cord"] })).toBeNull();
      const wanted = { types: ["email"], lanes: ["fast"], tenants: ["bolt"] };
      expect(await claimableAlone(store, wanted)).toBe(held[0]);
    });

    test.each([
      { kind: "lane", name: "bulk" },
      { kind: "tenant", name: "acme" },
    ] as const)("takes none behind a closed $kind", async (gate) => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, { lane: "bulk", tenant: "acme", priority: 1 });
      const [other] = await add(store, { priority: 2 });
      await store.hold(100);
      await store.pause(gate, PAUSED);
      await add(store, { lane: "bulk", tenant: "acme", priority: 1 });
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBe(other);
    });

    test.each(["held", "not held"])("takes none whose key is locked: %s", async (where) => {
      await using db = await open();
      const { store, clock } = db;
      const key = { concurrencyKey: "k" };
      await closeGate(store);
      const [held] = await add(store, { ...key, priority: 1 });
      const [other] = await add(store, { priority: 2 });
      if (where === "held") await store.hold(100);
      await add(store, { ...key, type: "sms" });
      const holder = await takeOne(store);
      await clock.advance(PROBE_MS_MIN);
      await store.renew(holder.worker, 3_600_000);

      expect(await claimableAlone(store)).toBe(other);
      await settleAll(store, holder, completed());
      await clock.advance(2 * PROBE_MS_MIN);
      const claim = await takeAlone(store);
      expect(claim.job.id).toBe(held);
      expect(await store.lockHolder("default", "k")).toBe(held);
    });

    test("stays one at a time, as every lone run", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, {}, {});
      await clock.advance(PROBE_MS_MIN);
      const claim = await takeAlone(store, {
        worker: await joinWorker(store, { leaseMs: DAY_MS }),
      });

      await clock.advance(2 * PROBE_MS_MIN);
      expect(await claimableAlone(store)).toBeNull();
      await store.returnPrefetched(claim.lease, [claim.job.key]);
      expect(await claimableAlone(store)).not.toBeNull();
    });

    test("keeps the gate closed when it dies, and names the new number", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, {}, {});
      await clock.advance(PROBE_MS_MIN);
      const probe = await takeAlone(store);
      await store.startPrefetched(probe.lease, [probe.job.key]);
      await store.deregister(probe.worker);
      await rescueSilent(store, probe.worker, { decide: diedAlone });

      expect(await store.gates()).toEqual([{ ...CLOSED, reason: crashGateReason(4) }]);
      await clock.advance(2 * PROBE_MS_MIN - 1);
      expect(await claimableAlone(store)).toBeNull();
      await clock.advance(1);
      expect(await claimableAlone(store)).not.toBeNull();
    });

    test("goes on though a run from before has succeeded and another one dies", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { lane: "bulk" }, { lane: "bulk" });
      const good = await takeOne(store, { lanes: ["bulk"] });
      const bad = await takeOne(store, { lanes: ["bulk"] });
      await closeGate(store);
      await clock.advance(10);
      await settleAll(store, good, completed());
      await clock.advance(10);
      await store.deregister(bad.worker);
      await rescueSilent(store, bad.worker, { decide: diedAlone });
      const [id] = await add(store, {});

      expect(await store.gates()).toMatchObject([{ ...EMAIL, by: "millrace" }]);
      await clock.advance(PROBE_MS_MIN);
      expect(await claimableAlone(store)).toBe(id);
    });

    test("is not allowed behind a pause of an operator", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await add(store, {});
      await store.pause(EMAIL, PAUSED);
      await clock.advance(PROBE_MS_MIN);

      expect(await store.gates()).toEqual([{ ...EMAIL, ...PAUSED, ...SINCE, until: null }]);
      expect(await claimableAlone(store)).toBeNull();
      expect(await awaitsAlone(store)).toBe(false);
    });

    test("ends when an operator opens the gate", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      const [id] = await add(store, {});
      await store.resume(EMAIL);
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBeNull();
      expect(await claimable(store)).toEqual([id]);
    });

    test("goes on when an operator pauses or opens something of the same name", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      const [id] = await add(store, {});
      await store.pause({ kind: "lane", name: "email" }, PAUSED);
      await store.resume({ kind: "lane", name: "email" });
      await clock.advance(PROBE_MS_MIN);

      expect(await claimableAlone(store)).toBe(id);
    });
  });

  describe("endCrashStreak", () => {
    test("opens the gate, and the jobs behind it come back", async () => {
      await using db = await open();
      const { store } = db;
      await closeGate(store);
      const [held] = await add(store, {});
      await store.hold(100);

      await store.endCrashStreak("email");

      expect(await store.gates()).toEqual([]);
      await store.release(100);
      expect(await claimable(store)).toEqual([held]);
    });

    test("counts from the beginning, also where the gate was open", async () => {
      await using db = await open();
      const { store, clock } = db;
      await die(store, clock, 2);

      await store.endCrashStreak("email");
      await die(store, clock, 2);

      expect(await store.gates()).toEqual([]);
      await dieAlone(store);
      expect(await store.gates()).toEqual([CLOSED]);
    });

    test("wakes the workers", async () => {
      await using db = await open();
      const { store } = db;
      await closeGate(store);

      await wakes(db, () => store.endCrashStreak("email"));

      expect(await store.gates()).toEqual([]);
    });

    test("leaves the gates and the probes of other types as they are", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store);
      await closeGate(store, { type: "sms" });
      const [id] = await add(store, { type: "sms" });

      await store.endCrashStreak("email");

      expect((await store.gates()).map(({ name }) => name)).toEqual(["sms"]);
      await clock.advance(PROBE_MS_MIN);
      expect(await claimableAlone(store)).toBe(id);
    });

    test("opens no gate that an operator has closed, and no gate of another type", async () => {
      await using db = await open();
      const { store, clock } = db;
      await closeGate(store, { type: "sms" });
      await die(store, clock, 2);
      await store.pause(EMAIL, PAUSED);
      await dieAlone(store, { lane: "fast", type: "push" });

      await store.endCrashStreak("email");
      await store.endCrashStreak("push");
      await store.endCrashStreak("unknown");

      expect((await store.gates()).map(({ name }) => name).toSorted()).toEqual(["email", "sms"]);
    });
  });
}

const DAY_MS = 86_400_000;

/** Lets a new job start and die with its process. No other job may wait. */
async function dieAlone(
  store: JobStore,
  overrides: Partial<NewJob> = {},
  settlement: Settlement = diedAlone(),
): Promise<void> {
  const lane = overrides.lane ?? "deaths";
  await add(store, { ...overrides, lane });
  const { worker } = await takeOne(store, { lanes: [lane] });
  await store.deregister(worker);
  await rescueSilent(store, worker, { decide: () => settlement });
}

async function die(
  store: JobStore,
  clock: { advance(ms: number): Promise<void> },
  times: number,
  overrides: Partial<NewJob> = {},
): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await dieAlone(store, overrides);
    await clock.advance(10);
  }
}

/** Closes the gate of the type by three deaths at the same moment. */
async function closeGate(store: JobStore, overrides: Partial<NewJob> = {}): Promise<void> {
  for (let count = 0; count < LONE_DEATHS_MAX; count += 1) await dieAlone(store, overrides);
}

/** Lets a new job run and end. */
async function endOne(
  store: JobStore,
  settlement: Settlement,
  overrides: Partial<NewJob> = {},
): Promise<void> {
  await add(store, { ...overrides, lane: "ends" });
  await settleAll(store, await takeOne(store, { lanes: ["ends"] }), settlement);
}

async function finish(
  store: JobStore,
  claim: Awaited<ReturnType<typeof takeAlone>>,
  settlement: Settlement,
): Promise<void> {
  await store.startPrefetched(claim.lease, [claim.job.key]);
  const item = settleItem({ ...claim, jobs: [claim.job] }, claim.job, settlement);
  expect(await store.settle([item])).toEqual(["settled"]);
}

async function awaitsAlone(store: JobStore): Promise<boolean> {
  const worker = await joinWorker(store);
  return (await store.claim(claimRequest(worker, { crashed: LIMITS }))).awaitsAlone;
}
