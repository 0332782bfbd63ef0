import { describe, expect, test } from "vitest";
import * as z from "zod";
import { NonRetryableError } from "../core/errors.ts";
import { defineJob, typed } from "../api/define.ts";
import { createTestMill, perform } from "./index.ts";

/** A value that the compiler would refuse. */
const unchecked = (value: unknown): any => value;

describe("perform", () => {
  test("gives the handler what the schema makes, and answers what is stored", async () => {
    const job = defineJob({
      type: "job",
      payload: z.object({ day: z.string().transform((text) => new Date(text)) }),
    }).run(({ day }) => ({ year: day.getUTCFullYear(), day, nothing: undefined }));

    expect(await perform(job, { day: "2026-01-05" })).toEqual({
      year: 2026,
      day: "2026-01-05T00:00:00.000Z",
    });
  });

  test("refuses what the schema refuses, and what is not JSON", async () => {
    const job = defineJob({ type: "job", payload: z.object({ amount: z.number() }) }).run(() => {});

    await expect(perform(job, unchecked({ amount: "5" }))).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
    await expect(perform(job, unchecked({ amount: 5n }))).rejects.toMatchObject({
      code: "PAYLOAD_REFUSED",
    });
  });

  test("throws the very error that the handler threw", async () => {
    const error = new NonRetryableError("no");
    const job = defineJob({ type: "job" }).run(() => {
      throw error;
    });

    await expect(perform(job)).rejects.toBe(error);
  });

  test("refuses a result that could not be stored", async () => {
    const job = defineJob({ type: "job" }).run(() => unchecked(1n));

    await expect(perform(job)).rejects.toMatchObject({ code: "RESULT_REFUSED" });
  });

  test("gives the handler deps, attempt, tenant and signal", async () => {
    const abort = new AbortController();
    abort.abort();
    const job = defineJob({ type: "job" })
      .using<{ name: string }>()
      .run((_, ctx) => [ctx.deps.name, ctx.attempt, ctx.job.tenant, ctx.signal.aborted]);
    const options = { deps: { name: "Ada" }, attempt: 3, tenant: "acme", signal: abort.signal };

    expect(await perform(job, undefined, options)).toEqual(["Ada", 3, "acme", true]);
  });

  test("refuses as many children as a worker would", async () => {
    const child = defineJob({ type: "child" });
    const job = defineJob({ type: "job", payload: typed<number>() }).run(async (count, ctx) => {
      for (let made = 0; made < count; made += 1) await ctx.enqueue(child);
      return count;
    });

    expect(await perform(job, 10_000)).toBe(10_000);
    await expect(perform(job, 10_001)).rejects.toMatchObject({ code: "CHILDREN_TOO_MANY" });
  });

  test("runs phase after phase with the results as stored", async () => {
    const job = defineJob({ type: "job", payload: typed<number>() })
      .phase("double", (number) => ({ number: number * 2, at: new Date(0) }))
      .phase("tell", (_, ctx) => `${ctx.results.double.number} ${ctx.results.double.at}`);

    expect(await perform(job, 4)).toBe("8 1970-01-01T00:00:00.000Z");
  });

  test("checks the children that a handler asks for, and stores none", async () => {
    const child = defineJob({ type: "child", payload: z.number() });
    const job = defineJob({ type: "job", payload: typed<number | string>() }).run(
      async (value, ctx) => (await ctx.enqueue(child, unchecked(value))).type,
    );

    expect(await perform(job, 1)).toBe("child");
    await expect(perform(job, "one")).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
  });

  test("of a test mill goes by its clock", async () => {
    await using kit = await createTestMill();
    const job = defineJob({ type: "job" }).run((_, ctx) =>
      ctx.timeout("1h", () => new Promise<never>(() => {})),
    );

    const performed = kit.perform(job).catch(String);
    await kit.settled();
    await kit.advance("1h");

    expect(await performed).toContain("not finished within");
  });
});
