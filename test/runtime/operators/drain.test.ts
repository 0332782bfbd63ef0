/** `mill.drain`: a pause, and the wait until no job of the target runs. */
import { defineJob, type DrainProgress, type DrainTarget } from "millrace";
import { describe, expect, test } from "vitest";
import { LONE_DEATHS_MAX } from "../../../src/core/crashes.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { diedAlone } from "../../support/factories.ts";
import { add, rescueSilent, takeOne } from "../../support/steps.ts";
import { latch, openTest, type RuntimeTest } from "../support.ts";

const echo = defineJob({ type: "echo" }).run(() => "done");

/** Two jobs of different types, lanes and tenants, which run until their latches open. */
async function twoRunning(kit: RuntimeTest): Promise<{
  readonly ends: readonly ReturnType<typeof latch>[];
  readonly ids: readonly string[];
  readonly worker: string;
}> {
  const ends = [latch(), latch()];
  const slow = defineJob({ type: "slow", lane: "heavy" }).run(() => ends[0]!.passed);
  const other = defineJob({ type: "other" }).run(() => ends[1]!.passed);
  const first = await kit.mill.enqueue(slow, undefined, { tenant: "acme" });
  const second = await kit.mill.enqueue(other);
  const worker = kit.mill.work({ jobs: [slow, other, echo] });
  await kit.settled();
  return { ends, ids: [first.id, second.id], worker: worker.id };
}

/** The engine pauses the type `email` because of crashes. */
async function closeCrashGate(store: JobStore): Promise<void> {
  for (let count = 0; count < LONE_DEATHS_MAX; count += 1) {
    await add(store, { lane: "deaths" });
    const { worker } = await takeOne(store, { lanes: ["deaths"] });
    await store.deregister(worker);
    await rescueSilent(store, worker, { decide: () => diedAlone() });
  }
}

