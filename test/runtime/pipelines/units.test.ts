/** `ctx.step` and `ctx.each`: what is stored of them, and what a later run does not repeat. */
import { defineJob, NonRetryableError, TransientError, type Events, type Millrace } from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, unchecked, untilAborted } from "../support.ts";

/** What the ledger says of each unit. */
async function unitsOf(mill: Millrace, { id }: { id: string }): Promise<Record<string, string>> {
  const { units } = await mill.jobs.units(id, { limit: 1_000 });
  return Object.fromEntries(units.map(({ key, state }) => [key, state]));
}

describe("the event job:unit", () => {
  test("tells of each unit that completes or fails, and of the job's id", async () => {
    await using kit = await openTest();
    const heard: Events["job:unit"][] = [];
    const off = kit.mill.on("job:unit", (event) => heard.push(event));
    const long = "x".repeat(2_000);
    const job = defineJob({ type: "job" })
      .phase("fetch", (_, ctx) => ctx.step("list", () => 2))
      .phase("build", (_, ctx) =>
        ctx.each(
          ["a", "b"],
          (unit) => unit,
          (unit) => {
            if (unit === "b") throw new RangeError(long);
          },
        ),
      );
    const { id } = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.settled();

    expect(heard.toSorted((left, right) => (left.key < right.key ? -1 : 1))).toEqual([
      { id, phase: "build", key: "a", state: "completed" },
      {
        id,
        phase: "build",
        key: "b",
        state: "failed",
        error: {
          class: "retryable",
          name: "RangeError",
          message: long.slice(0, 500),
          cause: expect.any(String),
        },
      },
      { id, phase: "fetch", key: "list", state: "completed" },
    ]);
    off();
  });

  test("has one row of the feed for all units that are stored together", async () => {
    await using kit = await openTest();
    const units = Array.from({ length: 100 }, (_, index) => `unit ${index}`);
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        units,
        (unit) => unit,
        () => {},
        { concurrency: 100 },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);
    const heard: string[] = [];
    kit.mill.on("job:unit", ({ key, phase }) => heard.push(`${phase} ${key}`));

    await kit.drain([job]);
    await kit.settled();

    const rows = (await kit.events(enqueued)).filter((kind) => kind === "job:unit");
    expect(rows.length).toBeLessThanOrEqual(2);
    expect(heard.toSorted()).toEqual(units.map((unit) => `null ${unit}`).toSorted());
  });
});

describe("the units of a job", () => {
  test("are listed in the order in which they were given, also in its successor", async () => {
    await using kit = await openTest();
    const names = ["zebra", "apple", "mango", "banana"];
    let isBroken = true;
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.step("plan", () => names.length);
      await ctx.each(
        names,
        (name) => name,
        (name) => {
          if (isBroken && name !== "banana" && name !== "mango") throw new Error(`no ${name}`);
        },
      );
      await ctx.step("check", () => "checked");
    });
    const listed = async (id: string, filter = {}): Promise<readonly string[]> =>
      (await kit.mill.jobs.units(id, filter)).units.map(({ key }) => key);
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);

    const { failedUnits } = await kit.mill.jobs.details(id);
    isBroken = false;
    const again = await kit.mill.jobs.retry(id);
    await kit.drain([job]);

    expect(await listed(id)).toEqual(["plan", ...names, "check"]);
    expect(await listed(id, { state: "failed" })).toEqual(["zebra", "apple"]);
    expect(failedUnits.map(({ key }) => key)).toEqual(["zebra", "apple"]);
    expect(await listed(again.id)).toEqual(["plan", ...names, "check"]);
    const first = await kit.mill.jobs.units(id, { limit: 2 });
    const next = await kit.mill.jobs.units(id, { limit: 9, after: first.next ?? "" });
    expect([...first.units, ...next.units].map(({ key }) => key)).toEqual(await listed(id));
  });

  test("are listed in the order in which their phases run, on every page", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" })
      .phase("unpack", (_, ctx) => ctx.step("archive", () => 1))
      .phase("plan", () => {})
      .phase("build", (_, ctx) =>
        ctx.each(
          ["b", "a"],
          (name) => name,
          (name) => {
            if (name === "a") throw new NonRetryableError("no a");
          },
        ),
      );
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);
    const whole = ["unpack archive", "build b", "build a"];

    const pages: string[] = [];
    let after: string | null = "";
    for (let page = 0; page <= whole.length && after !== null; page += 1) {
      const from = after === "" ? {} : { after };
      const { units, next } = await kit.mill.jobs.units(id, { limit: 1, ...from });
      pages.push(...units.map(({ phase, key }) => `${phase} ${key}`));
      after = next;
    }

    const all = await kit.mill.jobs.units(id);
    expect(all.units.map(({ phase, key }) => `${phase} ${key}`)).toEqual(whole);
    expect(pages).toEqual(whole);
    const failed = await kit.mill.jobs.units(id, { state: "failed" });
    expect(failed.units.map(({ key }) => key)).toEqual(["a"]);
    const unpacked = await kit.mill.jobs.units(id, { phase: "unpack" });
    expect(unpacked.units.map(({ key }) => key)).toEqual(["archive"]);
    const { next } = await kit.mill.jobs.units(id, { limit: 1 });
    const beyond = await kit.mill.jobs.units(id, { phase: "unpack", after: next ?? "" });
    expect(beyond).toEqual({ units: [], next: null });
  });

  test("are not counted for a page within a phase", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c"],
        (name) => name,
        () => {},
      ),
    );
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);
    const first = await kit.mill.jobs.units(id, { limit: 1 });
    const calls = countCalls(kit.store, "progress");

    const second = await kit.mill.jobs.units(id, { limit: 1, after: first.next ?? "" });

    expect(second.units.map(({ key }) => key)).toEqual(["b"]);
    expect(calls).toEqual({ progress: 0 });
  });
});

