/** What feeds the breaker of a service, and what an open breaker does to jobs. */
import {
  defineJob,
  lipas,
  lipasDev,
  NonRetryableError,
  RateLimitedError,
  RetryableError,
  TransientError,
  typed,
  type Context,
} from "millrace";
import { describe, expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest, type RuntimeTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 3, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 } } as const;

/** A provider that counts its calls. */
function makeBank(isUp = false) {
  const bank = {
    calls: 0,
    isUp,
    error: (): Error => new TransientError("hung up"),
    pay(): string {
      bank.calls += 1;
      if (!bank.isUp) throw bank.error();
      return "paid";
    },
  };
  return bank;
}

async function addJobs(kit: RuntimeTest, job: any, count: number): Promise<{ id: string }[]> {
  const jobs = [];
  for (let index = 0; index < count; index += 1) jobs.push(await kit.mill.enqueue(job));
  return jobs;
}

const stateOf = async (kit: RuntimeTest): Promise<string> =>
  (await kit.mill.breakers.get("bank")).state;

describe("a job with one declared service", () => {
  test("feeds its breaker: failures open it, and the others wait uncharged (004-23)", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    const jobs = await addJobs(kit, pay, 10);

    const ended = await kit.drain([pay], OPTIONS);

    expect(ended).toMatchObject({ failed: 3, succeeded: 0 });
    expect(bank.calls).toBe(3);
    expect(await kit.mill.breakers.get("bank")).toMatchObject({
      state: "open",
      failures: 3,
      reason: "TransientError: hung up",
      types: ["pay"],
    });
    expect(kit.logged).toContainEqual({
      level: "warn",
      message: "breaker opened",
      fields: { service: "bank", reason: "TransientError: hung up" },
    });
    const attempts = await Promise.all(jobs.map(({ id }) => kit.mill.jobs.get(id)));
    expect(attempts.reduce((sum, job) => sum + job.attempts, 0)).toBe(3);
  });

  test.each([
    { name: "lipasDev", given: lipasDev, failures: 3, openMs: 30_000 },
    { name: "lipas", given: lipas, failures: 5, openMs: 60_000 },
  ])(
    "obeys the breaker of the preset $name (004-27, 004-28)",
    async ({ given, failures, openMs }) => {
      await using kit = await openTest({ preset: given });
      const bank = makeBank();
      const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
      await addJobs(kit, pay, 10);

      await kit.drain([pay], { preset: given, lanes: { general: 1 } });

      expect(bank.calls).toBe(failures);
      const { openedAt, probeAt } = await kit.mill.breakers.get("bank");
      expect((probeAt?.getTime() ?? 0) - (openedAt?.getTime() ?? 0)).toBe(openMs);
    },
  );

  test("keeps its error, is retried, and counts for the breaker (004-21)", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const backoff = { kind: "fixed", base: "10s", jitter: 0 } as const;
    const settings = { type: "pay", services: ["bank"], maxAttempts: 2, backoff };
    const pay = defineJob(settings).run(() => bank.pay());
    const job = await kit.mill.enqueue(pay);

    await kit.drain([pay], OPTIONS);
    expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "closed", failures: 1 });
    const waiting = await kit.mill.jobs.get(job.id);
    expect(waiting).toMatchObject({ state: "scheduled", attempts: 1 });
    expect(waiting.error?.message).toBe("hung up");
    await kit.advance("10s");
    await kit.drain([pay], OPTIONS);

    expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "closed", failures: 2 });
    expect((await kit.mill.deadLetters.get(job.id)).error.message).toBe("hung up");
  });

  test("is tried once when the probe is due, and all jobs complete after recovery", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    const jobs = await addJobs(kit, pay, 6);
    await using worker = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.settled();
    expect(bank.calls).toBe(3);

    await kit.advance("59s");
    expect(bank.calls).toBe(3);
    await kit.advance("4s");
    expect(bank.calls).toBe(4);
    expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "open", failures: 4 });
    bank.isUp = true;
    await kit.advance("65s");

    expect(await stateOf(kit)).toBe("closed");
    await kit.advance("5m");
    for (const { id } of jobs) expect((await kit.mill.jobs.get(id)).state).toBe("completed");
    const history = await kit.mill.breakers.history("bank");
    const states = history.map(({ state }) => state).toReversed();
    expect(states).toEqual(["open", "half_open", "open", "half_open", "closed"]);
    const messages = kit.logged.map(({ message }) => message);
    expect(messages.filter((message) => message.startsWith("breaker"))).toEqual([
      "breaker opened",
      "breaker half-open",
      "breaker opened",
      "breaker half-open",
      "breaker closed",
    ]);
  });

  test.each([
    ["permanent errors", () => new NonRetryableError("wrong account"), 0],
    ["retryable errors", () => new RetryableError("row locked"), 0],
    ["transient errors", () => new TransientError("hung up"), 1],
    ["rate limits", () => new RateLimitedError("429"), 1],
  ])("counts %s as it should", async (_, error, failures) => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
      throw error();
    });
    await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);

    expect((await kit.mill.breakers.get("bank")).failures).toBe(failures);
  });

  test("counts a time-out", async () => {
    await using kit = await openTest({ preset });
    const hang = defineJob({ type: "hang", services: ["bank"], timeout: "1s" }).run(
      (_, ctx) => new Promise((__, reject) => ctx.signal.addEventListener("abort", reject)),
    );
    await addJobs(kit, hang, 1);
    await using worker = kit.mill.work({ jobs: [hang], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.advance("2s");

    expect(await kit.mill.breakers.get("bank")).toMatchObject({ failures: 1 });
  });

  test("begins to count anew after a success", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() =>
      bank.pay(),
    );
    await addJobs(kit, pay, 2);
    await kit.drain([pay], OPTIONS);
    bank.isUp = true;
    await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);
    expect((await kit.mill.breakers.get("bank")).failures).toBe(0);
    bank.isUp = false;
    await addJobs(kit, pay, 2);
    await kit.drain([pay], OPTIONS);

    expect(await stateOf(kit)).toBe("closed");
  });

  test("feeds nothing without a name when it has two services", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", services: ["bank", "smtp"], maxAttempts: 1 });
    const plain = pay.run(() => {
      throw new TransientError("hung up");
    });
    const named = pay.run(() => {
      throw new TransientError("hung up", { service: "smtp" });
    });
    await addJobs(kit, pay, 1);
    await kit.drain([plain], OPTIONS);
    await addJobs(kit, pay, 1);
    await kit.drain([named], OPTIONS);

    const failures = (await kit.mill.breakers.list()).map((each) => [each.service, each.failures]);
    expect(failures).toEqual([
      ["bank", 0],
      ["smtp", 1],
    ]);
  });
});

