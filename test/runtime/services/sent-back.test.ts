/** What explain says about a job that a closed service has sent back, and that is due later. */
import { defineJob, NonRetryableError, RateLimitedError, TransientError } from "millrace";
import { describe, expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 1, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 } } as const;

describe("a service that asks for a pause of years", () => {
  test("is paused for a day, with a warning, and a reset makes its jobs due", async () => {
    await using kit = await openTest({ preset: defaults });
    let isUp = false;
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
      if (!isUp) throw new RateLimitedError("429", { retryAfter: "9999d" });
    });
    const { id } = await kit.mill.enqueue(pay);
    await kit.drain([pay], { ...OPTIONS, preset: defaults });
    const tomorrow = kit.clock.now() + 86_400_000;

    const [park] = (await kit.mill.breakers.get("bank")).parkedUntil;
    expect(park?.until.getTime()).toBe(tomorrow);
    expect((await kit.mill.jobs.get(id)).runAt?.getTime()).toBe(tomorrow);
    expect(kit.logged).toContainEqual({
      level: "warn",
      message: "a service asked for a pause of more than a day; a day counts",
      fields: { service: "bank", asked: expect.stringContaining("9999") },
    });
    isUp = true;
    expect(await kit.mill.breakers.reset("bank")).toBe(true);
    await kit.drain([pay], { ...OPTIONS, preset: defaults });
    expect((await kit.mill.jobs.get(id)).state).toBe("completed");
  });
});

describe("explain of a job that is due later", () => {
  test("names the breaker that has sent it back, also without declared services", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay" }).run((_, ctx) =>
      ctx.breaker("bank", () => {
        throw new TransientError("hung up by acme");
      }),
    );
    const first = await kit.mill.enqueue(pay);
    const second = await kit.mill.enqueue(pay);
    await kit.drain([pay], OPTIONS);
    const { probeAt } = await kit.mill.breakers.get("bank");
    const { runAt, state, attempts, error } = await kit.mill.jobs.get(second.id);
    expect({ state, attempts }).toEqual({ state: "scheduled", attempts: 0 });
    expect(error).toMatchObject({ name: "ServiceClosed", service: "bank" });
    expect(error?.message).not.toContain("acme");

    const explanation = await kit.mill.jobs.explain(second.id);

    expect(explanation).toMatchObject({
      reason: "breaker",
      until: runAt,
      details: { service: "bank", state: "open", probeAt },
    });
    expect(explanation.sentence).toContain("The service bank is unavailable: its breaker is open");
    expect(explanation.sentence).toContain(`This job is due at ${runAt!.toISOString()}.`);
    expect(await kit.mill.jobs.explain(first.id)).toMatchObject({
      reason: "breaker",
      details: { service: "bank" },
    });
  });

  test("names the breaker that is open beyond the due time", async () => {
    await using kit = await openTest({ preset });
    let error: Error = new Error("odd");
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
      throw error;
    });
    const { id } = await kit.mill.enqueue(pay);
    const fresh = await kit.mill.enqueue(pay, undefined, { delay: "10s" });
    await kit.drain([pay], OPTIONS);
    expect(await kit.mill.jobs.explain(id)).toMatchObject({ reason: "retrying" });
    error = new TransientError("hung up");
    await kit.mill.enqueue(pay);
    await kit.drain([pay], OPTIONS);

    const { probeAt } = await kit.mill.breakers.get("bank");
    expect(await kit.mill.jobs.explain(id)).toMatchObject({
      reason: "breaker",
      until: probeAt,
      details: { service: "bank", probeAt },
    });
    expect(await kit.mill.jobs.explain(fresh.id)).toMatchObject({ reason: "scheduled" });
    await kit.mill.breakers.reset("bank");
    expect(await kit.mill.jobs.explain(fresh.id)).toMatchObject({ reason: "scheduled" });
  });

  test("names the service that has asked for a pause", async () => {
    await using kit = await openTest({ preset: defaults });
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
      throw new RateLimitedError("429", { retryAfter: "1h" });
    });
    const { id } = await kit.mill.enqueue(pay);
    await kit.drain([pay], { ...OPTIONS, preset: defaults });

    const explanation = await kit.mill.jobs.explain(id);

    expect(explanation).toMatchObject({ reason: "rate_limited", details: { service: "bank" } });
    expect(explanation.sentence).toContain("The service bank has asked for a pause until");
  });

  test("names no service that is not to blame", async () => {
    await using kit = await openTest({ preset });
    const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
      throw new Error("odd");
    });
    const { id } = await kit.mill.enqueue(pay);
    await kit.drain([pay], OPTIONS);
    const mail = defineJob({ type: "mail", services: ["smtp"] }).run((_, ctx) =>
      ctx.breaker("smtp", () => {
        throw new NonRetryableError("wrong address");
      }),
    );
    await kit.mill.enqueue(mail);
    await kit.drain([mail], OPTIONS);
    await kit.mill.breakers.forceOpen("smtp", "maintenance");

    expect(await kit.mill.jobs.explain(id)).toMatchObject({ reason: "retrying" });
  });
});