describe("ctx.step", () => {
  test("gives a later attempt the stored result instead of a second call", async () => {
    await using kit = await openTest();
    let charges = 0;
    const charge = defineJob({ type: "charge" }).run(async (_, ctx) => {
      const receipt = await ctx.step("charge", () => ({ number: (charges += 1), at: new Date(0) }));
      if (ctx.attempt === 1) throw new TransientError("no");
      return receipt;
    });
    const job = await kit.mill.enqueue(charge);

    await kit.drain([charge]);
    await kit.advance("1m");
    await kit.drain([charge]);

    expect(await kit.mill.result(job)).toEqual({ number: 1, at: "1970-01-01T00:00:00.000Z" });
    expect(charges).toBe(1);
  });

  test("C-19 is forgotten by a new attempt with onRetry restart", async () => {
    await using kit = await openTest();
    let calls = 0;
    const job = defineJob({ type: "job", onRetry: "restart" }).run(async (_, ctx) => {
      const call = await ctx.step("step", () => (calls += 1));
      if (ctx.attempt === 1) throw new TransientError("no");
      return call;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("1m");
    await kit.drain([job]);

    expect(await kit.mill.result(enqueued)).toBe(2);
  });

  test("is kept over a snooze, also with onRetry restart", async () => {
    await using kit = await openTest();
    let calls = 0;
    const job = defineJob({ type: "job", onRetry: "restart" }).run(async (_, ctx) => {
      if ((await ctx.step("step", () => (calls += 1))) === calls && ctx.lease.fence < 2) {
        ctx.snooze("1m");
      }
      return calls;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("2m");
    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["snoozed", "succeeded"]);
    expect(await kit.mill.result(enqueued)).toBe(1);
  });

  test("throws what its function throws, and notes the failure", async () => {
    await using kit = await openTest();
    const cause = new RangeError("no");
    const caught: unknown[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.step("bad", () => Promise.reject(cause)).catch((error) => caught.push(error));
      return ctx.step("good", () => "well");
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(caught).toEqual([cause]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({ bad: "failed", good: "completed" });
    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      result: "well",
      failedUnits: 1,
    });
  });

  test("has failed when its result cannot be stored, which no retry can fix", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) => ctx.step("bad", () => new Map()));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: expect.stringContaining("result is an instance") },
    });
  });

  test("of a name that this run has used is refused: it would get the other's result", async () => {
    await using kit = await openTest();
    const refused = { code: "UNIT_DUPLICATE" };
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      await ctx.step("index", () => 1);
      await expect(ctx.step("index", () => 2)).rejects.toMatchObject(refused);
      await expect(ctx.each(["index"], String, () => 3)).rejects.toMatchObject(refused);
      await ctx.each(["a", "b"], String, () => 4);
      await expect(ctx.each(["b", "c"], String, () => 5)).rejects.toMatchObject(refused);
      return "done";
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.result(enqueued)).toBe("done");
  });

  test("of a name that is under way is refused", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const end = latch();
      const first = ctx.step("same", () => end.passed);
      await expect(ctx.step("same", () => 2)).rejects.toMatchObject({ code: "UNIT_DUPLICATE" });
      end.open();
      await first;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
  });

  test("of the same name in another phase is another step", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" })
      .phase("one", (_, ctx) => ctx.step("same", () => 1))
      .phase("two", (_, ctx) => ctx.step("same", () => 2));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.result(enqueued)).toBe(2);
    const { units } = await kit.mill.jobs.units(enqueued.id);
    expect(units).toMatchObject([
      { phase: "one", key: "same", result: 1 },
      { phase: "two", key: "same", result: 2 },
    ]);
  });
});