describe("the jobs that wait for a service", () => {
  test("are counted while its breaker is open", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", services: ["bank", "smtp"] }).run(() => {});
    await kit.drain([pay], OPTIONS);
    await addJobs(kit, pay, 3);
    const counts = async () =>
      (await kit.mill.breakers.list()).map((each) => [each.service, each.waiting]);

    const closed = await counts();
    await kit.mill.breakers.forceOpen("bank", "maintenance", { actor: "ada" });

    const none = { count: 0, atLeast: false };
    expect(closed).toEqual([
      ["bank", none],
      ["smtp", none],
    ]);
    expect(await counts()).toEqual([
      ["bank", { count: 3, atLeast: false }],
      ["smtp", none],
    ]);
    expect((await kit.mill.breakers.get("bank")).waiting.count).toBe(3);
  });
});

describe("a run that was in flight when the breaker opened", () => {
  test("is not charged for its failure, and waits for the probe", async () => {
    await using kit = await openTest({ preset });
    const fall = Promise.withResolvers<never>();
    fall.promise.catch(() => {});
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => fall.promise);
    const jobs = await addJobs(kit, pay, 8);
    const lanes = { general: 8 };
    await using worker = kit.mill.work({ jobs: [pay], preset, lanes, signals: false });
    await worker.ready;
    await kit.settled();
    expect((await kit.mill.workers.list())[0]?.running).toBe(8);

    fall.reject(new TransientError("hung up"));
    await kit.settled();

    const views = await Promise.all(jobs.map(({ id }) => kit.mill.jobs.get(id)));
    expect(views.filter(({ attempts }) => attempts === 1)).toHaveLength(3);
    const uncharged = views.filter(({ attempts }) => attempts === 0);
    for (const { id, state } of uncharged) {
      expect(state).toBe("scheduled");
      expect(await kit.outcomes({ id })).toEqual(["snoozed"]);
    }
  });

  test("is charged for a permanent error", async () => {
    await using kit = await openTest({ preset });
    const fall = Promise.withResolvers<never>();
    fall.promise.catch(() => {});
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => fall.promise);
    const [job] = await addJobs(kit, pay, 1);
    await using worker = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.settled();
    await kit.mill.breakers.forceOpen("bank", "maintenance");
    fall.reject(new NonRetryableError("wrong account"));
    await kit.settled();

    expect((await kit.mill.jobs.get(job!.id)).state).toBe("failed");
  });
});