describe("mill.drain", () => {
  test.each<DrainTarget>([{ lane: "heavy" }, { type: "slow" }, { tenant: "acme" }])(
    "waits for the running jobs of %o, and for no others (004-37)",
    async (target) => {
      await using kit = await openTest();
      const { ends } = await twoRunning(kit);
      const seen: DrainProgress[] = [];
      let isDrained = false;

      const drain = kit.mill
        .drain(target, { reason: "a deploy", actor: "ada", onProgress: (now) => seen.push(now) })
        .then(() => (isDrained = true));
      await kit.advance("1m");
      const during = { isDrained, pauses: await kit.mill.pauses() };
      ends[0]!.open();
      await kit.advance("5s");
      await drain;

      expect(during).toMatchObject({
        isDrained: false,
        pauses: [{ reason: "a deploy", pausedBy: "ada" }],
      });
      expect(seen).toEqual([
        { running: 1, atLeast: false },
        { running: 0, atLeast: false },
      ]);
      expect(await kit.mill.pauses()).toHaveLength(1);
      expect((await kit.mill.running({ installation: true })).running).toBe(1);
      ends[1]!.open();
    },
  );

  test("of the installation waits for all, and holds back what is new (004-37)", async () => {
    await using kit = await openTest();
    const { ends } = await twoRunning(kit);

    const drain = kit.mill.drain({ installation: true });
    await kit.advance("1s");
    for (const end of ends) end.open();
    const late = await kit.mill.enqueue(echo);
    await kit.advance("5s");
    await drain;

    expect(await kit.mill.jobs.get(late.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.mill.jobs.explain(late.id)).toMatchObject({
      reason: "paused",
      sentence: "The whole installation is paused: drain.",
      hint: "To resume: millrace resume --all",
    });
    expect(await kit.mill.resume({ installation: true })).toMatchObject({
      wasPaused: true,
      queued: 1,
    });
    await kit.advance("1s");
    expect(await kit.mill.jobs.get(late.id)).toMatchObject({ state: "completed" });
  });

  test("keeps a pause without an end, and says so", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const first = await mill.drain({ type: "echo" }, { reason: "a deploy", actor: "ada" });
    const second = await mill.drain({ type: "echo" }, { reason: "another", actor: "bob" });
    await kit.store.pause(
      { kind: "type", name: "slow" },
      { reason: "crashes", by: null, forMs: 1_000 },
    );
    const third = await mill.drain({ type: "slow" }, { reason: "a deploy", actor: "ada" });

    const pause = { reason: "a deploy", pausedBy: "ada" };
    expect([first, second, third]).toEqual([
      { keptPause: null },
      { keptPause: pause },
      { keptPause: null },
    ]);
    expect(await mill.pauses()).toMatchObject([
      { name: "echo", until: null, ...pause },
      { name: "slow", until: null, ...pause },
    ]);
  });

  test("takes the place of a pause because of crashes, which a probe would end", async () => {
    await using kit = await openTest();
    const { mill, store } = kit;
    await closeCrashGate(store);
    const before = await mill.pauses();

    const drained = await mill.drain({ type: "email" }, { reason: "a deploy", actor: "ada" });
    await store.endCrashStreak("email");

    expect(before).toMatchObject([{ pausedBy: "millrace", until: null }]);
    expect(drained).toEqual({ keptPause: null });
    expect(await mill.pauses()).toMatchObject([{ pausedBy: "ada", reason: "a deploy" }]);
  });

  test("of a worker makes it quiet, and waits for its jobs", async () => {
    await using kit = await openTest();
    const { ends, worker } = await twoRunning(kit);

    const drain = kit.mill.drain({ worker });
    await kit.advance("1s");
    const during = await kit.mill.workers.list();
    for (const end of ends) end.open();
    await kit.advance("5s");
    await drain;

    expect(during).toMatchObject([{ id: worker, isQuiet: true, running: 2 }]);
    expect(await kit.mill.pauses()).toEqual([]);
  });

  test("says which jobs still run when its time is over, and leaves the pause", async () => {
    await using kit = await openTest();
    const { ends, ids } = await twoRunning(kit);

    const drain = kit.mill.drain({ lane: "heavy" }, { timeout: "30s" });
    const refused = drain.catch((error: unknown) => error);
    await kit.advance("31s");

    expect(await refused).toMatchObject({
      code: "DRAIN_TIMED_OUT",
      message: "1 job still runs after 30 s; the lane heavy stays paused",
      details: { kind: "lane", name: "heavy", running: 1, atLeast: false, ids: [ids[0]] },
    });
    expect(await kit.mill.pauses()).toMatchObject([{ name: "heavy" }]);
    for (const end of ends) end.open();
  });

  test("ends at its signal, and leaves the pause", async () => {
    await using kit = await openTest();
    const { ends } = await twoRunning(kit);
    const stop = new AbortController();

    const drain = kit.mill.drain({ lane: "heavy" }, { signal: stop.signal });
    const refused = drain.catch((error: unknown) => error);
    await kit.advance("1s");
    stop.abort(new Error("enough"));

    expect(await refused).toMatchObject({ message: "enough" });
    expect(await kit.mill.pauses()).toMatchObject([{ name: "heavy" }]);
    for (const end of ends) end.open();
  });

  test("counts ever more seldom while nothing changes", async () => {
    await using kit = await openTest();
    const { ends } = await twoRunning(kit);
    let counts = 0;
    const count = kit.store.countRunning.bind(kit.store);
    Reflect.set(kit.store, "countRunning", (...args: Parameters<typeof count>) => {
      counts += 1;
      return count(...args);
    });

    const drain = kit.mill.drain({ lane: "heavy" }, { timeout: "1h" });
    await kit.advance("60s");
    const before = counts;
    ends[0]!.open();
    await kit.advance("5s");
    await drain;

    expect(before).toBeGreaterThan(25);
    expect(before).toBeLessThan(40);
    ends[1]!.open();
  });

  test.each([{}, { lane: "" }, { lane: "a", type: "b" }, { worker: "x", lane: "a" }])(
    "refuses the target %o before it pauses anything",
    async (target: any) => {
      await using kit = await openTest();

      await expect(kit.mill.drain(target)).rejects.toMatchObject({ code: "OPTION_INVALID" });
      expect(await kit.mill.pauses()).toEqual([]);
    },
  );

  test("refuses an unknown worker", async () => {
    await using kit = await openTest();

    await expect(kit.mill.drain({ worker: "01M7GQMY55ECET74219MBT9GXQ" })).rejects.toMatchObject({
      code: "WORKER_NOT_FOUND",
    });
  });
});
