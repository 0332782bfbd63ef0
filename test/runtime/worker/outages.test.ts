/** A store that refuses heartbeats, or every write, for longer than a lease. */
import { defineJob, NonRetryableError, typed, type Context } from "millrace";
import { describe, expect, test } from "vitest";
import { crashedOnce, newJob } from "../../support/factories.ts";
import { joinWorker, rescueSilent, stateOf, takeOne } from "../../support/steps.ts";
import {
  countCalls,
  latch,
  openTest,
  replaceVerb,
  untilAborted,
  type RuntimeTest,
} from "../support.ts";

const WRITES = ["claim", "renew", "rescue", "settle", "startPrefetched"] as const;

type Write = (typeof WRITES)[number];

type AnyContext = Context<unknown, unknown>;

describe("a worker whose heartbeats the store refuses", () => {
  test("tells its runs to stop when its lease has expired, and why", async () => {
    await using kit = await openTest();
    const { long, end } = await withLongRun(kit);
    const repair = refuseHeartbeats(kit);

    await kit.advance("29s");
    expect(long.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await kit.advance("2s");

    expect(long.signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(long.signals[0]?.reason).toMatchObject({
      message: expect.stringContaining("another worker may run this job"),
    });
    expect(warnings(kit)).toMatchObject([
      {
        message: expect.stringContaining("the store refuses every heartbeat; 1 run(s)"),
        fields: { code: "LEASE_EXPIRED", cause: "store_failed", hint: expect.any(String) },
      },
    ]);
    repair();
    end.open();
  });

  test("starts nothing until a heartbeat has succeeded", async () => {
    await using kit = await openTest();
    const { job, end } = await withLongRun(kit);
    const repair = refuseHeartbeats(kit);
    await kit.advance("31s");

    const next = await kit.mill.enqueue(job, "short");
    const calls = countCalls(kit.store, "claim");
    await kit.advance("1m");
    expect(calls).toEqual({ claim: 0 });
    expect(await kit.mill.jobs.get(next.id)).toMatchObject({ state: "queued" });
    repair();
    await kit.advance("2s");

    expect(await kit.mill.result(next)).toBe("undisturbed");
    end.open();
  });

  test("records the result of a run that went on, once, and repeats nothing", async () => {
    await using kit = await openTest();
    const { long, end } = await withLongRun(kit);
    const repair = refuseHeartbeats(kit);

    // Much longer than a handler may ignore a cancel request.
    await kit.advance("5m");
    repair();
    await kit.advance("1m");
    end.open();
    await kit.settled();

    expect(await kit.mill.result(long.job)).toBe("aborted");
    expect(await kit.outcomes(long.job)).toEqual(["succeeded"]);
    expect(long.signals).toHaveLength(1);
  });

  test("gives a run that obeys its signal back, uncharged, and runs it again", async () => {
    await using kit = await openTest();
    let starts = 0;
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      starts += 1;
      return starts === 1 ? untilAborted(ctx.signal) : ctx.attempt;
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    const repair = refuseHeartbeats(kit);

    await kit.advance("31s");
    expect([starts, await kit.outcomes(enqueued)]).toEqual([1, ["interrupted"]]);
    repair();
    await kit.advance("2s");

    expect(await kit.mill.result(enqueued)).toBe(1);
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted", "succeeded"]);
  });

  test("cancels a run that ignored the expiry when it is asked to", async () => {
    await using kit = await openTest();
    const { long } = await withLongRun(kit);
    const repair = refuseHeartbeats(kit);
    await kit.advance("31s");
    repair();
    await kit.advance("2s");

    await kit.mill.jobs.cancel(long.job.id, "enough");
    await kit.advance("7s");

    expect(await kit.outcomes(long.job)).toEqual(["cancelled"]);
  });

  test("gives up a run that another worker has taken meanwhile", async () => {
    await using kit = await openTest();
    const { long, end, worker } = await withLongRun(kit);
    const repair = refuseHeartbeats(kit);
    await kit.advance("31s");
    await rescueSilent(kit.store, worker.id, { decide: crashedOnce });
    repair();

    await kit.advance("10s");

    expect(await kit.outcomes(long.job)).toEqual(["crashed"]);
    expect(long.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    end.open();
  });

  test("ends a pipeline at the border of a phase, which then goes on from there", async () => {
    await using kit = await openTest();
    const border = latch();
    const ran: string[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", async () => {
        ran.push("one");
        await border.passed;
      })
      .phase("two", () => void ran.push("two"));
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    const repair = refuseHeartbeats(kit);
    await kit.advance("31s");

    border.open();
    await kit.settled();
    expect(ran).toEqual(["one"]);
    repair();
    await kit.advance("2s");

    expect(ran).toEqual(["one", "two"]);
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted", "succeeded"]);
  });
});

describe("a run that went on after the lease was renewed", () => {
  test.each([
    {
      end: "an error",
      act: () => Promise.reject(new NonRetryableError("card declined")),
      outcomes: ["failed"],
      state: "failed",
    },
    {
      end: "a snooze",
      act: (ctx: AnyContext) => ctx.snooze("1h"),
      outcomes: ["snoozed"],
      state: "scheduled",
    },
    {
      end: "units",
      act: (ctx: AnyContext) =>
        ctx.each(
          ["a", "b"],
          (item) => item,
          () => "done",
        ),
      outcomes: ["succeeded"],
      state: "completed",
    },
    {
      end: "an error of its aborted signal",
      act: (ctx: AnyContext) => Promise.reject(new Error("stopped", { cause: ctx.signal.reason })),
      outcomes: ["interrupted"],
      state: "running",
    },
  ])("ends with $end", async ({ act, outcomes, state }) => {
    await using kit = await openTest();
    const [first, second] = [latch(), latch()];
    const gates = [first, second];
    const job = defineJob({ type: "long", timeout: false }).run(async (_, ctx) => {
      await gates.shift()?.passed;
      await act(ctx);
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("1s");
    const repair = refuseHeartbeats(kit);
    await kit.advance("40s");
    repair();
    await kit.advance("1m");

    first.open();
    await kit.advance("1s");

    expect(await kit.outcomes(enqueued)).toEqual(outcomes);
    expect((await kit.mill.jobs.get(enqueued.id)).state).toBe(state);
    second.open();
  });

  test("is interrupted if its handler hides that units were left out", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "long", timeout: false }).run(async (_, ctx) => {
      const units = ctx.each(
        ["a", "b"],
        (item) => item,
        (_item, unit) => untilAborted(unit.signal),
        {
          concurrency: 1,
        },
      );
      await units.catch(() => {});
      return "half";
    });
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("1s");
    const repair = refuseHeartbeats(kit);
    await kit.advance("31s");
    repair();
    await kit.advance("5s");

    expect(await kit.outcomes(enqueued)).toEqual(["interrupted"]);
  });
});

describe("a store that refuses every write", () => {
  test.each(["31s", "90s", "5m"] as const)(
    "for %s costs no run of two workers a second start",
    async (length) => {
      await using kit = await openTest();
      const { job, long, end } = await withLongRun(kit);
      kit.mill.work({ jobs: [job], lanes: { general: 1 } });
      await kit.settled();

      const repair = refuseWrites(kit);
      await kit.advance(length);
      repair();
      await kit.advance("1m");
      end.open();
      await kit.settled();

      expect(await kit.outcomes(long.job)).toEqual(["succeeded"]);
      expect(long.signals).toHaveLength(1);
      expect(warnings(kit)).toMatchObject([
        { fields: { cause: "store_failed", error: expect.any(Error) } },
        { fields: { cause: "store_failed", error: expect.any(Error) } },
      ]);
    },
  );

  test("makes no worker rescue another one before its next heartbeat", async () => {
    await using kit = await openTest();
    const { end } = await withLongRun(kit);
    const other = newJob({ type: "other" });
    await kit.store.enqueue([other]);
    const worker = await joinWorker(kit.store);
    await takeOne(kit.store, { worker, types: ["other"] });

    const repair = refuseWrites(kit);
    await kit.advance("92s");
    repair();
    // The rescuer looks once in this time.
    await kit.advance("4900ms");
    expect(await stateOf(kit.store, other.id)).toBe("running");
    expect(await kit.store.renew(worker, 30_000)).toMatchObject({ status: "renewed" });
    await kit.advance("25s");

    expect(await stateOf(kit.store, other.id)).toBe("running");
    // From now on the worker is dead.
    await kit.advance("20s");
    expect(await stateOf(kit.store, other.id)).not.toBe("running");
    end.open();
  });
});

/** A worker with a run that ignores its signal, and tells in the end whether it was aborted. */
async function withLongRun(kit: RuntimeTest) {
  const end = latch();
  const signals: AbortSignal[] = [];
  const job = defineJob({ type: "job", payload: typed<string>(), timeout: false }).run(
    async (name, ctx) => {
      if (name === "long") {
        signals.push(ctx.signal);
        await end.passed;
      }
      return ctx.signal.aborted ? "aborted" : "undisturbed";
    },
  );
  const enqueued = await kit.mill.enqueue(job, "long");
  const worker = kit.mill.work({ jobs: [job], lanes: { general: 3 } });
  await kit.settled();
  return { job, worker, end, long: { job: enqueued, signals } };
}

/** Only heartbeats fail. Returns how to repair the store. */
function refuseHeartbeats(kit: RuntimeTest): () => void {
  return refuseWrites(kit, ["renew"]);
}

/** Writes fail as on a full disk, and reads succeed. Returns how to repair the store. */
function refuseWrites({ store }: RuntimeTest, verbs: readonly Write[] = WRITES): () => void {
  const refuse = (): Promise<never> => Promise.reject(new Error("planted: the disk is full"));
  const repairs = verbs.map((verb) => replaceVerb(store, verb, refuse));
  return () => {
    for (const repair of repairs) repair();
  };
}

function warnings({ logged }: RuntimeTest) {
  return logged.filter(({ level }) => level === "warn");
}