describe("a probe", () => {
  test("that ends without a verdict is replaced by another job, after the wait", async () => {
    await using kit = await openTest({ preset });
    let isUp = false;
    const tried: string[] = [];
    const pay = defineJob({
      type: "pay",
      services: ["bank"],
      payload: typed<{ name: string }>(),
    }).run(({ name }) => {
      tried.push(name);
      if (name === "wrong") throw new NonRetryableError("wrong account");
      if (!isUp) throw new TransientError("hung up");
    });
    await kit.mill.breakers.reset("bank");
    for (const name of ["a", "b", "c"]) await kit.mill.enqueue(pay, { name });
    await using worker = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.settled();
    await kit.mill.enqueue(pay, { name: "wrong" }, { priority: 1 });
    await kit.mill.enqueue(pay, { name: "right" }, { priority: 2 });
    isUp = true;
    await kit.advance("64s");
    expect(tried).toEqual(["a", "b", "c", "wrong"]);
    expect(await stateOf(kit)).toBe("open");
    await kit.advance("64s");

    expect(tried.slice(0, 5)).toEqual(["a", "b", "c", "wrong", "right"]);
    expect(await stateOf(kit)).toBe("closed");
  });

  test.each([
    ["an error that does not count", () => Promise.reject(new Error("fetch failed"))],
    ["a snooze", (ctx: Context<{}, unknown>) => ctx.snooze("1h")],
  ])("that ends with %s starts no other job before the wait is over", async (_, end) => {
    await using kit = await openTest({ preset });
    let runs = 0;
    const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run((__, ctx) => {
      runs += 1;
      if (runs <= 3) throw new TransientError("hung up");
      return end(ctx);
    });
    await addJobs(kit, pay, 20);
    await using worker = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.settled();
    expect(runs).toBe(3);

    await kit.advance("64s");
    await kit.advance("50s");

    expect(runs).toBe(4);
    const { state, failures } = await kit.mill.breakers.get("bank");
    expect({ state, failures }).toEqual({ state: "open", failures: 3 });
  });

  test("whose worker crashes is replaced after the rescue", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(async (_, ctx) => {
      if (bank.isUp) await ctx.progress(1, null, { flush: true });
      return bank.pay();
    });
    await addJobs(kit, pay, 4);
    await kit.drain([pay], OPTIONS);
    expect(await stateOf(kit)).toBe("open");
    bank.isUp = true;
    kit.crashAt("record");
    const dying = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await dying.ready;
    await kit.advance("62s");
    expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "half_open" });
    await using worker = kit.mill.work({ jobs: [pay], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.advance("20s");
    expect(bank.calls).toBe(3);

    await kit.advance("2m");

    expect(await stateOf(kit)).toBe("closed");
    expect((await kit.mill.jobs.count({ state: "completed" })).count).toBe(4);
  });

  test("runs in a free slot of the worker, and not beside them", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    const over = Promise.withResolvers<void>();
    const slow = defineJob({ type: "slow", timeout: false }).run(() => over.promise);
    await addJobs(kit, pay, 4);
    await kit.drain([pay], OPTIONS);
    await kit.mill.enqueue(slow);
    await using worker = kit.mill.work({ jobs: [pay, slow], ...OPTIONS, signals: false });
    await worker.ready;
    await kit.advance("3m");
    expect(bank.calls).toBe(3);

    bank.isUp = true;
    over.resolve();
    await kit.advance("3m");

    expect(await stateOf(kit)).toBe("closed");
    expect((await kit.mill.jobs.count({ state: "completed" })).count).toBe(5);
  });
});

