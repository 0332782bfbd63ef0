/** What a worker declares about its types, and who reads it. */
import { type } from "arktype";
import { defineJob, lipas } from "millrace";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openTest } from "../support.ts";

describe("a worker that joins", () => {
  test("declares its types with the settings that their jobs get", async () => {
    await using kit = await openTest({ preset: lipas });
    const pay = defineJob({ type: "pay", lane: "fast", priority: "high", maxAttempts: 9 });
    const mail = defineJob({ type: "mail", timeout: false });
    const options = { preset: lipas, appVersion: "2.1.0" };
    await kit.drain([pay.run(() => {}), mail.run(() => {})], options);

    expect(await kit.mill.types.list()).toMatchObject([
      { type: "mail", lane: "general", maxAttempts: 3, timeoutMs: null, appVersion: "2.1.0" },
      { type: "pay", lane: "fast", maxAttempts: 9, timeoutMs: 120_000 },
    ]);
    const job = await kit.mill.enqueue(pay);
    const known = await kit.mill.types.get("pay");
    expect((await kit.mill.jobs.get(job.id)).priority).toBe(known?.priority);
    expect(await kit.mill.types.get("fax")).toBeNull();
  });

  test("declares the JSON Schema of a payload where its library gives one", async () => {
    await using kit = await openTest();
    const zod = defineJob({ type: "zod", payload: z.object({ to: z.string() }) });
    const ark = defineJob({ type: "ark", payload: type({ to: "string" }) });
    const none = defineJob({ type: "none" });
    const odd = defineJob({ type: "odd", payload: z.object({ to: z.custom<string>() }) });
    await kit.drain([zod, ark, none, odd].map((job) => job.run(() => {})));

    const object = { type: "object", properties: { to: { type: "string" } } };
    expect(await kit.mill.types.get("zod")).toMatchObject({ payloadSchema: object });
    expect(await kit.mill.types.get("ark")).toMatchObject({ payloadSchema: object });
    expect(await kit.mill.types.get("none")).toMatchObject({ payloadSchema: null });
    expect(await kit.mill.types.get("odd")).toMatchObject({ payloadSchema: null });
  });

  test("shows the version of its application, and the types that workers dispute", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const old = mill.work({ jobs: [defineJob({ type: "pay" }).run(() => {})], appVersion: "1" });
    await old.ready;
    expect(await mill.types.get("pay")).toMatchObject({ workers: 1, isDisputed: false });
    const pay = defineJob({ type: "pay", lane: "fast" }).run(() => {});
    const young = mill.work({ jobs: [pay], appVersion: "2" });
    await young.ready;

    expect(await mill.types.get("pay")).toMatchObject({ lane: "fast", isDisputed: true });
    expect((await mill.workers.list()).map(({ appVersion }) => appVersion)).toEqual(["1", "2"]);

    await old.stop();
    expect(await mill.types.get("pay")).toMatchObject({ workers: 1, isDisputed: false });
  });

  test("joins when the declaration fails at first", async () => {
    await using kit = await openTest();
    kit.failOnce("declareTypes");
    const worker = kit.mill.work({ jobs: [defineJob({ type: "pay" }).run(() => {})] });
    await kit.advance("2s");
    await worker.ready;

    expect(await kit.mill.types.get("pay")).toMatchObject({ workers: 1 });
  });
});