describe("ctx.each", () => {
  test("000-04, 000-25 collects every failure, in the order of items", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        [5, 4, 3, 2, 1],
        (n) => `unit-${n}`,
        async (n, unit) => {
          for (let turn = 0; turn < n; turn += 1) await new Promise(setImmediate);
          if (n % 2 === 0) throw new TransientError(`${unit.key} is even`);
          return new Date(n);
        },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    const failed = (n: number) => ({
      key: `unit-${n}`,
      error: { class: "transient", name: "TransientError", message: `unit-${n} is even` },
    });
    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      failedUnits: 2,
      result: {
        total: 5,
        completed: [
          { key: "unit-5", result: "1970-01-01T00:00:00.005Z" },
          { key: "unit-3", result: "1970-01-01T00:00:00.003Z" },
          { key: "unit-1", result: "1970-01-01T00:00:00.001Z" },
        ],
        failed: [failed(4), failed(2)],
      },
    });
  });

  test("000-04 runs units side by side", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const second = latch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["first", "second"], String, async (name) => {
        if (name === "first") await second.passed;
        else second.open();
        ran.push(name);
      }),
    );
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(ran.toSorted()).toEqual(["first", "second"]);
  });

  test("000-16, 000-42 leaves the errors of failed units on the job", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).phase("editions", async (_, ctx) => {
      const { failed } = await ctx.each(["main", "DM-12345"], String, (slug) => {
        if (slug === "DM-12345") throw new Error("R2 timeout after 3 retries");
      });
      return failed.length;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      result: 1,
    });
    expect(await kit.mill.jobs.units(enqueued.id, { state: "failed" })).toMatchObject({
      units: [
        {
          phase: "editions",
          key: "DM-12345",
          state: "failed",
          error: { message: "R2 timeout after 3 retries", stack: expect.stringContaining("at ") },
        },
      ],
      next: null,
    });
  });

  test("000-21 shows all units before the first runs, and which one runs", async () => {
    await using kit = await openTest();
    const [begun, end] = [latch(), latch()];
    const job = defineJob({ type: "job" }).phase("editions", (_, ctx) =>
      ctx.each(
        ["a", "b", "c"],
        String,
        async () => {
          begun.open();
          await end.passed;
        },
        { concurrency: 1 },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await begun.passed;

    const { phases } = await kit.mill.jobs.progress(enqueued.id);
    expect(phases).toMatchObject([
      { units: { total: 3, planned: 2, running: 1, completed: 0, failed: 0 }, state: "running" },
    ]);
    expect(await kit.mill.jobs.holders("a")).toMatchObject([
      { id: enqueued.id, phase: "editions" },
    ]);
    expect(await kit.mill.jobs.holders("c")).toEqual([]);
    end.open();
    await kit.settled();
    expect(await kit.mill.jobs.holders("c")).toEqual([]);
  });

  test("000-43 rejects when all failed, and the job fails", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", maxAttempts: 2 }).run((_, ctx) =>
      ctx.each(["a", "b", "c"], String, (key) => {
        throw key === "a" ? new NonRetryableError("a is gone") : new TransientError("no");
      }),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    await kit.advance("1m");
    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { class: "retryable", message: 'all 3 units failed; "a": a is gone' },
    });
  });

  test("of which every failure is final is not tried again", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, () => Promise.reject(new NonRetryableError("gone"))),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable" },
    });
  });

  test("asks the job how a foreign error counts", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job", classify: () => "non_retryable" }).run((_, ctx) =>
      ctx.each(["a"], String, () => Promise.reject(new Error("gone"))),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    expect(await kit.mill.wait(enqueued)).toMatchObject({
      error: { message: 'the only unit failed; "a": gone' },
    });
  });

  test("in a later run calls only units that have not completed, and answers all", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const units = await ctx.each(["a", "b", "c"], String, (key) => {
        ran.push(key);
        if (key === "b" && ctx.attempt === 1) throw new Error("no");
        return { key, attempt: ctx.attempt };
      });
      if (ctx.attempt === 1) throw new TransientError("no");
      return units;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({
      a: "completed",
      b: "failed",
      c: "completed",
    });
    await kit.advance("1m");
    await kit.drain([job]);

    expect(ran).toEqual(["a", "b", "c", "b"]);
    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed",
      result: {
        total: 3,
        completed: [
          { key: "a", result: { attempt: 1 } },
          { key: "b", result: { attempt: 2 } },
          { key: "c", result: { attempt: 1 } },
        ],
      },
    });
  });

  test("of which only repeated units fail is no failure of the whole", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const { failed } = await ctx.each(["a", "b"], String, (key) => {
        if (key === "b") throw new Error("no");
      });
      if (ctx.attempt === 1) throw new TransientError("no");
      return failed.length;
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("1m");
    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      result: 1,
      failedUnits: 1,
    });
  });

  test("000-42 counts failed units of a phase that an earlier run completed", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" })
      .phase("editions", async (_, ctx) => {
        await ctx.each(["a", "b"], String, (key) => {
          if (key === "b") throw new Error("no");
        });
      })
      .phase("dashboard", (_, ctx) => {
        if (ctx.attempt === 1) throw new TransientError("no");
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("1m");
    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      failedUnits: 1,
    });
  });

  test("after a crash in the middle repeats what was not stored, and nothing else", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c"],
        String,
        (key) => {
          ran.push(key);
          if (ran.length === 2) kit.crashAt("record");
        },
        { concurrency: 1 },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({
      a: "completed",
      b: "running",
      c: "planned",
    });
    await kit.advance("47s");
    await kit.drain([job]);

    expect(ran).toEqual(["a", "b", "b", "c"]);
    expect((await kit.mill.wait(enqueued)).state).toBe("completed");
  });

  test("runs no more side by side than told", async () => {
    await using kit = await openTest();
    let [now, most] = [0, 0];
    const items = Array.from({ length: 50 }, (_, i) => i);
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      for (const options of [{}, { concurrency: 3 }]) {
        most = 0;
        const key = (i: number): string => `${options.concurrency ?? 10} of ${i}`;
        await ctx.each(
          items,
          key,
          async () => {
            most = Math.max(most, (now += 1));
            await new Promise(setImmediate);
            now -= 1;
          },
          options,
        );
        expect(most).toBe(options.concurrency ?? 10);
      }
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
  });

  test("whose run is interrupted starts no more, and no unit has failed by it", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const bothRun = latch();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(
        ["a", "b", "c"],
        String,
        async (key, { signal }) => {
          ran.push(key);
          if (ran.length > 2) return;
          if (ran.length === 2) bothRun.open();
          await untilAborted(signal).catch((error) => {
            if (key === "a") throw error;
          });
        },
        { concurrency: 2 },
      ),
    );
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await bothRun.passed;
    const stopped = worker.stop({ grace: 0 });
    await kit.advance("1s");
    await stopped;

    expect(await kit.outcomes(enqueued)).toEqual(["interrupted"]);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({
      a: "planned",
      b: "completed",
      c: "planned",
    });
    await kit.drain([job]);
    expect(ran).toEqual(["a", "b", "a", "c"]);
    expect((await kit.mill.wait(enqueued)).state).toBe("completed");
  });

  test("in which a unit snoozes lets the others end, and goes on later", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, async (key) => {
        ran.push(key);
        await new Promise(setImmediate);
        if (key === "a" && ran.length <= 2) ctx.snooze("1m");
      }),
    );
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    await kit.advance("2m");
    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["snoozed", "succeeded"]);
    expect(ran).toEqual(["a", "b", "a"]);
    expect((await kit.mill.wait(enqueued)).state).toBe("completed");
  });

  test("of nothing answers nothing", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" }).run((_, ctx) => ctx.each([], String, () => 1));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.result(enqueued)).toEqual({ total: 0, completed: [], failed: [] });
  });

  test.each([
    ["a key twice", [["a", "b", "a"]], "UNIT_DUPLICATE", 'the unit "a" occurs twice'],
    ["a key that is no text", [[1]], "OPTION_INVALID", "the key of item 0 must be a text"],
    ["an empty key", [["a", ""]], "OPTION_INVALID", "the key of item 1"],
    ["a key that is too long", [["x".repeat(501)]], "OPTION_INVALID", "at most 500 characters"],
    ["no slots", [["a"], { concurrency: 0 }], "OPTION_INVALID", "from 1 to 1000, not 0"],
    ["an unknown option", [["a"], { concurency: 2 }], "OPTION_INVALID", "did you mean"],
    [
      "an exclusive name that is no text",
      [["a", "b"], { exclusive: (item: string) => (item === "b" ? 7 : item) }],
      "OPTION_INVALID",
      "the exclusive key of item 1 must be a text",
    ],
    [
      "an empty exclusive name",
      [["a"], { exclusive: () => "" }],
      "OPTION_INVALID",
      "the exclusive key of item 0",
    ],
    [
      "an exclusive name that is too long",
      [["a"], { exclusive: () => "x".repeat(501) }],
      "OPTION_INVALID",
      "at most 500 characters",
    ],
  ])("refuses %s before anything runs", async (_, [items, options], code, message) => {
    await using kit = await openTest();
    let calls = 0;
    const job = defineJob({ type: "job" }).run(async (__, ctx) => {
      const { each } = unchecked(ctx);
      const refused = each(
        items,
        (item: unknown) => item,
        () => (calls += 1),
        options,
      );
      await expect(refused).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    expect(calls).toBe(0);
    expect(await unitsOf(kit.mill, enqueued)).toEqual({});
  });

  test("refuses more units than a phase may have, also of a list without end", async () => {
    await using kit = await openTest();
    const endless = function* (): Iterable<number> {
      for (let i = 0; ; i += 1) yield i;
    };
    const job = defineJob({ type: "job" }).run((_, ctx) => ctx.each(endless(), String, () => 1));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: expect.stringContaining("at most 100000 units") },
    });
  });

  test("runs 10,000 units, of which each is stored, in far fewer calls", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record");
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const items = Array.from({ length: 10_000 }, (__, i) => i);
      const units = await ctx.each(
        items,
        String,
        (i) => {
          if (i % 1_000 === 7) throw new Error("no");
        },
        { concurrency: 100 },
      );
      return [units.total, units.completed.length, units.failed.length];
    });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.wait(enqueued)).toMatchObject({
      state: "completed_with_errors",
      result: [10_000, 9_990, 10],
      failedUnits: 10,
    });
    const { units } = await kit.mill.jobs.progress(enqueued.id);
    expect(units).toEqual({
      total: 10_000,
      planned: 0,
      running: 0,
      completed: 9_990,
      failed: 10,
    });
    expect(calls["record"]).toBeLessThan(1_000);
  });
});

