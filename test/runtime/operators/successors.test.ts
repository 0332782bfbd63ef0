/** A reprocessed copy and its original never run together, whatever has ended the original. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { crashedOnce } from "../../support/factories.ts";
import { rescueSilent } from "../../support/steps.ts";
import { latch, openTest, replaceVerb, untilAborted, type RuntimeTest } from "../support.ts";

const actor = { actor: "ada" };

/** A job whose first handler ends when the latch opens, and how many handlers ran at once. */
async function handling(kit: RuntimeTest, options: { obeys?: boolean; timeout?: "1s" } = {}) {
  const end = latch();
  const seen = { now: 0, most: 0, runs: 0 };
  const job = defineJob({
    type: "pay",
    payload: typed<string>(),
    maxAttempts: 1,
    timeout: options.timeout ?? false,
  }).run(async (name, ctx) => {
    seen.now += 1;
    seen.runs += 1;
    seen.most = Math.max(seen.most, seen.now);
    try {
      if (seen.runs === 1) await (options.obeys ? untilAborted(ctx.signal) : end.passed);
    } finally {
      seen.now -= 1;
    }
    return name;
  });
  const original = await kit.mill.enqueue(job, "paid", { idempotencyKey: "order-17" });
  const worker = kit.mill.work({ jobs: [job], lanes: { general: 3 } });
  const other = kit.mill.work({ jobs: [job], lanes: { general: 3 } });
  await kit.settled();
  expect(await kit.mill.jobs.get(original.id)).toMatchObject({ state: "running" });
  return { job, end, seen, original, workers: [worker, other] };
}

describe("a reprocessed copy and its original never run together (C-33, 003-08, 003-41)", () => {
  test("also if an operator has failed the original while its handler runs", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit);
    await kit.mill.jobs.fail(original.id, "it hangs");
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);

    await kit.advance("10m");
    expect([seen.runs, (await kit.mill.jobs.get(copy.id)).state]).toEqual([1, "queued"]);
    end.open();
    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen).toEqual({ now: 0, most: 1, runs: 2 });
  });

  test("and the copy starts within a heartbeat if the handler obeys its signal", async () => {
    await using kit = await openTest();
    const { seen, original } = await handling(kit, { obeys: true });
    await kit.mill.jobs.fail(original.id, "it hangs");
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);

    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen).toEqual({ now: 0, most: 1, runs: 2 });
  });

  test("also if the handler ignores that its run has timed out", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit, { timeout: "1s" });
    await kit.advance("10s");
    expect(await kit.mill.jobs.get(original.id)).toMatchObject({ state: "failed" });
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);

    await kit.advance("10m");
    expect(seen.runs).toBe(1);
    end.open();
    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen.most).toBe(1);
  });

  test("also if the handler ignores a cancel, and jobs.retry repeats the job", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit);
    await kit.mill.jobs.cancel(original.id);
    await kit.advance("10s");
    expect(await kit.mill.jobs.get(original.id)).toMatchObject({ state: "cancelled" });
    const copy = await kit.mill.jobs.retry(original.id);

    await kit.advance("10m");
    expect(seen.runs).toBe(1);
    end.open();
    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen.most).toBe(1);
  });

  test("also if a copy of the copy is made before the first handler returns", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit);
    await kit.mill.jobs.fail(original.id, "it hangs");
    const second = await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.mill.jobs.fail(second.id, "not this way");
    const third = await kit.mill.deadLetters.reprocess(second.id, actor);

    await kit.advance("10m");
    expect(seen.runs).toBe(1);
    end.open();
    await kit.advance("2s");

    expect(await kit.mill.result(third)).toBe("paid");
    expect(seen.most).toBe(1);
  });

  test("also if the report that the handler goes on is lost at first", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit, { timeout: "1s" });
    const reportCode = kit.store.reportCode.bind(kit.store);
    let calls = 0;
    replaceVerb(kit.store, "reportCode", async (...args: Parameters<typeof reportCode>) => {
      calls += 1;
      if (calls < 3) throw new Error("the network is down");
      await reportCode(...args);
    });
    await kit.advance("20s");
    expect(await kit.mill.jobs.get(original.id)).toMatchObject({ state: "failed" });
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.advance("10m");
    expect(seen.runs).toBe(1);
    end.open();
    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen.most).toBe(1);
  });

  test("and a lost report of the handler's end is made up for by heartbeats", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit);
    await kit.mill.jobs.fail(original.id, "it hangs");
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.advance("10s");
    const reportCode = kit.store.reportCode.bind(kit.store);
    let isLost = false;
    replaceVerb(kit.store, "reportCode", async (...args: Parameters<typeof reportCode>) => {
      if (isLost) return reportCode(...args);
      isLost = true;
      throw new Error("the network is down");
    });
    end.open();
    await kit.advance("50s");
    expect(seen.runs).toBe(1);
    await kit.advance("20s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(isLost).toBe(true);
  });

  test("until the worker is stopped: its jobs count as left then", async () => {
    await using kit = await openTest();
    const { end, seen, original, workers } = await handling(kit);
    await kit.mill.jobs.fail(original.id, "it hangs");
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.advance("10s");
    const [, holder] = /worker (\w+) /.exec((await kit.mill.jobs.explain(copy.id)).sentence) ?? [];
    const worker = workers.find(({ id }) => id === holder);
    void worker?.stop({ grace: 0 }).catch(() => {});
    await kit.advance("20s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen.runs).toBe(2);
    end.open();
  });

  test("until the lease of a worker that is gone has expired", async () => {
    await using kit = await openTest();
    const { end, seen, original } = await handling(kit);
    await kit.mill.jobs.fail(original.id, "it hangs");
    const copy = await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.advance("10s");
    const holder = await kit.store.holder(original.id);
    await kit.store.renew(holder?.id ?? "", 0);
    await rescueSilent(kit.store, holder?.id ?? "", { decide: crashedOnce });
    await kit.advance("2s");

    expect(await kit.mill.result(copy)).toBe("paid");
    expect(seen.runs).toBe(2);
    end.open();
  });
});

describe("a job whose handler ended with its run", () => {
  test("is reprocessed at once, and reports nothing", async () => {
    await using kit = await openTest();
    let reports = 0;
    const reportCode = kit.store.reportCode.bind(kit.store);
    replaceVerb(kit.store, "reportCode", (...args: Parameters<typeof reportCode>) => {
      reports += 1;
      return reportCode(...args);
    });
    let runs = 0;
    const job = defineJob({ type: "pay", maxAttempts: 1 }).run(() => {
      runs += 1;
      throw new Error("no");
    });
    const original = await kit.mill.enqueue(job);
    await kit.drain([job]);
    await kit.mill.deadLetters.reprocess(original.id, actor);
    await kit.drain([job]);

    expect([runs, reports]).toEqual([2, 0]);
  });
});
