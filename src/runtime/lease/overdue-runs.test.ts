import { describe, expect, test } from "vitest";
import { workerInfo } from "../../../test/support/factories.ts";
import { add, at, joinWorker, recordOf, takeOne } from "../../../test/support/steps.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { defaults } from "../../core/presets.ts";
import { makeSqliteStore } from "../../store/sqlite/create.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";
import { OverdueWatch } from "./overdue-runs.ts";

const BEAT_MS = 1_000;
/** What the worker itself gets: five seconds for a deaf handler, and two beats. */
const SLACK_MS = 7_000;
const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;

/** A worker's runs, a steady clock, and a store whose clock can jump away from it. */
async function makeWorld() {
  const steady = virtualClock();
  let aheadMs = 0;
  const clock = { ...steady, now: () => steady.now() + aheadMs };
  const store = makeSqliteStore({ path: ":memory:" }, { clock });
  await store.open();
  const { leaseMs } = workerInfo();
  const worker = await joinWorker(store);
  const policyOf = () => defaults.retry;
  const dice = { random: () => 0.5 };
  const parts = { store, clock: steady, dice, worker, beatMs: BEAT_MS, policyOf };
  const watch = new OverdueWatch(parts);

  const ended: string[] = [];

  async function beat(beforeTheLook = (): void => {}): Promise<void> {
    const renewal = await store.renew(worker, leaseMs);
    beforeTheLook();
    if (renewal.status !== "renewed") return;
    const runs = await watch.beat(renewal.now, renewal.busy);
    for (const { key, n } of runs) ended.push(`${key}.${n}`);
  }

  return {
    store,
    beat,
    /** The runs that the watch has reported as ended. */
    ended,
    jump: (ms: number): void => void (aheadMs += ms),
    wait: (ms: number) => steady.advance(ms),
    /** Lets time pass, with a beat every second. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += BEAT_MS) {
        await steady.advance(Math.min(BEAT_MS, ms - passed));
        await beat();
      }
    },
    async begin(job: Partial<NewJob>): Promise<string> {
      const [id] = await add(store, job);
      // After a jump the worker finds its lease run out, and asks for it.
      await store.renew(worker, leaseMs);
      await takeOne(store, { worker });
      return id;
    },
    async outcomesOf(id: string): Promise<readonly string[]> {
      return (await store.attempts(id)).map(({ outcome }) => outcome);
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

describe("a run beyond its limit", () => {
  test("is ended once two beats have found it, as a time-out of its policy", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: 2_000 });

    await world.pass(2_000 + SLACK_MS + BEAT_MS);
    expect(await world.outcomesOf(id)).toEqual([]);
    await world.pass(BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
    expect(await recordOf(world.store, id)).toMatchObject({ state: "scheduled", attempts: 1 });
    expect(at(await world.store.attempts(id), 0).fault).toMatchObject({ name: "TimeoutError" });
  });

  test("is reported once, for the worker whose handler may still run", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: 2_000 });
    await world.begin({ timeoutMs: MINUTE_MS });

    await world.pass(2_000 + SLACK_MS + 5 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
    expect(world.ended).toEqual(["1.1"]);
  });

  test("is not reported when the worker has ended the run before", async () => {
    await using world = await makeWorld();
    await world.begin({ timeoutMs: 2_000 });
    const settle = world.store.settle.bind(world.store);
    world.store.settle = async (items) => {
      await settle(items);
      return settle(items);
    };

    await world.pass(2_000 + SLACK_MS + 3 * BEAT_MS);

    expect(world.ended).toEqual([]);
  });

  test("is reported at the next beat when the answer of the store was lost", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: 2_000 });
    const settle = world.store.settle.bind(world.store);
    world.store.settle = async (items) => {
      await settle(items);
      throw new Error("the answer was lost");
    };

    await expect(world.pass(2_000 + SLACK_MS + 2 * BEAT_MS)).rejects.toThrow("was lost");
    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
    expect(world.ended).toEqual([]);
    await world.pass(2 * BEAT_MS);

    expect(world.ended).toEqual(["1.1"]);
  });

  test("is left to a worker that hears its own limit and ends it five seconds later", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: 2_000 });

    await world.pass(2_000 + 5_000 + 2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual([]);
  });

  test("costs no neighbour its run", async () => {
    await using world = await makeWorld();
    const late = await world.begin({ timeoutMs: 2_000 });
    const inTime = await world.begin({ timeoutMs: MINUTE_MS });
    const unlimited = await world.begin({ timeoutMs: null });

    await world.pass(2_000 + SLACK_MS + 2 * BEAT_MS);

    expect(await world.outcomesOf(late)).toEqual(["timed_out"]);
    expect(await world.outcomesOf(inTime)).toEqual([]);
    expect(await world.outcomesOf(unlimited)).toEqual([]);
  });
});

describe("a jump of the store's clock ahead", () => {
  test("ends no run before its time is up by the steady clock", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: MINUTE_MS });
    await world.pass(5_000);

    world.jump(HALF_HOUR_MS);
    await world.pass(55_000 + SLACK_MS);
    expect(await world.outcomesOf(id)).toEqual([]);
    await world.pass(2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
  });

  test("ends no run that began after the last beat before it", async () => {
    await using world = await makeWorld();
    await world.pass(5_000);
    await world.wait(300);
    const id = await world.begin({ timeoutMs: MINUTE_MS });

    world.jump(HALF_HOUR_MS);
    await world.pass(MINUTE_MS);

    expect(await world.outcomesOf(id)).toEqual([]);
  });

  test("ends no run when it comes between the reading of the clock and the look", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: MINUTE_MS });
    await world.pass(5_000);

    await world.beat(() => world.jump(HALF_HOUR_MS));
    await world.pass(10_000);

    expect(await world.outcomesOf(id)).toEqual([]);
  });

  test("is taken off together with others", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: MINUTE_MS });

    for (let nap = 0; nap < 5; nap += 1) {
      await world.pass(10_000);
      world.jump(HALF_HOUR_MS);
    }
    await world.pass(10_000 + SLACK_MS);
    expect(await world.outcomesOf(id)).toEqual([]);
    await world.pass(2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
  });

  test("is nothing to a run that began after it", async () => {
    await using world = await makeWorld();
    await world.pass(5_000);
    world.jump(HALF_HOUR_MS);
    const id = await world.begin({ timeoutMs: 2_000 });

    await world.pass(2_000 + SLACK_MS + 2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
  });
});

describe("a jump of the store's clock back", () => {
  test("ends no run early", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: MINUTE_MS });
    await world.pass(5_000);

    world.jump(-HALF_HOUR_MS);
    await world.pass(MINUTE_MS);

    expect(await world.outcomesOf(id)).toEqual([]);
  });

  test("is nothing to a run that began after it", async () => {
    await using world = await makeWorld();
    await world.pass(5_000);
    world.jump(-HALF_HOUR_MS);
    await world.pass(5_000);
    const id = await world.begin({ timeoutMs: 2_000 });

    await world.pass(2_000 + SLACK_MS + 2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
  });

  test("undoes one ahead: runs from before both and from after are judged as usual", async () => {
    await using world = await makeWorld();
    const before = await world.begin({ timeoutMs: MINUTE_MS });
    await world.pass(5_000);
    world.jump(HALF_HOUR_MS);
    await world.pass(5_000);
    world.jump(-HALF_HOUR_MS);
    await world.pass(5_000);
    const after = await world.begin({ timeoutMs: 2_000 });

    await world.pass(2_000 + SLACK_MS + 2 * BEAT_MS);
    expect(await world.outcomesOf(after)).toEqual(["timed_out"]);
    expect(await world.outcomesOf(before)).toEqual([]);
    await world.pass(MINUTE_MS);

    expect(await world.outcomesOf(before)).toEqual(["timed_out"]);
  });

  test("is undone by one ahead: runs from before both are judged as usual", async () => {
    await using world = await makeWorld();
    const id = await world.begin({ timeoutMs: 20_000 });
    await world.pass(5_000);
    world.jump(-HALF_HOUR_MS);
    await world.pass(5_000);
    world.jump(HALF_HOUR_MS);

    await world.pass(10_000 + SLACK_MS);
    expect(await world.outcomesOf(id)).toEqual([]);
    await world.pass(2 * BEAT_MS);

    expect(await world.outcomesOf(id)).toEqual(["timed_out"]);
  });

  test("does not mix up a run that began after it with times that were read before", async () => {
    await using world = await makeWorld();
    await world.pass(5_000);
    world.jump(-HALF_HOUR_MS);
    await world.pass(5_000);
    const id = await world.begin({ timeoutMs: MINUTE_MS });
    await world.pass(5_000);
    world.jump(HALF_HOUR_MS);

    await world.pass(55_000 + SLACK_MS);

    expect(await world.outcomesOf(id)).toEqual([]);
  });
});