describe("jobs.units", () => {
  test("is read page by page, in the order of phase and key", async () => {
    await using kit = await openTest();
    const items = ["a", "b", "c", "d", "e"];
    const job = defineJob({ type: "job" })
      .phase("one", (_, ctx) => ctx.each(items, String, (key) => key))
      .phase("two", (_, ctx) => ctx.step("a", () => "step"));
    const { id } = await kit.mill.enqueue(job);
    await kit.drain([job]);

    const found: string[] = [];
    let after: string | undefined;
    for (let isMore = true; isMore;) {
      const page = await kit.mill.jobs.units(id, { limit: 2, ...(after && { after }) });
      found.push(...page.units.map(({ phase, key }) => `${phase} ${key}`));
      after = page.next ?? undefined;
      isMore = page.next !== null;
    }

    expect(found).toEqual(["one a", "one b", "one c", "one d", "one e", "two a"]);
    expect(await kit.mill.jobs.units(id, { phase: "two" })).toMatchObject({
      units: [{ key: "a", result: "step", error: null }],
    });
  });

  test.each([
    [{ state: "done" }, "state"],
    [{ fase: "one" }, "fase"],
    [{ after: "nonsense" }, "after"],
    [{ limit: 0 }, "limit"],
  ])("refuses the filter %o", async (filter, option) => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(defineJob({ type: "job" }));

    await expect(kit.mill.jobs.units(id, unchecked(filter))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      details: { option },
    });
  });
});

