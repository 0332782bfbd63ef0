/** What explain says about a job that waits for one service in several ways. */
import { defineJob, RateLimitedError, TransientError } from "millrace";
import { expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 1, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 } } as const;

test("the pause that a service asked for is named while it outlasts the open breaker", async () => {
  await using kit = await openTest({ preset });
  const { mill } = kit;
  const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() => {
    throw new RateLimitedError("429", { retryAfter: "30m", service: "bank" });
  });
  const [, { id }] = await mill.enqueueMany([pay.of(), pay.of()]);
  await kit.drain([pay], OPTIONS);
  const { state, parkedUntil } = await mill.breakers.get("bank");
  expect(state).toBe("open");
  const until = parkedUntil[0]?.until;

  expect(await mill.jobs.explain(id)).toMatchObject({
    reason: "rate_limited",
    sentence: expect.stringContaining(`asked for a pause until ${until?.toISOString()}`),
    until,
  });
  expect((await mill.jobs.explain(id)).sentence).not.toContain("as well");
});

test("of two pauses that a service asked for, the longer one is named", async () => {
  await using kit = await openTest({ preset });
  const { mill } = kit;
  const asks = [
    new RateLimitedError("429", { retryAfter: "30m", service: "bank", scope: "tenant" }),
    new TransientError("hung up"),
  ];
  const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() => {
    throw asks.shift() ?? new Error("none");
  });
  await mill.enqueue(pay, undefined, { tenant: "acme" });
  await mill.enqueue(pay, undefined, { tenant: "other" });
  const { id } = await mill.enqueue(pay, undefined, { tenant: "acme" });
  await kit.drain([pay], OPTIONS);
  const { state, parkedUntil } = await mill.breakers.get("bank");
  expect(state).toBe("open");

  const explanation = await mill.jobs.explain(id);
  expect(explanation).toMatchObject({ reason: "rate_limited", until: parkedUntil[0]?.until });
});

test("a job that a paused service has sent back is told of the pause", async () => {
  await using kit = await openTest({ preset });
  const { mill } = kit;
  const pay = defineJob({ type: "pay" }).run((_, ctx) => ctx.breaker("bank", () => "paid"));
  await mill.pause({ service: "bank" }, "audit", { actor: "ada" });
  const { id } = await mill.enqueue(pay);
  await kit.drain([pay], OPTIONS);

  const { reason, sentence } = await mill.jobs.explain(id);

  expect(reason).toBe("paused");
  expect(sentence).toMatch(/^The service bank is paused by ada: audit\. .*This job is due at /);
});
