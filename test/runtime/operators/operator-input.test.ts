import { defineJob, lipas, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, unchecked, waitsOf } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => text);
const LONG = "x".repeat(2_001);

const BAD_REMARKS = [
  ["too long", LONG, "at most 2000 characters, not 2001"],
  ["with U+0000", "a\0b", "without U+0000"],
  ["with half a letter", "\ud83d", "half a surrogate pair"],
  ["that is no text", 5, "must be a text"],
] as const;

describe("what an operator writes", () => {
  test.each(BAD_REMARKS)("is refused when it is %s", async (_, remark, cure) => {
    await using kit = await openTest();
    const { jobs, deadLetters } = kit.mill;
    const job = await kit.mill.enqueue(echo, "hello");
    const dead = await kit.mill.enqueue(echo, "dead");
    await jobs.fail(dead.id, "broken");
    const text = unchecked(remark);
    const by = { actor: "ada", notes: text };
    const refusal = (option: string) => ({
      code: "OPTION_INVALID",
      message: expect.stringContaining(cure),
      details: { option },
    });

    await expect(jobs.fail(job.id, text)).rejects.toMatchObject(refusal("message"));
    await expect(jobs.cancel(job.id, text)).rejects.toMatchObject(refusal("reason"));
    await expect(kit.mill.pause({ type: "echo" }, text)).rejects.toMatchObject(refusal("reason"));
    await expect(deadLetters.discard(dead.id, by)).rejects.toMatchObject(refusal("notes"));
    await expect(deadLetters.acknowledge(dead.id, by)).rejects.toMatchObject(refusal("notes"));
    await expect(deadLetters.reprocess(dead.id, by)).rejects.toMatchObject(refusal("notes"));

    expect(await jobs.get(job.id)).toMatchObject({ state: "queued" });
    expect(await deadLetters.get(dead.id)).toMatchObject({ status: "pending_review" });
    expect(await kit.store.gates()).toEqual([]);
  });

  test("is kept as it is up to 2,000 characters", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const reason = `${"🚀".repeat(999)}\n!`;

    await kit.mill.jobs.cancel(job.id, reason);

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ cancelReason: reason });
  });

  test("may not be missing where it is the record: a message, a reason, an actor", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const { jobs, deadLetters } = kit.mill;
    const refused = { code: "OPTION_INVALID" };

    await expect(jobs.fail(job.id, unchecked(undefined))).rejects.toMatchObject(refused);
    await expect(jobs.fail(job.id, "")).rejects.toMatchObject(refused);
    await expect(kit.mill.pause({ type: "echo" }, "")).rejects.toMatchObject(refused);
    await jobs.fail(job.id, "broken");
    await expect(deadLetters.discard(job.id, unchecked(undefined))).rejects.toMatchObject(refused);
    await expect(deadLetters.discard(job.id, { actor: "" })).rejects.toMatchObject(refused);
    await expect(deadLetters.discard(job.id, { actor: "a\u001b[2J" })).rejects.toMatchObject({
      ...refused,
      details: { option: "actor" },
    });

    expect(await deadLetters.get(job.id)).toMatchObject({ status: "pending_review" });
  });

  test("names a gate by a text that can be shown", async () => {
    await using kit = await openTest();

    await expect(kit.mill.pause({ type: "no\u001b[2J" }, "why")).rejects.toMatchObject({
      code: "OPTION_INVALID",
      details: { option: "type" },
    });
  });
});