describe("units that have not ended", () => {
  test("run only while their function does, and are planned otherwise", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const seen: unknown[] = [];
    const items = ["a", "b", "c", "d", "e"];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const keysIn = async (state: "planned" | "running"): Promise<string> =>
        (await mill.jobs.units(ctx.job.id, { state })).units.map(({ key }) => key).join("");
      const look = async (unit: string): Promise<void> => {
        const { planned, running, completed } = (await mill.jobs.progress(ctx.job.id)).units;
        const holders = await Promise.all(items.map((key) => mill.jobs.holders(key)));
        const held = items.filter((__, index) => holders[index]?.length === 1).join("");
        seen.push([
          unit,
          { planned: await keysIn("planned"), running: await keysIn("running"), held },
          [planned, running, completed],
        ]);
      };
      await ctx.each(items, String, look, { concurrency: 1 });
    });
    await mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([
      ["a", { planned: "bcde", running: "a", held: "a" }, [4, 1, 0]],
      ["b", { planned: "cde", running: "b", held: "b" }, [3, 1, 1]],
      ["c", { planned: "de", running: "c", held: "c" }, [2, 1, 2]],
      ["d", { planned: "e", running: "d", held: "d" }, [1, 1, 3]],
      ["e", { planned: "", running: "e", held: "e" }, [0, 1, 4]],
    ]);
  });

  test("are planned while they wait for their lock", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const seen: unknown[] = [];
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      const look = async (unit: string): Promise<void> => {
        const { planned, running } = (await mill.jobs.progress(ctx.job.id)).units;
        const holders = await mill.jobs.holders(unit);
        seen.push([unit, planned, running, holders.length]);
      };
      await ctx.each(["a", "b"], String, look, { exclusive: () => "one", concurrency: 2 });
    });
    await mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([
      ["a", 1, 1, 1],
      ["b", 0, 1, 1],
    ]);
  });

  test("start in the note that ends the unit before, and cost no call", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "record");
    const items = Array.from({ length: 20 }, (_, index) => index);
    const job = defineJob({ type: "job" }).run(async (_, ctx) => {
      // So that the units do not tell their progress, which takes calls of its own.
      await ctx.progress(1);
      await ctx.each(items, String, () => kit.settled(), { concurrency: 1 });
    });
    const { id } = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
    // One for the progress, one to plan all units, and one for the end of each.
    expect(calls["record"]).toBe(22);
  });

  test("of a run that has ended are planned again", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const seen: unknown[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", async (_, ctx) => {
        const units = ctx.each(["a", "b"], String, async (unit) => {
          if (unit === "b") return;
          const { units: running } = await mill.jobs.units(ctx.job.id, { state: "running" });
          const holders = await mill.jobs.holders("a");
          seen.push(running[0]?.key, holders[0]?.id === ctx.job.id);
          ctx.snooze("1h");
        });
        await units;
      });
    const { id } = await mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual(["a", true]);
    expect(await mill.jobs.holders("a")).toEqual([]);
    expect((await mill.jobs.units(id, { state: "running" })).units).toEqual([]);
    expect((await mill.jobs.units(id, { state: "planned" })).units).toMatchObject([
      { key: "a", phase: "two", state: "planned" },
    ]);
    const counts = { total: 2, planned: 1, running: 0, completed: 1, failed: 0 };
    const { units, phases } = await mill.jobs.progress(id);
    expect(units).toEqual(counts);
    expect(phases.find(({ name }) => name === "two")?.units).toEqual(counts);
  });
});
