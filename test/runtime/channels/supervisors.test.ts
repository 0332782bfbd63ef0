import { defineJob, typed } from "millrace";
import { defineChannel, defineSupervisor } from "millrace/channels";
import { describe, expect, test } from "vitest";
import {
  namesOf,
  supervisorBehaviour,
  unsteadyChannel,
} from "../../support/channels/supervisors.ts";
import { latch, openTest, unchecked, waitsOf } from "../support.ts";

supervisorBehaviour(async () => {
  const kit = await openTest();
  return {
    mill: kit.mill,
    async finish(job, jobs) {
      const worker = kit.mill.work({ jobs });
      await kit.advance("5m");
      await worker.stop();
      return kit.mill.jobs.get(job.id);
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  };
});

const task = typed<{ user: number }>();
const down = (): Error => new Error("down");

describe("the waits of a supervisor", () => {
  test("grow with its failures, from the end of each (002-24)", async () => {
    await using kit = await openTest();
    const { push } = unsteadyChannel([down(), down(), down()]);
    const welcome = defineSupervisor({
      type: "welcome",
      task,
      channel: push,
      backoff: { kind: "exponential", base: "10s", factor: 3, cap: "60s" },
    });
    await kit.mill.enqueue(welcome, { user: 7 });
    kit.mill.work({ jobs: [welcome, push] });

    await kit.advance("10m");

    const { jobs } = await kit.mill.jobs.list({ type: "push" });
    const begins = jobs.map(({ createdAt }) => createdAt.getTime()).toReversed();
    const waits = begins.slice(1).map((at, index) => at - (begins[index] ?? 0));
    expect(waits).toEqual([10_000, 30_000, 60_000]);
  });

  test("end well when less is left than a job can wait", async () => {
    await using kit = await openTest();
    const told: unknown[] = [];
    const push = defineChannel({ type: "push", sendTimeout: 22_050, send: () => latch().passed });
    const welcome = defineSupervisor({
      type: "welcome",
      task,
      channel: push,
      maxAttempts: 3,
      backoff: { kind: "fixed", base: "10s" },
      onStuck: (_, { attempts }) => void told.push(attempts),
    });
    const job = await kit.mill.enqueue(welcome, { user: 7 });
    kit.mill.work({ jobs: [welcome, push] });

    await kit.advance("10m");

    expect(told).toEqual([3]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed", attempts: 1 });
  });

  test("are short at first and then longer while an attempt lasts", async () => {
    await using kit = await openTest();
    const slow = defineJob({ type: "slow" }).run(() => "done");
    const welcome = defineSupervisor({ type: "welcome", channel: slow });
    const job = await kit.mill.enqueue(welcome);
    kit.mill.work({ jobs: [welcome, slow], types: ["welcome"] });

    await kit.advance("20s");

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([
      1_000, 1_000, 2_000, 4_000, 8_000, 16_000,
    ]);
    expect(await namesOf(kit.mill)).toEqual(["slow", "welcome"]);
  });
});

describe("the attempt of a supervisor", () => {
  test("counts as failed when it is cancelled", async () => {
    await using kit = await openTest();
    const { push } = unsteadyChannel([]);
    const welcome = defineSupervisor({ type: "welcome", task, channel: push, maxAttempts: 1 });
    const job = await kit.mill.enqueue(welcome, { user: 7 });
    await kit.drain([welcome]);
    const [attempt] = (await kit.mill.jobs.list({ type: "push" })).jobs;
    await kit.mill.jobs.cancel(attempt?.id ?? "", "by mistake");
    kit.mill.work({ jobs: [welcome] });
    await kit.advance("1m");
    expect(await kit.mill.result(job)).toMatchObject({
      status: "stuck",
      error: "attempt 1 was cancelled: by mistake",
    });
  });

  test("is not read again when its outcome is stored", async () => {
    await using kit = await openTest();
    const { push } = unsteadyChannel([down(), down(), down(), down(), down()]);
    const welcome = defineSupervisor({ type: "welcome", task, channel: push });
    await kit.mill.enqueue(welcome, { user: 7 });
    const reads = new Map<string, number>();
    const get = kit.store.get.bind(kit.store);
    Reflect.set(kit.store, "get", (id: string) => {
      reads.set(id, (reads.get(id) ?? 0) + 1);
      return get(id);
    });
    kit.mill.work({ jobs: [welcome, push] });

    await kit.advance("5m");

    // Twice while it lasts, and once when it has ended.
    expect([...reads.values()]).toEqual([3, 3, 3, 3, 3]);
  });

  test("is made with the idempotency key of the supervisor alone", async () => {
    await using kit = await openTest();
    const { push } = unsteadyChannel([]);
    const welcome = defineSupervisor({
      type: "welcome",
      task,
      attempt: () => push.of({}, { idempotencyKey: "own" }),
    });
    const job = await kit.mill.enqueue(welcome, { user: 7 });
    await kit.drain([welcome]);
    const [{ error } = {}] = await kit.mill.jobs.attempts(job.id);
    expect(error?.message).toContain("the supervisor itself sets the idempotency key");
  });
});

describe("a worker that dies in a supervisor", () => {
  const steps = Array.from({ length: 12 }, (_, index) => index + 1);
  const points = [
    ...steps.map((n) => ["record", n] as const),
    ...steps.map((n) => ["settle", n] as const),
    ...steps.map((n) => ["start", n] as const),
  ];
  test.each(points)("at %s %d leaves one supervisor, and its facts (002-34)", async (point, n) => {
    await using kit = await openTest();
    const { push, sent } = unsteadyChannel([], ({ attempt }) => (attempt < 3 ? down() : undefined));
    const told: unknown[] = [];
    const welcome = defineSupervisor({
      type: "welcome",
      task: typed<{ user: number }>(),
      backoff: { kind: "exponential", base: "2s" },
      attempt: (given, attempt) => push.of({ ...given, attempt }),
      onSuccess: (_, { attempts }) => void told.push(attempts),
    });
    const job = await kit.mill.enqueue(welcome, { user: 7 });
    armAt(kit, point, n);

    for (let round = 0; round < 40; round += 1) {
      await kit.drain([welcome, push]);
      await kit.advance("5s");
    }

    expect(await kit.mill.result(job)).toMatchObject({ payload: { attempts: 3 } });
    expect(await namesOf(kit.mill)).toEqual(["push", "push", "push", "welcome"]);
    expect(new Set(sent.map(({ attempt }) => attempt))).toEqual(new Set([1, 2, 3]));
    // A message is repeated, or a call of onSuccess, if the crash came before it was stored.
    expect(sent.length + told.length).toBeLessThanOrEqual(5);
    expect(new Set(told)).toEqual(new Set([3]));
  });
});

describe("the entrance", () => {
  const push = defineJob({ type: "push" }).run(() => {});
  test.each([
    [{ type: "welcome" }],
    [{ type: "welcome", channel: push, attempt: () => push.of() }],
    [{ type: "welcome", channel: { type: "push" } }],
    [{ type: "welcome", channel: unsteadyChannel([]).push }],
    [{ type: "welcome", channel: push, maxAttempts: 0 }],
    [{ type: "welcome", channel: push, backoff: { kind: "exponential", base: "1s", jitter: 1 } }],
    [{ type: "welcome", channel: push, backoff: { kind: "exponential" } }],
    [{ type: "welcome", channel: push, retryOwner: "supervisor" }],
    [{ channel: push }],
  ])("refuses the definition %o", (definition) => {
    expect(() => defineSupervisor(unchecked(definition))).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
  });
});

/** The worker dies at the n-th pass of this point. */
function armAt(
  kit: Awaited<ReturnType<typeof openTest>>,
  point: "record" | "settle" | "start",
  n: number,
): void {
  const verb = point === "start" ? "claim" : point;
  let left = n;
  const arm = (): void => {
    left -= 1;
    if (left === 0) kit.crashAt(point);
  };
  const call: (...args: any[]) => Promise<unknown> = kit.store[verb].bind(kit.store);
  arm();
  Reflect.set(kit.store, verb, async (...args: any[]) => {
    const answer: any = await call(...args);
    if (verb !== "claim" || answer.jobs.length > 0) arm();
    return answer;
  });
}
