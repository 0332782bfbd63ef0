import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openTest, unchecked } from "../support.ts";

const UNKNOWN = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

const strict = defineJob({
  type: "strict",
  payload: z.object({ amount: z.number().min(1), currency: z.string().default("EUR") }),
});
const pay = strict.run((payload) => payload);

describe("enqueueMany", () => {
  test("refuses options for all requests, which would be lost", async () => {
    await using kit = await openTest();
    const mill: any = kit.mill;

    await expect(mill.enqueueMany([pay.of({ amount: 5 })], { tx: {} })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("each request"),
    });
    await kit.expectNotEnqueued(pay);
  });
});

describe("a payload", () => {
  test("for a job that declares none is refused with how to declare one", async () => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });
    const hint = expect.stringContaining("payload: typed<");

    await expect(kit.mill.enqueue(unchecked(bare), { to: "ada" })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: 'job "bare" takes no payload',
      hint,
    });
    const request = unchecked(bare).of({ to: "ada" });
    await expect(kit.mill.enqueueMany([request])).rejects.toMatchObject({
      message: 'request 0: job "bare" takes no payload',
      hint,
    });
  });

  test("that the schema refuses is not enqueued, and the error names the place", async () => {
    await using kit = await openTest();

    await expect(kit.mill.enqueue(pay, { amount: 0 })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringContaining("payload.amount"),
    });
    await kit.expectNotEnqueued(pay);
  });

  test("is stored as it was given, and handed over as the schema makes it", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(pay, { amount: 5 });
    await kit.drain([pay]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ payload: { amount: 5 } });
    expect(await kit.mill.result(job)).toEqual({ amount: 5, currency: "EUR" });
  });

  test("that the worker's newer schema refuses fails the job at once", async () => {
    await using kit = await openTest();
    const older = defineJob({ type: "strict", payload: typed<{ amount: string }>() });
    const job = await kit.mill.enqueue(older, { amount: "five" });

    await kit.drain([pay]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: expect.stringContaining("payload.amount") },
    });
    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });

  test("that is not JSON is refused with its path", async () => {
    await using kit = await openTest();
    const loose = defineJob({ type: "loose", payload: unchecked(typed()) });

    await expect(kit.mill.enqueue(loose, unchecked({ list: [1n] }))).rejects.toMatchObject({
      code: "PAYLOAD_REFUSED",
      message: expect.stringContaining("payload.list[0]"),
    });
  });

  test("for a job that takes none is refused", async () => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });

    await expect(kit.mill.enqueue(bare, unchecked({ more: 1 }))).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
  });
});

describe("one bad request among many", () => {
  test("keeps all of them out", async () => {
    await using kit = await openTest();

    await expect(
      kit.mill.enqueueMany([pay.of({ amount: 1 }), pay.of({ amount: 0 })]),
    ).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringMatching(/^request 1: .*payload\.amount/),
      details: { index: 1 },
    });

    await kit.expectNotEnqueued(pay);
  });

  test("that the store refuses harms no other, and the error tells of each", async () => {
    await using kit = await openTest();
    const held = { idempotencyKey: "order-7" };
    const first = await kit.mill.enqueue(pay, { amount: 1 }, held);

    const error: unknown = await kit.mill
      .enqueueMany([
        pay.of({ amount: 2 }),
        pay.of({ amount: 3 }, held),
        pay.of({ amount: 1 }, held),
        pay.of({ amount: 4 }),
      ])
      .catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      code: "IDEMPOTENCY_CONFLICT",
      message: expect.stringMatching(/^1 of 4 jobs were refused.*request 1: /),
      details: {
        index: 1,
        holder: first.id,
        answers: [
          { index: 0, id: expect.any(String), status: "created", code: null },
          {
            index: 1,
            id: null,
            status: "refused",
            code: "IDEMPOTENCY_CONFLICT",
            holder: first.id,
          },
          { index: 2, id: first.id, status: "existing", code: null },
          { index: 3, id: expect.any(String), status: "created", code: null },
        ],
      },
    });
    const { jobs } = await kit.mill.jobs.list();
    expect(jobs.map(({ payload }) => payload)).toEqual([
      { amount: 4 },
      { amount: 2 },
      { amount: 1 },
    ]);
  });
});