describe("a filter of jobs.list", () => {
  test.each([
    [{ state: "bogus" }, 'state must be "scheduled"'],
    [{ state: "faild" }, 'did you mean "failed"?'],
    [{ state: ["queued", "runing"] }, "state[1] must be"],
    [{ state: ["queued", "runing"] }, 'did you mean "running"?'],
    [{ stat: "failed" }, "stat is unknown; did you mean state?"],
    [{ type: 5 }, "type must be a text"],
    [{ tags: { a: 1 } }, "tags must be"],
    [{ lane: "" }, "lane must be a text"],
    [{ error: "x".repeat(501) }, "error must have at most 500 characters"],
    [{ text: "ab" }, "text must have at least 3 characters"],
    [{ text: 5 }, "text must be a text"],
    [{ payload: "user.id=42" }, 'payload must be an object such as { "user.id": "42" }'],
    [{ payload: { "user.id": 42 } }, 'payload["user.id"] must be a text'],
    [{ payload: { a: "x".repeat(501) } }, 'payload["a"] must have at most 500 characters'],
    [{ payload: { ["a".repeat(201)]: "x" } }, "a path of payload must have at most 200 characters"],
    [{ payload: { "": "x" } }, "a path of payload must be a text"],
    [{ payload: { a: "", b: "", c: "", d: "", e: "", f: "" } }, "with up to 5 paths"],
    [{ limit: 0 }, "limit must be a whole number of at least 1"],
    [{ limit: -1 }, "limit"],
    [{ limit: 1.5 }, "limit"],
    [{ limit: Number.NaN }, "limit"],
    [{ limit: Number.POSITIVE_INFINITY }, "limit"],
    [{ limit: "5" }, "limit"],
    [{ createdAfter: "yesterday" }, "createdAfter must be a Date"],
    [{ createdBefore: Number.NaN }, "createdBefore must be a Date"],
    ["failed", "must be an object"],
  ])("that is wrong is refused with the cure: %o", async (filter, told) => {
    await using kit = await openTest();

    await expect(kit.mill.jobs.list(unchecked(filter))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(told),
    });
  });

  test("finds the children of a job, whichever way its id is written", async () => {
    await using kit = await openTest();
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await ctx.enqueue(echo, "child");
    });
    const job = await kit.mill.enqueue(parent);
    await kit.drain([parent]);

    const { jobs } = await kit.mill.jobs.list({ parentId: job.id.toLowerCase() });

    expect(jobs.map(({ payload }) => payload)).toEqual(["child"]);
    await expect(kit.mill.jobs.list({ parentId: "unknown" })).rejects.toMatchObject({
      code: "ID_INVALID",
    });
  });

  test("that is undefined counts as left out", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(echo, "hello");

    const { jobs } = await kit.mill.jobs.list(unchecked({ state: undefined, type: undefined }));

    expect(jobs).toHaveLength(1);
  });
});

describe("a filter of deadLetters.list", () => {
  test.each([
    [{ status: "pending" }, "status must be"],
    [{ statis: "discarded" }, "statis is unknown; did you mean status?"],
    [{ limit: 0 }, "limit must be"],
  ])("that is wrong is refused with the cure: %o", async (filter, told) => {
    await using kit = await openTest();

    await expect(kit.mill.deadLetters.list(unchecked(filter))).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(`deadLetters.list: ${told}`),
    });
  });
});

describe("jobs.fail with retry", () => {
  const slow = defineJob({
    type: "slow",
    backoff: { kind: "fixed", base: "10m", cap: "10m", jitter: 0 },
  });

  test("waits by the backoff of a job that this process runs (004-18)", async () => {
    await using kit = await openTest();
    const elsewhere = defineJob({ type: "slow" });
    kit.mill.work({ jobs: [slow.run(() => {})] });
    const job = await kit.mill.enqueue(elsewhere, undefined, { delay: "1h" });

    await kit.mill.jobs.fail(job.id, "by hand", { retry: true });

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([600_000]);
  });

  test("waits by the backoff of a contract that this process has enqueued (004-18)", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(slow);

    await kit.mill.jobs.fail(job.id, "by hand", { retry: true });

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([600_000]);
  });

  test("waits by the mill's preset where it knows no more (004-18, 004-22)", async () => {
    await using kit = await openTest({ preset: lipas });
    const job = await kit.mill.enqueue(echo, "hello");

    await kit.mill.jobs.fail(job.id, "by hand", { retry: true });

    expect(waitsOf(await kit.mill.jobs.attempts(job.id))).toEqual([1_000]);
  });
});