describe("ctx.breaker", () => {
  test("makes no call while the breaker is open, and ends the run uncharged", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay" }).run((_, ctx) => ctx.breaker("bank", () => bank.pay()));
    const jobs = await addJobs(kit, pay, 6);

    const ended = await kit.drain([pay], OPTIONS);

    expect(bank.calls).toBe(3);
    expect(ended).toMatchObject({ failed: 3, snoozed: 3 });
    const last = await kit.mill.jobs.get(jobs[5]!.id);
    expect(last).toMatchObject({ state: "scheduled", attempts: 0 });
    const { probeAt } = await kit.mill.breakers.get("bank");
    expect(last.runAt!.getTime()).toBeGreaterThanOrEqual(probeAt!.getTime());
  });

  test("makes the run that calls first after the wait the probe", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay" }).run((_, ctx) => ctx.breaker("bank", () => bank.pay()));
    await addJobs(kit, pay, 6);
    await kit.drain([pay], OPTIONS);
    bank.isUp = true;
    await kit.advance("2m");
    await kit.drain([pay], OPTIONS);

    expect(await stateOf(kit)).toBe("closed");
    expect((await kit.mill.jobs.count({ state: "completed" })).count).toBe(6);
  });

  test("counts any error but a permanent one, and throws the error on", async () => {
    await using kit = await openTest({ preset });
    const seen: unknown[] = [];
    const errors = [new Error("odd"), new NonRetryableError("wrong"), new TransientError("gone")];
    const pay = defineJob({ type: "pay", payload: typed<number>(), maxAttempts: 1 }).run(
      async (index, ctx) => {
        await ctx
          .breaker("bank", () => {
            throw errors[index]!;
          })
          .catch((error: unknown) => seen.push(error));
        return "caught";
      },
    );
    for (const index of [0, 1, 2]) await kit.mill.enqueue(pay, index);
    const ended = await kit.drain([pay], OPTIONS);

    expect(seen).toEqual(errors);
    expect(ended.succeeded).toBe(3);
    expect((await kit.mill.breakers.get("bank")).failures).toBe(2);
  });

  test("counts an error once that the handler also names", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run((_, ctx) =>
      ctx.breaker("bank", () => {
        throw new TransientError("hung up", { service: "bank" });
      }),
    );
    await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);

    expect((await kit.mill.breakers.get("bank")).failures).toBe(1);
  });

  test("refuses a name that cannot be stored", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", maxAttempts: 1 }).run((_, ctx) =>
      ctx.breaker("", () => 1),
    );
    const [job] = await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);

    expect((await kit.mill.jobs.get(job!.id)).error?.message).toContain(
      "ctx.breaker: service must",
    );
  });

  test("makes the call when the store does not answer", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank(true);
    const pay = defineJob({ type: "pay" }).run((_, ctx) => ctx.breaker("bank", () => bank.pay()));
    await addJobs(kit, pay, 1);
    kit.failOnce("callServices");
    expect(await kit.drain([pay], OPTIONS)).toMatchObject({ succeeded: 1 });
    expect(bank.calls).toBe(1);
  });
});

describe("a rate limit with retryAfter", () => {
  const limited = (scope?: "tenant") =>
    new RateLimitedError("429", { retryAfter: "30s", service: "bank", scope });

  test("parks the whole service until then", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    bank.error = () => limited();
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    const jobs = await addJobs(kit, pay, 5);
    await kit.drain([pay], OPTIONS);
    expect(bank.calls).toBe(1);
    const until = (await kit.mill.breakers.get("bank")).parkedUntil[0]?.until;
    expect(await kit.mill.jobs.explain(jobs[4]!.id)).toMatchObject({
      sentence:
        `The service bank has asked for a pause until ${until!.toISOString()} ` +
        "(RateLimitedError: 429). 4 jobs wait.",
      reason: "rate_limited",
      until,
    });

    bank.isUp = true;
    await kit.advance("30s");
    await kit.drain([pay], OPTIONS);

    expect(bank.calls).toBe(6);
    expect((await kit.mill.jobs.count({ state: "completed" })).count).toBe(5);
  });

  test("parks one tenant if the error says so", async () => {
    await using kit = await openTest({ preset });
    const calls: string[] = [];
    const pay = defineJob({ type: "pay", services: ["bank"] }).run((_, ctx) => {
      calls.push(ctx.job.tenant);
      if (ctx.job.tenant === "acme") throw limited("tenant");
    });
    for (const tenant of ["acme", "acme", "other", "acme", "other"]) {
      await kit.mill.enqueue(pay, undefined, { tenant });
    }
    const ended = await kit.drain([pay], OPTIONS);

    expect(calls).toEqual(["acme", "other", "other"]);
    expect(ended).toMatchObject({ failed: 1, succeeded: 2 });
    expect(await kit.mill.breakers.get("bank")).toMatchObject({
      failures: 0,
      parkedUntil: [{ tenant: "acme" }],
    });
  });
});

