import { AssertionError } from "node:assert";
import { describe, expect, test } from "vitest";
import { defineJob, typed } from "../api/define.ts";
import { createTestMill } from "./index.ts";

const email = defineJob({
  type: "email",
  payload: typed<{ to: string; body?: { lines: string[] } }>(),
}).run(({ to }) => `sent to ${to}`);

describe("drain", () => {
  test("answers how the runs of this call ended", async () => {
    await using kit = await createTestMill();
    const mixed = defineJob({ type: "mixed", payload: typed<string>() }).run((what, ctx) => {
      if (what === "snooze") ctx.snooze("1h");
      if (what === "fail") throw new Error("no");
    });
    await kit.mill.enqueueMany([mixed.of("ok"), mixed.of("ok"), mixed.of("fail")]);
    await kit.mill.enqueue(mixed, "snooze");

    const first = await kit.drain([mixed]);
    const second = await kit.drain([mixed]);

    expect(first).toMatchObject({ succeeded: 2, failed: 1, snoozed: 1, crashed: 0 });
    expect(Object.values(second).every((count) => count === 0)).toBe(true);
  });

  test("leaves alone what is due later, and leaves no timer and no worker behind", async () => {
    await using kit = await createTestMill();
    const job = await kit.mill.enqueue(email, { to: "ada" }, { delay: "1s" });

    await kit.drain([email]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "scheduled" });
    expect(await kit.mill.workers.list()).toEqual([]);
    expect(kit.clock.pending).toBe(0);
  });

  test("waits for handlers that wait for the outside world", async () => {
    await using kit = await createTestMill();
    const reading = defineJob({ type: "reading" }).run(
      () => new Promise<string>((resolve) => setTimeout(() => resolve("read"), 5)),
    );
    const job = await kit.mill.enqueue(reading);

    await kit.drain([reading]);

    expect(await kit.mill.result(job)).toBe("read");
  });

  test("goes on with units when another job has given up their name", async () => {
    await using kit = await createTestMill();
    const ran: string[] = [];
    const publish = defineJob({ type: "publish", payload: typed<string>() }).run((run, ctx) =>
      ctx.each(
        ["a", "b"],
        String,
        async () => {
          await outside();
          ran.push(run);
        },
        { exclusive: () => "docs/main" },
      ),
    );
    await kit.mill.enqueueMany(["1", "2", "3"].map((run) => publish.of(run)));

    expect((await kit.drain([publish])).succeeded).toBe(3);

    expect(ran).toEqual(["1", "1", "2", "2", "3", "3"]);
  });

  test("goes on with units when a job of that concurrency key has ended, and back", async () => {
    await using kit = await createTestMill();
    const ran: string[] = [];
    const keyed = defineJob({ type: "keyed" }).run(async () => {
      await outside();
      ran.push("keyed");
    });
    const units = defineJob({ type: "units" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, () => void ran.push("unit"), { exclusive: () => "docs/main" }),
    );
    const key = { concurrencyKey: "docs/main" };
    await kit.mill.enqueue(keyed, undefined, key);
    await kit.mill.enqueue(units);
    await kit.mill.enqueue(keyed, undefined, key);

    expect((await kit.drain([keyed, units])).succeeded).toBe(3);

    expect(ran.toSorted()).toEqual(["keyed", "keyed", "unit", "unit"]);
  });

  test("goes on with units when the run that had their name was cut off within", async () => {
    await using kit = await createTestMill();
    const ran: string[] = [];
    const job = defineJob({ type: "job", payload: typed<string>() }).run((run, ctx) =>
      ctx.each(
        ["unit"],
        String,
        async () => {
          await outside();
          if (run === "first") ctx.snooze("1h");
          ran.push(run);
        },
        { exclusive: () => "docs/main" },
      ),
    );
    await kit.mill.enqueueMany([job.of("first"), job.of("second")]);

    expect(await kit.drain([job])).toMatchObject({ snoozed: 1, succeeded: 1 });

    expect(ran).toEqual(["second"]);
  });

  test("gives up on jobs that have no end", async () => {
    await using kit = await createTestMill();
    const contract = defineJob({ type: "endless" });
    const endless = contract.run(async () => void (await kit.mill.enqueue(contract)));
    await kit.mill.enqueue(endless);

    await expect(kit.drain([endless], { runsMax: 100 })).rejects.toThrow(/still due jobs/);
  });

  test("asks for the deps of its jobs, as a worker does", async () => {
    await using kit = await createTestMill();
    const job = defineJob({ type: "job" })
      .using<{ answer: number }>()
      .run((_, ctx) => ctx.deps.answer);
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job], { deps: { answer: 42 } });

    expect(await kit.mill.result(enqueued)).toBe(42);
  });
});

