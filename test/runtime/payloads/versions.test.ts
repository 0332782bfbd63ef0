/** Payload versions: which code reads which payload. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const before = defineJob({ type: "greet", payload: typed<{ who: string }>() });
const now = defineJob({
  type: "greet",
  payload: typed<{ name: string }>(),
  payloadVersion: "2",
  upcast: { "1": ({ who }) => ({ name: who }) },
}).run(({ name }) => `Hello ${name}`);

describe("a payload of an older version", () => {
  test("is read by the upcast, and stays as it was stored (003-39)", async () => {
    await using kit = await openTest();
    const old = await kit.mill.enqueue(before, { who: "Ada" });
    const today = await kit.mill.enqueue(now, { name: "Bob" });
    const named: any = { who: "Cleo" };
    const late = await kit.mill.enqueue(now, named, { payloadVersion: "1" });
    await kit.drain([now]);

    expect(await kit.mill.result(old)).toBe("Hello Ada");
    expect(await kit.mill.result(today)).toBe("Hello Bob");
    expect(await kit.mill.result(late)).toBe("Hello Cleo");
    expect(await kit.mill.jobs.get(old.id)).toMatchObject({
      payload: { who: "Ada" },
      payloadVersion: null,
    });
    expect((await kit.mill.jobs.get(today.id)).payloadVersion).toBe("2");
    expect((await kit.mill.jobs.get(late.id)).payloadVersion).toBe("1");
  });

  test("that no upcast reads is a dead letter, which tells what to add", async () => {
    await using kit = await openTest();
    const third = defineJob({ ...SETTINGS, payloadVersion: "3" }).run(() => 1);
    const job = await kit.mill.enqueue(before, { who: "Ada" });
    await kit.drain([third]);

    const { state, error, attempts } = await kit.mill.jobs.get(job.id);
    expect({ state, attempts }).toEqual({ state: "failed", attempts: 1 });
    expect(error?.class).toBe("non_retryable");
    expect(error?.message).toContain('add upcast: { "1": (payload) => … } to defineJob');
  });

  test("whose upcast throws is a dead letter", async () => {
    await using kit = await openTest();
    const broken = defineJob({
      ...SETTINGS,
      payloadVersion: "2",
      upcast: {
        "1": () => {
          throw new Error("no name");
        },
      },
    }).run(() => 1);
    const job = await kit.mill.enqueue(before, { who: "Ada" });
    await kit.drain([broken]);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      state: "failed",
      error: { class: "non_retryable", message: "no name" },
    });
  });
});

const SETTINGS = { type: "greet", payload: typed<{ who: string }>() } as const;

describe("a payload of a newer version", () => {
  test("waits for newer code, and costs no attempt", async () => {
    await using kit = await openTest();
    const old = before.run(() => "read by old code");
    const job = await kit.mill.enqueue(now, { name: "Ada" });
    const worker = kit.mill.work({ jobs: [old] });
    await worker.ready;
    await kit.advance(1_000);
    await worker.stop();

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "scheduled", attempts: 0 });
    const [run] = await kit.mill.jobs.attempts(job.id);
    expect(run).toMatchObject({ outcome: "snoozed", error: { class: "transient" } });
    expect(run?.error?.message).toContain("has version 2, and this code knows version 1");
    await kit.advance(30_000);
    await kit.drain([now]);
    expect(await kit.mill.result(job)).toBe("Hello Ada");
  });

  test("is refused by code that knows its versions", async () => {
    await using kit = await openTest();

    const enqueue = (payloadVersion: string) =>
      kit.mill.enqueue(now, { name: "Ada" }, { payloadVersion });
    await expect(enqueue("3")).rejects.toMatchObject({ code: "PAYLOAD_VERSION_NEWER" });
    await expect(enqueue("1.5")).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
    await expect(enqueue("two")).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("a definition", () => {
  test.each([
    { upcast: { "1": () => 1 } },
    { payloadVersion: "1", upcast: { "1": () => 1 } },
    { payloadVersion: "v2" },
    { payloadVersion: "2", upcast: { one: () => 1 } },
    { payloadVersion: "2", upcast: { "1": "name" } },
    { payloadVersion: "2", upcast: [] },
  ])("is refused with %o", (settings) => {
    const unchecked: any = { type: "greet", ...settings };

    expect(() => defineJob(unchecked)).toThrow(/payloadVersion|upcast/);
  });
});