describe("operators", () => {
  test("open a breaker with a reason, and jobs say so until the reset (004-26)", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank(true);
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    await kit.drain([pay], OPTIONS);
    await kit.mill.breakers.forceOpen("bank", "they asked us to stop", { actor: "ada" });
    const [job] = await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);
    expect(await kit.mill.jobs.explain(job!.id)).toEqual({
      sentence:
        "The service bank is unavailable: its breaker is kept open by ada: " +
        "they asked us to stop. 1 job waits.",
      reason: "breaker",
      hint: "To try it now: millrace breakers reset bank",
      details: expect.objectContaining({ state: "open", by: "ada", probeAt: null, probe: null }),
    });
    await kit.advance("1d");
    await kit.drain([pay], OPTIONS);
    expect(bank.calls).toBe(0);

    expect(await kit.mill.breakers.reset("bank", { actor: "bob" })).toBe(true);
    await kit.drain([pay], OPTIONS);

    expect(bank.calls).toBe(1);
    expect(await kit.mill.breakers.history("bank", { limit: 1 })).toMatchObject([
      { state: "closed", changedBy: "bob" },
    ]);
  });

  test("pause a service, and explain names it", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank(true);
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => bank.pay());
    await kit.drain([pay], OPTIONS);
    await kit.mill.pause({ service: "bank" }, "audit", { actor: "ada" });
    const [job] = await addJobs(kit, pay, 1);
    await kit.drain([pay], OPTIONS);
    expect(bank.calls).toBe(0);
    expect(await kit.mill.pauses()).toMatchObject([{ kind: "service", name: "bank", queued: 1 }]);
    expect(await kit.mill.jobs.explain(job!.id)).toMatchObject({
      reason: "paused",
      hint: "To resume: millrace resume --service bank",
    });

    expect(await kit.mill.resume({ service: "bank" })).toMatchObject({
      wasPaused: true,
      queued: 1,
    });
    await kit.drain([pay], OPTIONS);
    expect(bank.calls).toBe(1);
  });

  test("read until when an open breaker waits, and how many jobs do", async () => {
    await using kit = await openTest({ preset });
    const bank = makeBank();
    const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() =>
      bank.pay(),
    );
    await addJobs(kit, pay, 3);
    await kit.drain([pay], OPTIONS);
    const jobs = await addJobs(kit, pay, 2);
    await kit.drain([pay], OPTIONS);
    const { probeAt } = await kit.mill.breakers.get("bank");

    expect(await kit.mill.jobs.explain(jobs[1]!.id)).toEqual({
      sentence:
        `The service bank is unavailable: its breaker is open until ${probeAt!.toISOString()} ` +
        "(3 failures; last: TransientError: hung up). 2 jobs wait.",
      reason: "breaker",
      hint: "Then one job tries the service. To try it now: millrace breakers reset bank",
      until: probeAt,
      details: {
        service: "bank",
        state: "open",
        failures: 3,
        reason: "TransientError: hung up",
        by: null,
        probeAt,
        probe: null,
        waiting: { count: 2, atLeast: false },
      },
    });
  });

  test("are told what they give wrong", async () => {
    await using kit = await openTest({ preset });
    const { breakers } = kit.mill;
    await expect(breakers.forceOpen("", "x")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(breakers.forceOpen("a", "")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(breakers.forceOpen("a", "x".repeat(501))).rejects.toThrow("at most 500");
    await expect(breakers.history("a", { limit: 0 })).rejects.toThrow("limit");
    expect(await breakers.reset("unknown")).toBe(false);
    expect(await breakers.get("unknown")).toMatchObject({ state: "closed", updatedAt: null });
  });
});