describe("advance", () => {
  test("moves the clock by exactly that and makes jobs due", async () => {
    await using kit = await createTestMill({ startAt: 1_000 });
    const job = await kit.mill.enqueue(email, { to: "ada" }, { delay: "1h" });

    await kit.advance("59m");
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "scheduled" });
    await kit.advance("1m");

    expect(kit.clock.now()).toBe(3_601_000);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued" });
  });

  test("fires timers at their own moment, in order, also those set on the way", async () => {
    await using kit = await createTestMill({ startAt: 0 });
    const fired: [string, number][] = [];
    const note = (name: string) => () => void fired.push([name, kit.clock.now()]);
    kit.clock.after(300, note("last"));
    kit.clock.after(100, () => {
      note("first")();
      kit.clock.after(50, note("set on the way"));
    });
    const callOff = kit.clock.after(120, note("called off"));
    callOff();

    await kit.advance(200);
    expect(kit.clock.now()).toBe(200);
    await kit.advance(100);

    expect(fired).toEqual([
      ["first", 100],
      ["set on the way", 150],
      ["last", 300],
    ]);
  });

  test("of years is no matter when nothing waits", async () => {
    await using kit = await createTestMill({ startAt: 0 });

    await kit.advance("3650d");

    expect(kit.clock.now()).toBe(3650 * 86_400_000);
  });
});

describe("expectEnqueued", () => {
  test("finds a job by part of its payload and by what else is said", async () => {
    await using kit = await createTestMill();
    const job = await kit.mill.enqueue(
      email,
      { to: "ada", body: { lines: ["Hello"] } },
      { tenant: "acme", priority: "high", tags: { kind: "welcome", month: "5" }, delay: "1m" },
    );

    const found = await kit.expectEnqueued(
      email,
      { body: { lines: ["Hello"] } },
      {
        tenant: "acme",
        priority: 50,
        tags: { kind: "welcome" },
        runAt: new Date(kit.clock.now() + 60_000),
      },
    );

    expect(found.id).toBe(job.id);
  });

  test.each([
    ["another payload", { to: "bob" }, {}],
    ["a longer list", { body: { lines: ["Hello", "World"] } }, {}],
    ["a shorter list", { body: { lines: [] } }, {}],
    ["another tenant", undefined, { tenant: "other" }],
    ["another tag", undefined, { tags: { kind: "bye" } }],
  ])("is not content with %s, and shows what there is", async (_, payload, options) => {
    await using kit = await createTestMill();
    await kit.mill.enqueue(email, { to: "ada", body: { lines: ["Hello"] } });

    const refused = kit.expectEnqueued(email, payload, options);

    await expect(refused).rejects.toBeInstanceOf(AssertionError);
    await expect(refused).rejects.toThrow('"to":"ada"');
    await kit.expectNotEnqueued(email, payload, options);
  });

  test("says so when nothing at all was enqueued", async () => {
    await using kit = await createTestMill();

    await expect(kit.expectEnqueued(email)).rejects.toThrow("there are no jobs");
  });
});

describe("expectNotEnqueued", () => {
  test("throws with the job that should not be there", async () => {
    await using kit = await createTestMill();
    const job = await kit.mill.enqueue(email, { to: "ada" });

    await expect(kit.expectNotEnqueued(email, { to: "ada" })).rejects.toThrow(job.id);
    await kit.expectNotEnqueued(defineJob({ type: "other" }));
  });
});

describe("crashAt", () => {
  test.each([
    ["start", 0],
    ["settle", 1],
  ] as const)("%s kills one worker there, after %i run(s) of the handler", async (point, runs) => {
    await using kit = await createTestMill();
    let count = 0;
    const counting = defineJob({ type: "counting" }).run(() => (count += 1));
    const job = await kit.mill.enqueue(counting);
    kit.crashAt(point);

    await kit.drain([counting]);
    expect(count).toBe(runs);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "running" });
    await kit.advance("47s");
    await kit.drain([counting]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed", attempts: 2 });
  });
});

describe("the end of a test mill", () => {
  test("does not wait for handlers that never end", async () => {
    const kit = await createTestMill();
    const deaf = defineJob({ type: "deaf" }).run(() => new Promise(() => {}));
    await kit.mill.enqueue(deaf);
    kit.mill.work({ jobs: [deaf] });
    await kit.settled();

    await kit[Symbol.asyncDispose]();

    await expect(kit.mill.jobs.stats()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});

/** What a handler waits for outside of the kit. */
function outside(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 2));
}
