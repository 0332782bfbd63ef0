import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { openTest, unchecked } from "./support.ts";

const strict = defineJob({
  type: "strict",
  payload: z.object({ amount: z.number().min(1), currency: z.string().default("EUR") }),
});
const pay = strict.run((payload) => payload);

describe("a payload", () => {
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
    ).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });

    await kit.expectNotEnqueued(pay);
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
  ])("that is wrong is refused by name: %o", async (options, named) => {
    await using kit = await openTest();
    const bare = defineJob({ type: "bare" });

    await expect(kit.mill.enqueue(bare, undefined, unchecked(options))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(named),
    });
  });
});
