/** Parts that have a place in the API and do not exist yet are refused, never accepted in vain. */
import { defineJob, lipas, openMillrace } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, unchecked } from "../support.ts";

const bare = defineJob({ type: "bare" });
const webhookUrl = "https://example.org/hook";

describe("a part of a later release is refused with NOT_YET", () => {
  test("as webhookUrl of a job, which is not stored", async () => {
    await using kit = await openTest();
    const { mill } = kit;

    const enqueue = mill.enqueue(bare, undefined, { webhookUrl });
    const enqueueMany = mill.enqueueMany([bare.of(), bare.of(undefined, { webhookUrl })]);

    const refusal = {
      code: "NOT_YET",
      status: 501,
      message: expect.stringContaining("webhookUrl is not part of this release"),
    };
    await expect(enqueue).rejects.toMatchObject(refusal);
    await expect(enqueueMany).rejects.toMatchObject(refusal);
    expect((await mill.jobs.list()).jobs).toEqual([]);
  });

  test.each([["webhookUrl", { webhookUrl }]])("as %s of openMillrace", async (place, options) => {
    await expect(openMillrace("sqlite::memory:", unchecked(options))).rejects.toMatchObject({
      code: "NOT_YET",
      message: `openMillrace: ${place} is not part of this release`,
    });
  });

  test.each(["job:webhook:delivered", "job:webhook:failed"] as const)(
    "as the event %s",
    async (event) => {
      await using kit = await openTest();

      expect(() => kit.mill.on(event, () => {})).toThrow(
        expect.objectContaining({ code: "NOT_YET", message: expect.stringContaining(event) }),
      );
    },
  );
});

describe("a handler that needs a part of a later release", () => {
  test.each([["webhookUrl", bare.run((_, ctx) => ctx.enqueue(bare, undefined, { webhookUrl }))]])(
    "fails at once, and says that it needs %s",
    async (part, job) => {
      await using kit = await openTest();
      const { id } = await kit.mill.enqueue(bare);

      await kit.drain([job]);

      const { state, attempts, error } = await kit.mill.jobs.get(id);
      expect({ state, attempts }).toEqual({ state: "failed", attempts: 1 });
      expect(error).toMatchObject({
        class: "non_retryable",
        message: expect.stringContaining(`${part} is not part of this release`),
      });
    },
  );

  test("is not retried because its own classify says so", async () => {
    await using kit = await openTest();
    const eager = defineJob({ type: "eager", classify: () => "transient" });
    const { id } = await kit.mill.enqueue(eager);

    await kit.drain([eager.run((_, ctx) => ctx.enqueue(bare, undefined, { webhookUrl }))]);

    expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "failed", attempts: 1 });
  });
});

describe("an option of openMillrace", () => {
  test.each([
    [{ tenat: "acme" }, "tenat is unknown; did you mean tenant?"],
    [{ tenant: "" }, "tenant must be a text"],
    [{ logger: console.log }, "logger must be a logger with the methods"],
    [{ preset: "lipas" }, "preset must be a preset such as lipas"],
    [{ preset: { ...lipas, pollMS: 5 } }, "preset.pollMS is unknown; did you mean pollMs?"],
    [{ preset: { ...lipas, batchMax: 0 } }, "preset.batchMax must be a whole number"],
    [{ preset: { ...lipas, retry: {} } }, "preset.retry.maxAttempts must be"],
    [{ preset: { ...lipas, breaker: {} } }, "preset.breaker.failures must be"],
  ])("that is wrong is refused by name: %o", async (options, message) => {
    await expect(openMillrace("sqlite::memory:", unchecked(options))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(message),
    });
  });
});
