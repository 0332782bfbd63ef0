import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { latch, openTest, replaceVerb } from "../support.ts";

function note(kit: { clock: { now(): number } }, at: Map<string, number>) {
  return defineJob({ type: "note", payload: typed<string>() }).run((name) => {
    at.set(name, kit.clock.now());
  });
}

describe("a job that is due later", () => {
  test("begins at its very instant, not at the next poll (001-16)", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    const start = kit.clock.now();
    kit.mill.work({ jobs: [job], poll: "10s" });
    await kit.settled();

    await kit.mill.enqueue(job, "late", { runAt: new Date(start + 7_777) });
    await kit.mill.enqueue(job, "soon", { delay: 1_234 });
    await kit.advance("9s");

    expect(Object.fromEntries(at)).toEqual({ late: start + 7_777, soon: start + 1_234 });
  });

  test("begins at its instant although the worker slept when it came (001-16)", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    kit.mill.work({ jobs: [job], poll: "10s" });
    await kit.mill.enqueue(job, "far", { delay: "1h" });
    await kit.advance("3s");

    const start = kit.clock.now();
    await kit.mill.enqueue(job, "near", { delay: 500 });
    await kit.advance("1s");

    expect(at.get("near")).toBe(start + 500);
    expect(at.has("far")).toBe(false);
  });

  test("that is due in the past is due now", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);

    const enqueued = await kit.mill.enqueue(job, "past", { runAt: new Date(0) });
    await kit.drain([job]);

    expect(enqueued.state).toBe("queued");
    expect(at.get("past")).toBe(kit.clock.now());
  });

  test("does not begin with a job that is due a millisecond sooner (001-15)", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    const start = kit.clock.now();
    kit.mill.work({ jobs: [job], poll: "10s" });
    await kit.mill.enqueue(job, "sooner", { delay: "1m" });
    const later = await kit.mill.enqueue(job, "later", { delay: 60_001 });

    await kit.advance("1m");
    expect(Object.fromEntries(at)).toEqual({ sooner: start + 60_000 });
    expect(await kit.events(later)).toEqual(["job:enqueued"]);
    await kit.advance(1);

    expect(at.get("later")).toBe(start + 60_001);
    expect(await kit.events(later)).toEqual(["job:enqueued", "job:started", "job:completed"]);
  });
});

describe("a wake-up", () => {
  test("starts a job at once, without a poll", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    kit.mill.work({ jobs: [job], poll: "1h" });
    await kit.settled();

    await kit.mill.enqueue(job, "now");
    await kit.settled();

    expect(at.get("now")).toBe(kit.clock.now());
  });

  test("that comes while a claim is under way causes another claim after it (001-14)", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    const claims = holdFirstClaim(kit.store);
    kit.mill.work({ jobs: [job], poll: "1h", lanes: { general: 1 } });
    await claims.firstFoundNothing;

    const woken = nextWakeUp(kit.store);
    await kit.mill.enqueue(job, "meanwhile");
    await woken;
    claims.endFirst();
    await kit.settled();

    expect(at.get("meanwhile")).toBe(kit.clock.now());
    expect(claims.mostAtOnce()).toBe(1);
  });

  test("that never came is made up for by the poll", async () => {
    await using kit = await openTest();
    const at = new Map<string, number>();
    const job = note(kit, at);
    kit.mill.work({ jobs: [job], poll: "5s" });
    await kit.settled();
    kit.failOnce("claim");
    await kit.mill.enqueue(job, "missed");
    await kit.settled();
    expect(at.size).toBe(0);

    await kit.advance("6s");

    expect(at.size).toBe(1);
  });
});

describe("a poll", () => {
  test.each([
    [0, [8_000, 16_000, 24_000]],
    [0.5, [10_000, 20_000]],
    [0.75, [11_000, 22_000]],
  ])("comes sooner or later by chance (%d), so that no two go in step", async (random, times) => {
    await using kit = await openTest({ random: () => random });
    const start = kit.clock.now();
    const asked: number[] = [];
    const claim = kit.store.claim.bind(kit.store);
    Reflect.set(kit.store, "claim", (request: Parameters<typeof claim>[0]) => {
      asked.push(kit.clock.now() - start);
      return claim(request);
    });
    // As long as a job may be claimable, each poll claims.
    await kit.mill.enqueue(defineJob({ type: "unknown" }));
    kit.mill.work({ jobs: [note(kit, new Map())], poll: "10s", lanes: { general: 1 } });

    await kit.advance("25s");

    expect([...new Set(asked)]).toEqual([0, ...times]);
  });
});

/** The first claim has looked for jobs, and its answer waits until the test ends the claim. */
function holdFirstClaim(store: JobStore) {
  const [found, end] = [latch(), latch()];
  const claim = store.claim.bind(store);
  let [underWay, most] = [0, 0];
  replaceVerb(store, "claim", async (...request: Parameters<typeof claim>) => {
    underWay += 1;
    most = Math.max(most, underWay);
    const answer = await claim(...request);
    found.open();
    await end.passed;
    underWay -= 1;
    return answer;
  });
  return { firstFoundNothing: found.passed, endFirst: () => end.open(), mostAtOnce: () => most };
}

/** Resolves after all watchers of the store have heard the wake-up. */
function nextWakeUp(store: JobStore): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.watch(() => {
      stop();
      resolve();
    });
  });
}