describe("a result", () => {
  test.each([
    ["a bigint", 10n],
    ["a Map", new Map()],
    ["more than a megabyte", "x".repeat(1_100_000)],
  ])("that cannot be stored, %s, fails the job at once", async (_, value) => {
    await using kit = await openTest();
    const odd = defineJob({ type: "odd" }).run(() => unchecked(value));
    const job = await kit.mill.enqueue(odd);

    await kit.drain([odd]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: expect.stringContaining("result") },
    });
    expect(await kit.outcomes(job)).toEqual(["failed"]);
  });

  test("of a phase that cannot be stored fails the job at once", async () => {
    await using kit = await openTest();
    const odd = defineJob({ type: "odd" })
      .phase("one", () => unchecked(10n))
      .phase("two", () => "never");
    const job = await kit.mill.enqueue(odd);

    await kit.drain([odd]);

    expect(await kit.mill.wait(job)).toMatchObject({ state: "failed" });
  });

  test("of nothing is null for operators and undefined for the caller", async () => {
    await using kit = await openTest();
    const quiet = defineJob({ type: "quiet" }).run(() => {});
    const job = await kit.mill.enqueue(quiet);

    await kit.drain([quiet]);

    expect(await kit.mill.result(job)).toBeUndefined();
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ result: null });
  });
});

describe("an option of enqueue", () => {
  test.each([
    [{ dealy: "5m" }, "dealy"],
    [{ delay: "soon" }, "delay"],
    [{ delay: "1s", runAt: new Date(0) }, "not both"],
    [{ maxAttempts: 0 }, "maxAttempts"],
    [{ tenant: "" }, "tenant"],
    [{ priority: -1 }, "priority"],
    [{ tags: { a: 1 } }, "tags"],
    [{ idempotencyKey: "" }, "idempotencyKey"],
    [{ dedupKey: { key: "x", onConflict: "never" } }, "dedupKey"],
    [{ dedupKey: { key: "x", onConflict: "replac" } }, 'did you mean "replace"?'],
    [{ correlationId: "half \ud800" }, "correlationId"],
  ])("that is wrong is refused by name: %o", async (options, named) => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });

    await expect(kit.mill.enqueue(bare, undefined, unchecked(options))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(named),
    });
  });

  test.each([
    ["an empty concurrencyKey", { concurrencyKey: "" }, "concurrencyKey"],
    ["a concurrencyKey that is too long", { concurrencyKey: "x".repeat(501) }, "concurrencyKey"],
    ["a concurrencyKey that is no text", { concurrencyKey: 7 }, "concurrencyKey"],
    ["after that is no list", { after: { id: UNKNOWN } }, "after"],
    ["after with an id alone", { after: [{ id: UNKNOWN }, UNKNOWN] }, "after[1]"],
    ["after with what is no id", { after: [{ id: "seven" }] }, "after[0]"],
    ["onFailed without after", { onFailed: "run" }, "onFailed"],
    ["an unknown onFailed", { after: [], onFailed: "runs" }, "onFailed"],
  ])("such as %s is refused", async (_, options, option) => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });

    await expect(kit.mill.enqueue(bare, undefined, unchecked(options))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(option),
      details: { option },
    });
    await kit.expectNotEnqueued(bare);
  });

  test("after names a thousand jobs at most, each counted once", async () => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });
    const jobs = await kit.mill.enqueueMany(Array.from({ length: 1_001 }, () => bare.of()));

    const thousand = jobs.slice(0, 1_000);
    const twice = [...thousand, ...thousand];
    const { created } = await kit.mill.enqueue(bare, undefined, { after: twice });

    expect(created).toBe(true);
    await expect(kit.mill.enqueue(bare, undefined, { after: jobs })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("must name at most 1000 jobs, not 1001"),
    });
  });

  test("tx is refused for children, which come into being with the end of their run", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" });
    const parent = defineJob({ type: "parent", maxAttempts: 1 }).run(async (_, ctx) => {
      await ctx.enqueue(child, undefined, { tx: { query: async () => ({ rows: [] }) } });
    });
    const job = await kit.mill.enqueue(parent);

    await kit.drain([parent]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("tx is an option of mill.enqueue") },
    });
    await kit.expectNotEnqueued(child);
  });
});

describe("an option of work", () => {
  const bare = defineJob({ type: "bare" }).run(() => {});

  test.each([
    [{ jobs: [bare], lanez: { general: 1 } }, "work: lanez is unknown; did you mean lanes?"],
    [{ jobs: [bare], concurrency: 8 }, "work: concurrency is unknown; the known keys are jobs, "],
    [{ job: [bare] }, "work: job is unknown; did you mean jobs?"],
    [{}, "work: jobs must be a list of jobs"],
    [{ jobs: bare }, "work: jobs must be a list of jobs"],
  ])("that is not known is refused: %o", async (options, message) => {
    await using kit = await openTest();

    expect(() => kit.mill.work(unchecked(options))).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining(message),
      }),
    );
    expect(await kit.mill.workers.list()).toEqual([]);
  });

  test("that is undefined is left out", async () => {
    await using kit = await openTest();

    const worker = kit.mill.work(
      unchecked({ jobs: [bare], lanes: undefined, retention: undefined }),
    );
    await worker.ready;

    expect(await kit.mill.workers.list()).toHaveLength(1);
  });
});
