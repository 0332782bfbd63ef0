import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import type { WakeUp } from "../../../src/store/store.ts";
import type { ClaimRequest } from "../../../src/store/types/jobs-and-runs.ts";
import { crashedTimes } from "../../support/factories.ts";
import { settleItem, take } from "../../support/steps.ts";
import { latch, openTest, replaceVerb, type RuntimeTest } from "../support.ts";

describe("a lane whose last claim found no job", () => {
  test("does not claim for each job that another lane runs", async () => {
    await using kit = await openTest();
    const claimed = recordClaims(kit);
    const plain = defineJob({ type: "plain" }).run(() => {});
    await kit.mill.enqueueMany(Array.from({ length: 200 }, () => plain.of()));

    await kit.drain([plain], { lanes: { fast: 3, general: 5 } });

    expect(claimed.filter((lanes) => lanes === "fast")).toHaveLength(1);
    // The slots, prefetches, and the end of the backlog.
    expect(claimed.length).toBeLessThan(20);
  });

  test("does not claim again after a lone job", async () => {
    await using kit = await openTest();
    const plain = defineJob({ type: "plain" }).run(() => {});
    kit.mill.work({ jobs: [plain], lanes: { fast: 3, general: 5 } });
    await kit.settled();
    const claimed = recordClaims(kit);

    for (let sent = 0; sent < 10; sent += 1) {
      await kit.advance("30ms");
      await kit.mill.enqueue(plain);
      await kit.settled();
    }

    expect(await completed(kit)).toBe(10);
    expect(claimed.filter((lanes) => lanes === "any")).toHaveLength(10);
    expect(claimed.filter((lanes) => lanes === "fast")).toHaveLength(10);
  });

  test("does not claim after a hint about jobs of another lane", async () => {
    await using kit = await openTest();
    const hints = replaceHints(kit);
    kit.mill.work({
      jobs: [defineJob({ type: "plain" }).run(() => {})],
      lanes: { fast: 3, mail: 1, general: 5 },
    });
    await kit.settled();
    const claimed = recordClaims(kit);

    for (const hint of hints) hint("ready:general");
    await kit.settled();
    expect(claimed.splice(0)).toEqual(["any"]);

    for (const hint of hints) hint("ready:fast");
    await kit.settled();
    expect(claimed.splice(0)).toEqual(["fast", "any"]);

    for (const hint of hints) hint("ready:bulk");
    await kit.settled();
    expect(claimed).toEqual(["any"]);
  });

  test("claims again after a job that soon follows another: hints may be throttled", async () => {
    await using kit = await openTest();
    const hints = replaceHints(kit);
    const end = latch();
    const plain = defineJob({ type: "plain" }).run(() => {});
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    kit.mill.work({ jobs: [plain, slow], lanes: { general: 5 } });
    await kit.settled();

    for (const job of [plain, slow]) {
      await kit.mill.enqueue(job);
      for (const hint of hints) hint("ready");
      await kit.settled();
    }
    await kit.mill.enqueue(plain);
    end.open();
    await kit.settled();

    expect(await completed(kit)).toBe(3);
  });

  test("claims again after an enqueue, also if a claim was under way", async () => {
    await using kit = await openTest();
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => {});
    const claim = kit.store.claim.bind(kit.store);
    const restore = replaceVerb(kit.store, "claim", async (request: ClaimRequest) => {
      restore();
      const answer = await claim(request);
      await kit.mill.enqueue(fast);
      return answer;
    });

    kit.mill.work({ jobs: [fast], lanes: { fast: 1 } });
    await kit.settled();

    expect(await completed(kit)).toBe(1);
  });

  test("claims again within a poll beside a busy lane, without any wake-up", async () => {
    await using kit = await openTest();
    Reflect.set(kit.store, "watch", () => () => {});
    const ends = Array.from({ length: 20 }, latch);
    let begun = 0;
    const slow = defineJob({ type: "slow", lane: "slow" }).run(() => {
      begun += 1;
      return ends[begun - 1]?.passed;
    });
    const fast = defineJob({ type: "fast", lane: "fast" }).run(() => {});
    await kit.mill.enqueueMany(ends.map(() => slow.of()));
    kit.mill.work({ jobs: [slow, fast], lanes: { slow: 1, fast: 1 } });
    await kit.settled();

    const job = await kit.mill.enqueue(fast);
    // A pass of the busy lane starts the time until the next poll anew.
    for (const end of ends) {
      await kit.advance("100ms");
      end.open();
      await kit.settled();
    }

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(begun).toBe(ends.length);
  });

  test("claims a crashed job as soon as another has left the share of slots", async () => {
    await using kit = await openTest();
    const end = latch();
    const first = defineJob({ type: "first", lane: "a" }).run(() => end.passed);
    const second = defineJob({ type: "second", lane: "b" }).run(() => {});
    await kit.mill.enqueueMany([first.of(), second.of()]);
    const batch = await take(kit.store, { lanes: "any", types: ["first", "second"], limit: 2 });
    await kit.store.settle(batch.jobs.map((job) => settleItem(batch, job, crashedTimes(1))));
    await kit.advance("1h");
    kit.mill.work({ jobs: [first, second], lanes: { a: 1, b: 1 } });
    await kit.settled();
    expect(await kit.mill.jobs.stats()).toMatchObject({ running: 1, queued: 1 });

    end.open();
    await kit.settled();

    expect(await completed(kit)).toBe(2);
  });
});

/** The listeners of the workers that start from now on. The store no longer calls them. */
function replaceHints({ store }: RuntimeTest): readonly ((wakeUp: WakeUp) => void)[] {
  const hints: ((wakeUp: WakeUp) => void)[] = [];
  Reflect.set(store, "watch", (hint: (wakeUp: WakeUp) => void) => {
    hints.push(hint);
    return () => {};
  });
  return hints;
}

/** The lanes that each claim asks for from now on. */
function recordClaims({ store }: RuntimeTest): string[] {
  const claimed: string[] = [];
  const claim = store.claim.bind(store);
  replaceVerb(store, "claim", (request: ClaimRequest) => {
    claimed.push(String(request.lanes));
    return claim(request);
  });
  return claimed;
}

async function completed({ mill }: RuntimeTest): Promise<number> {
  const { jobs } = await mill.jobs.list({ state: "completed" });
  return jobs.length;
}
