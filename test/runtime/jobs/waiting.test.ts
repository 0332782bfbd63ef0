import assert from "node:assert/strict";
import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { latch, openTest, unchecked } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => {
  if (text === "fail") throw new NonRetryableError("as asked");
  return text;
});

/** How a promise ended, or that it has not. */
function watched(promise: Promise<unknown>): { end: unknown } {
  const seen: { end: unknown } = { end: "pending" };
  promise.then(
    (value) => (seen.end = value),
    (error: unknown) => (seen.end = error),
  );
  return seen;
}

describe("wait and result", () => {
  test("resolve as soon as the job has ended, without a move of the clock", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const result = watched(kit.mill.result(job));
    const wait = watched(kit.mill.wait(job));
    await kit.settled();
    expect(result.end).toBe("pending");

    await kit.drain([echo]);
    await kit.settled();

    expect(result.end).toBe("hello");
    expect(wait.end).toMatchObject({ id: job.id, state: "completed", result: "hello" });
  });

  test("resolve at once for a job that has long ended", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    await kit.drain([echo]);
    await kit.advance("1h");

    expect(await kit.mill.result(job)).toBe("hello");
  });

  test("tell of a failure: wait as a value, result as an error", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "fail");
    await kit.drain([echo]);

    expect(await kit.mill.wait(job)).toMatchObject({
      state: "failed",
      error: { message: "as asked" },
    });
    await expect(kit.mill.result(job)).rejects.toMatchObject({
      code: "JOB_FAILED",
      message: expect.stringContaining("as asked"),
    });
  });

  test("give the error of the job as the cause of JOB_FAILED", async () => {
    await using kit = await openTest();
    const divide = defineJob({ type: "divide", maxAttempts: 1 }).run(() => {
      throw new RangeError("the divisor is 0");
    });
    const job = await kit.mill.enqueue(divide);
    await kit.drain([divide]);

    const { cause } = await kit.mill.result(job).then(assert.fail, (error: Error) => error);

    assert(cause instanceof Error);
    expect(`${cause}`).toBe("RangeError: the divisor is 0");
    expect(cause.stack).toMatch(/^RangeError: the divisor is 0\n +at .*waiting\.test\.ts/s);
  });

  test("tell of a cancellation", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const result = watched(kit.mill.result(job));
    await kit.settled();

    await kit.mill.jobs.cancel(job.id, "not needed");
    await kit.settled();

    expect(result.end).toMatchObject({
      code: "JOB_CANCELLED",
      message: expect.stringContaining("not needed"),
    });
  });

  test("give up at their timeout and say where the job stands", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const wait = watched(kit.mill.wait(job, { timeout: "12s" }));

    await kit.advance(11_999);
    expect(wait.end).toBe("pending");
    await kit.advance(1);

    expect(wait.end).toMatchObject({ code: "WAIT_TIMED_OUT", details: { state: "queued" } });
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued" });
  });

  test("end with the caller's signal, before and while they wait", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const reason = new Error("the user left");
    const abort = new AbortController();
    const wait = watched(kit.mill.wait(job, { signal: abort.signal }));
    await kit.settled();

    abort.abort(reason);
    await kit.settled();

    expect(wait.end).toBe(reason);
    await expect(kit.mill.result(job, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("of an unknown job are refused", async () => {
    await using kit = await openTest();
    const ref = { id: "01JCR5M4X2E8T9V6B3N7K0QWAZ", type: "echo" };

    await expect(kit.mill.wait(ref)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test("leave no timer and no listener behind", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const waits = [kit.mill.wait(job, { timeout: "1h" }), kit.mill.result(job)];
    await kit.settled();

    await kit.drain([echo]);
    await Promise.all(waits);

    expect(kit.clock.pending).toBe(0);
  });

  test("pass over the waits between retries", async () => {
    await using kit = await openTest();
    const flaky = defineJob({ type: "flaky" }).run((_, ctx) => {
      if (ctx.attempt < 3) throw new Error("no");
      return ctx.attempt;
    });
    const result = watched(kit.mill.result(await kit.mill.enqueue(flaky)));
    kit.mill.work({ jobs: [flaky] });

    await kit.advance("5s");
    expect(result.end).toBe("pending");
    await kit.advance("1s");

    expect(result.end).toBe(3);
  });
});

describe("mill.on", () => {
  test("holds up no caller that waits, although the feed of listeners cannot be read", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const feed: JobStore["feed"] = kit.store.feed.bind(kit.store);
    Reflect.set(kit.store, "feed", (...args: Parameters<JobStore["feed"]>) =>
      args[2]?.size ? Promise.reject(new Error("planted: unreadable")) : feed(...args),
    );
    kit.mill.on("job:started", () => {});
    const result = watched(kit.mill.result(job));
    kit.mill.work({ jobs: [echo] });

    await kit.advance(1);

    expect(result.end).toBe("hello");
  });

  test("hears jobs of the whole installation, in order, with their details", async () => {
    await using kit = await openTest();
    const heard: unknown[] = [];
    kit.mill.on("job:enqueued", (event) => heard.push(["enqueued", event.type]));
    kit.mill.on("job:started", (event) => heard.push(["started", event.attempt]));
    kit.mill.on("job:failed", (event) => heard.push(["failed", event.error.message]));
    await kit.mill.enqueue(echo, "fail");
    await kit.settled();

    await kit.drain([echo]);
    await kit.settled();

    expect(heard[0]).toEqual(["enqueued", "echo"]);
    expect(heard).toContainEqual(["started", 1]);
    expect(heard).toContainEqual(["failed", "as asked"]);
    expect(heard).toHaveLength(3);
  });

  test("hears nothing of what was before, and nothing after it was ended", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(echo, "before");
    const heard: string[] = [];
    const end = kit.mill.on("job:enqueued", ({ id }) => heard.push(id));
    const during = await kit.mill.enqueue(echo, "during");
    await kit.settled();

    end();
    await kit.mill.enqueue(echo, "after");
    await kit.settled();

    expect(heard).toEqual([during.id]);
  });

  test("goes on when a listener throws", async () => {
    await using kit = await openTest();
    const heard: string[] = [];
    kit.mill.on("job:enqueued", () => {
      throw new Error("a bad listener");
    });
    kit.mill.on("job:enqueued", ({ id }) => heard.push(id));

    await kit.mill.enqueue(echo, "one");
    await kit.settled();
    await kit.mill.enqueue(echo, "two");
    await kit.settled();

    expect(heard).toHaveLength(2);
    expect(kit.logged).toContainEqual(expect.objectContaining({ level: "error" }));
  });

  test("goes on when a listener's promise is rejected, and says of which event", async () => {
    await using kit = await openTest();
    const heard: string[] = [];
    const strays: unknown[] = [];
    const hear = (error: unknown): void => void strays.push(error);
    process.on("unhandledRejection", hear);
    const error = { big: 1n };
    const rejecting = async ({ id }: { id: string }): Promise<never> => {
      heard.push(id);
      throw unchecked(error);
    };
    kit.mill.on("job:enqueued", unchecked(rejecting));

    await kit.mill.enqueue(echo, "one");
    await kit.settled();
    await kit.mill.enqueue(echo, "two");
    await kit.settled();
    process.off("unhandledRejection", hear);

    expect(heard).toHaveLength(2);
    expect(strays).toEqual([]);
    expect(kit.logged.filter(({ level }) => level === "error")).toEqual([
      { level: "error", message: "a listener of job:enqueued failed", fields: { error } },
      { level: "error", message: "a listener of job:enqueued failed", fields: { error } },
    ]);
  });

  test("goes on when the logger that is told of it throws", async () => {
    const throwing = (): never => {
      throw new Error("the log is full");
    };
    const logger = { debug() {}, info() {}, warn: throwing, error: throwing };
    await using kit = await openTest({ logger });
    const heard: string[] = [];
    kit.mill.on("job:enqueued", ({ id }) => {
      heard.push(id);
      throw new Error("a bad listener");
    });

    await kit.mill.enqueue(echo, "one");
    await kit.settled();
    await kit.mill.enqueue(echo, "two");
    await kit.settled();

    expect(heard).toHaveLength(2);
  });
});

describe("a wait for something that is no job", () => {
  const ID = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

  test.each([
    [ID, `mill.result(await mill.jobs.get("${ID}")), not "${ID}"`],
    ["my job", 'mill.result(job), not "my job"'],
    [undefined, "mill.result(job), not undefined"],
    [{ type: "echo" }, "mill.result(job), not an object"],
  ])("is refused with what is needed: %o", async (job, told) => {
    await using kit = await openTest();

    await expect(kit.mill.result(unchecked(job))).rejects.toMatchObject({
      code: "ID_INVALID",
      message: expect.stringContaining(told),
    });
    await expect(kit.mill.wait(unchecked(job))).rejects.toMatchObject({
      code: "ID_INVALID",
      message: expect.stringContaining("mill.wait needs the job that mill.enqueue returned"),
    });
  });
});

describe("a closed mill", () => {
  test("refuses every call", async () => {
    const kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    await kit.mill.close();

    await expect(kit.mill.enqueue(echo, "late")).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await expect(kit.mill.wait(job)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await expect(kit.mill.jobs.get(job.id)).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  test("ends every wait, at once and without a timer left", async () => {
    const kit = await openTest();
    const job = await kit.mill.enqueue(echo, "hello");
    const wait = watched(kit.mill.wait(job));
    await kit.settled();

    await kit.mill.close();

    expect(wait.end).toMatchObject({ code: "STORE_CLOSED", details: { state: "queued" } });
    expect(kit.clock.pending).toBe(0);
  });

  test("stops its workers first", async () => {
    const kit = await openTest();
    const end = latch();
    const job = defineJob({ type: "job" }).run(() => end.passed);
    await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.settled();

    const closed = watched(kit.mill.close().then(() => "closed"));
    await kit.settled();
    expect(closed.end).toBe("pending");
    end.open();
    await kit.settled();

    expect(closed.end).toBe("closed");
  });
});
