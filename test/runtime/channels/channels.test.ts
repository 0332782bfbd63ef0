import { NonRetryableError, TransientError, typed, type AnyJob } from "millrace";
import { dbFunction, defineChannel } from "millrace/channels";
import { perform } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { openTest, replaceVerb, unchecked, untilAborted, type RuntimeTest } from "../support.ts";
import { providerScene } from "./scene.ts";

const TASK = {
  attempt: 7,
  before_handler: "push.message",
  success_handler: "push.sent",
  error_handler: "push.failed",
};

describe("a channel task", () => {
  test("prepares its message, sends it and reports (002-12, 002-13, 002-19)", async () => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene();
    const job = await kit.mill.enqueue(push, TASK);

    await kit.drain([push], { functions });

    expect(calls).toEqual([
      ["push.message", TASK],
      ["push.sent", { original_payload: TASK, worker_payload: { id: "p1" } }],
    ]);
    expect(sent).toEqual([{ text: "attempt 7" }]);
    expect(await kit.mill.result(job)).toMatchObject({
      status: "succeeded",
      payload: { id: "p1" },
    });
  });

  test("is its own message without a before handler", async () => {
    await using kit = await openTest();
    const { push, sent } = providerScene();
    await kit.mill.enqueue(push, { text: "Hello" });
    await kit.drain([push]);
    expect(sent).toEqual([{ text: "Hello" }]);
  });

  test("reports its failure, and completes (002-10, 002-20)", async () => {
    await using kit = await openTest();
    const { push, functions, calls } = providerScene({
      send: () => {
        throw new TransientError("the provider hung up");
      },
    });
    const job = await kit.mill.enqueue(push, TASK);

    const { failed } = await kit.drain([push], { functions });
    await kit.advance("1d");
    await kit.drain([push], { functions });

    expect(failed).toBe(1);
    expect(calls.slice(1)).toEqual([
      ["push.failed", { original_payload: TASK, error: "the provider hung up" }],
    ]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([
      { outcome: "failed", error: { message: "the provider hung up", class: "transient" } },
    ]);
  });

  test.each([
    [{ success: false, error: "no row" }, "no row", "retryable"],
    [{ success: false, validation_failure_message: "no address" }, "no address", "non_retryable"],
    [
      { status: "attempt_not_found" },
      'the before handler push.message answered the status "attempt_not_found"',
      "retryable",
    ],
    [
      () => {
        throw new TransientError("the database hung up");
      },
      "the database hung up",
      "retryable",
    ],
  ])("sends nothing when %o is the answer (002-18, C-12)", async (answer, message, kind) => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene({ message: answer });
    const job = await kit.mill.enqueue(push, TASK);

    await kit.drain([push], { functions });

    expect(sent).toEqual([]);
    expect(calls.slice(1)).toEqual([["push.failed", { original_payload: TASK, error: message }]]);
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([
      { error: { message, class: kind } },
    ]);
  });

  test("logs an outcome that is no success, with task and status (002-43)", async () => {
    await using kit = await openTest();
    const { push, functions } = providerScene({ sent: { status: "attempt_not_found" } });
    const job = await kit.mill.enqueue(push, TASK);

    await kit.drain([push], { functions });

    expect(kit.logged).toContainEqual(
      expect.objectContaining({
        level: "warn",
        message: `task ${job.id}: push.sent answered the status attempt_not_found`,
        fields: expect.objectContaining({ job_id: job.id, status: "attempt_not_found" }),
      }),
    );
    expect(await kit.mill.result(job)).toMatchObject({ status: "succeeded" });
  });

  test("does not send a message that its schema refuses", async () => {
    await using kit = await openTest();
    const sent: unknown[] = [];
    const push = defineChannel({
      type: "push",
      message: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: () => ({ issues: [{ message: "is too long", path: ["text"] }] }),
        },
      },
      send: (message) => sent.push(message),
    });
    const job = await kit.mill.enqueue(push, { text: "Hello" });

    await kit.drain([push]);

    expect(sent).toEqual([]);
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([
      { error: { class: "non_retryable", message: expect.stringContaining("is too long") } },
    ]);
  });

  test.each([
    [{ chat: Number("9007199254740993") }, "payload.chat is beyond"],
    [{ pdf: "x".repeat(1_100_000) }, "payload.pdf is larger than 1000000 bytes"],
  ])("sends nothing when its message cannot be stored", async (payload, problem) => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene({
      message: { status: "succeeded", payload: { to: "ada" } },
    });
    // As a function of the database may answer.
    const answer = JSON.stringify({ status: "succeeded", payload });
    replaceVerb(kit.store, "runFunction", async () => answer);
    const job = await kit.mill.enqueue(push, { ...TASK, before_handler: "biz.message" });

    await kit.drain([push], { functions });

    expect(sent).toEqual([]);
    expect(calls).toMatchObject([["push.failed", { error: expect.stringContaining(problem) }]]);
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([
      { error: { class: "non_retryable", message: expect.stringContaining(problem) } },
    ]);
  });

  test("sends nothing when the task is a message that cannot be stored", async () => {
    await using kit = await openTest();
    const { push, sent } = providerScene();
    const chat: unknown = Reflect.get(JSON, "rawJSON")("9007199254740993");
    const job = await kit.mill.enqueue(push, unchecked({ chat }));
    await kit.drain([push]);
    expect(sent).toEqual([]);
    expect(await kit.mill.jobs.attempts(job.id)).toMatchObject([
      { error: { class: "non_retryable", message: expect.stringContaining("payload.chat") } },
    ]);
  });

  test("reports a send that takes too long", async () => {
    await using kit = await openTest();
    const { push, functions, calls } = providerScene({
      send: () => new Promise(() => {}),
      settings: { sendTimeout: "10s" },
    });
    await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("11s");

    expect(calls[1]).toMatchObject(["push.failed", { error: expect.stringContaining("10000 ms") }]);
  });

  test("ends what send has begun when send takes too long", async () => {
    await using kit = await openTest();
    const ended: string[] = [];
    const until = (name: string) => (signal: AbortSignal) =>
      untilAborted(signal).catch(() => void ended.push(name));
    const push = defineChannel({
      type: "push",
      sendTimeout: "10s",
      send: async (_, ctx) => {
        const calls = [ctx.breaker("apns", until("breaker")), ctx.timeout("1m", until("timeout"))];
        await Promise.all(calls);
      },
    });
    await kit.mill.enqueue(push, {});
    kit.mill.work({ jobs: [push] });
    await kit.advance("11s");
    expect(ended.toSorted()).toEqual(["breaker", "timeout"]);
  });

  test("keeps what was sent when the answer of the provider is not JSON", async () => {
    await using kit = await openTest();
    const { push, functions, calls } = providerScene({ send: () => 10n });
    await kit.mill.enqueue(push, TASK);
    await kit.drain([push], { functions });
    expect(calls[1]).toMatchObject(["push.sent", { worker_payload: null }]);
  });
});

describe("a handler that throws", () => {
  test("is called again until it answers, and nothing is sent again (002-19)", async () => {
    await using kit = await openTest();
    let failures = 3;
    const { push, functions, calls, sent } = providerScene({
      sent: () => {
        failures -= 1;
        if (failures >= 0) throw new Error("the database hung up");
        return { status: "succeeded" };
      },
    });
    const job = await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("1m");

    expect(calls.map(([name]) => name)).toEqual(["push.message", ...Array(4).fill("push.sent")]);
    expect(sent).toHaveLength(1);
    expect(await kit.outcomes(job)).toEqual(["snoozed", "snoozed", "snoozed", "succeeded"]);
  });

  const noTable = (): never => {
    throw new Error("no such table");
  };

  test("leaves the task a success after ten calls, and says so in the log", async () => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene({ sent: noTable });
    const job = await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("1h");

    expect(calls).toHaveLength(11);
    expect(sent).toHaveLength(1);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed", error: null });
    expect(await kit.mill.result(job)).toMatchObject({ payload: { id: "p1" } });
    const problem = "push.sent has failed 10 times: no such table";
    expect(kit.logged).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringContaining(problem) }),
    );
  });

  test("leaves the task its own failure after ten calls, with a remark", async () => {
    await using kit = await openTest();
    const { push, functions, sent } = providerScene({
      send: () => {
        throw new TransientError("the provider hung up");
      },
      failed: noTable,
      settings: { services: ["apns"] },
    });
    const job = await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("1h");

    expect(sent).toHaveLength(1);
    const { error } = (await kit.mill.jobs.attempts(job.id)).at(-1) ?? {};
    expect(error).toMatchObject({
      class: "transient",
      message: "the provider hung up (the handler push.failed has failed 10 times: no such table)",
    });
    expect((await kit.mill.breakers.get("apns")).failures).toBe(1);
  });
});

describe("a worker that dies in a channel task", () => {
  test.each([1, 2, 3, 4, 5, 6])(
    "at its %d. stored step repeats only what is not stored (002-15, C-06)",
    async (step) => {
      await using kit = await openTest();
      const { push, functions, calls, sent } = providerScene();
      const job = await kit.mill.enqueue(push, TASK);

      const stored = await dieAtRecord(kit, step, () => kit.drain([push], { functions }));
      const isRepeated = sent.length === 1 && !stored.includes("send");
      kit.mill.work({ jobs: [push], functions });
      await kit.advance("2m");

      expect(await kit.mill.result(job)).toMatchObject({ status: "succeeded" });
      const facts = calls.filter(([name]) => name === "push.sent");
      expect(facts.length).toBeGreaterThanOrEqual(1);
      expect(facts.length).toBeLessThanOrEqual(2);
      // The message is sent again only if its own step was not stored.
      expect(sent).toHaveLength(isRepeated ? 2 : 1);
    },
  );
});

describe("a function that no worker knows yet", () => {
  const asSupervisor = { retryOwner: "supervisor" } as const;

  test.each([
    ["a before handler", () => providerScene().push, TASK],
    ["a db_function", () => dbFunction(asSupervisor), { db_function: "push.message", attempt: 1 }],
  ])("is waited for as %s, as in a deploy", async (_, jobOf, task) => {
    await using kit = await openTest();
    const own: AnyJob = jobOf();
    const { functions } = providerScene();
    const job = await kit.mill.enqueue(own, task);
    const older = kit.mill.work({ jobs: [own], functions: {} });
    await kit.advance("1m");
    await older.stop();
    kit.mill.work({ jobs: [own], functions });

    await kit.advance("1m");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed", attempts: 1 });
    expect(await kit.outcomes(job)).toEqual(["snoozed", "snoozed", "snoozed", "succeeded"]);
    const [{ error } = {}] = await kit.mill.jobs.attempts(job.id);
    expect(error?.message).toContain('there is no function "push.message"');
  });

  test("is a failure after a quarter of an hour", async () => {
    await using kit = await openTest();
    const { push, sent } = providerScene();
    const job = await kit.mill.enqueue(push, { before_handler: "push.message" });
    kit.mill.work({ jobs: [push], functions: {} });
    await kit.advance("16m");
    expect(sent).toEqual([]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      outcome: "failed",
      error: { message: expect.stringContaining("there is no function") },
    });
  });
});

describe("a channel whose retries the queue owns", () => {
  test("tries again, and reports its last failure alone", async () => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene({
      send: () => {
        throw new TransientError(`failure ${sent.length}`);
      },
      settings: { retryOwner: "queue", maxAttempts: 3 },
    });
    const job = await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("1h");

    expect(sent).toHaveLength(3);
    expect(calls.map(([name]) => name)).toEqual(["push.message", "push.failed"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed", attempts: 3 });
  });

  test("reports nothing but its success when a later attempt succeeds", async () => {
    await using kit = await openTest();
    const { push, functions, calls, sent } = providerScene({
      send: () => {
        if (sent.length === 1) throw new TransientError("down");
        return { id: "p2" };
      },
      settings: { retryOwner: "queue" },
    });
    const job = await kit.mill.enqueue(push, TASK);
    kit.mill.work({ jobs: [push], functions });

    await kit.advance("1h");

    expect(calls.map(([name]) => name)).toEqual(["push.message", "push.sent"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed", attempts: 2 });
  });

  test("reports a failure at once that no retry heals", async () => {
    await using kit = await openTest();
    const { push, functions, calls } = providerScene({
      send: () => {
        throw new NonRetryableError("no such device");
      },
      settings: { retryOwner: "queue", maxAttempts: 3 },
    });
    const job = await kit.mill.enqueue(push, TASK);
    await kit.drain([push], { functions });
    expect(calls).toHaveLength(2);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "failed", attempts: 1 });
  });

  test("sends again when an operator retries the failed job", async () => {
    await using kit = await openTest();
    let isDown = true;
    const { push, functions, calls, sent } = providerScene({
      send: () => {
        if (isDown) throw new NonRetryableError("down");
        return { id: "p2" };
      },
      settings: { retryOwner: "queue" },
    });
    const job = await kit.mill.enqueue(push, TASK);
    await kit.drain([push], { functions });
    isDown = false;

    const again = await kit.mill.jobs.retry(job.id);
    await kit.drain([push], { functions });

    expect(sent).toHaveLength(2);
    expect(calls.map(([name]) => name)).toEqual(["push.message", "push.failed", "push.sent"]);
    expect(await kit.mill.result(again)).toMatchObject({ payload: { id: "p2" } });
  });
});

describe("dbFunction", () => {
  const work = dbFunction();
  const task = { db_function: "accounts.close", account: 7 };

  test("hands all of the payload on (002-11, 002-13, 002-43, C-22)", async () => {
    await using kit = await openTest();
    const calls: unknown[] = [];
    const functions = {
      "accounts.close": (payload: unknown) => {
        calls.push(payload);
        return { status: "max_attempts_reached" };
      },
    };
    const job = await kit.mill.enqueue(work, task);

    await kit.drain([work], { functions });

    expect(calls).toEqual([task]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({
      type: "db_function",
      state: "completed",
      result: { status: "max_attempts_reached" },
    });
    expect(kit.logged).toContainEqual(
      expect.objectContaining({
        message: `task ${job.id}: accounts.close answered the status max_attempts_reached`,
      }),
    );
  });

  test.each([
    [{}, ["failed", "failed", "succeeded"]],
    [{ retryOwner: "supervisor" } as const, ["failed"]],
  ])("with %o tells who retries a function that raises", async (settings, outcomes) => {
    await using kit = await openTest();
    let calls = 0;
    const functions = {
      "accounts.close": () => {
        calls += 1;
        if (calls < 3) throw new Error("deadlock");
        return { status: "succeeded" };
      },
    };
    const own = dbFunction({ type: "own", ...settings });
    const job = await kit.mill.enqueue(own, task);
    kit.mill.work({ jobs: [own], functions });

    await kit.advance("1h");

    expect(await kit.outcomes(job)).toEqual(outcomes);
    expect((await kit.mill.jobs.get(job.id)).state).toBe("completed");
  });
});

describe("the entrance", () => {
  test.each([[{ before_handler: 7 }], [{ error_handler: "" }], [[]], ["task"]])(
    "refuses the channel task %o",
    async (task) => {
      await using kit = await openTest();
      const { push } = providerScene();
      await expect(kit.mill.enqueue(push, unchecked(task))).rejects.toMatchObject({
        code: "PAYLOAD_INVALID",
      });
    },
  );

  test("refuses a function task without a function", async () => {
    await using kit = await openTest();
    await expect(kit.mill.enqueue(dbFunction(), unchecked({}))).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringContaining("payload.db_function"),
    });
  });

  test.each([
    [{ type: "push" }],
    [{ type: "push", send: 1 }],
    [{ type: "push", send: () => {}, onRetry: "restart" }],
    [{ type: "push", send: () => {}, sendTimeout: 0 }],
    [{ type: "push", send: () => {}, message: 1 }],
    [{ type: "push", send: () => {}, retries: 3 }],
    [null],
  ])("refuses the definition %o", (definition) => {
    expect(() => defineChannel(unchecked(definition))).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID" }),
    );
  });

  test("refuses unknown options of dbFunction", () => {
    expect(() => dbFunction(unchecked({ functions: {} }))).toThrow("functions is unknown");
  });

  test("runs a channel without a store, in perform", async () => {
    const push = defineChannel({
      type: "push",
      message: typed<{ text: string }>(),
      send: ({ text }) => text.length,
    });
    await expect(perform(push, { text: "Hello" })).resolves.toMatchObject({ payload: 5 });
  });
});

/** Runs until the worker dies at its n-th stored note. Answers the steps that were stored. */
async function dieAtRecord(
  kit: RuntimeTest,
  n: number,
  run: () => Promise<unknown>,
): Promise<readonly string[]> {
  const stored: string[] = [];
  let left = n;
  const record = kit.store.record.bind(kit.store);
  Reflect.set(kit.store, "record", async (notes: any) => {
    const answer = await record(notes);
    for (const { units = [] } of notes) {
      for (const { unit, to } of units)
        if (to.state === "completed") stored.push(unit.split(" ")[0]);
    }
    left -= 1;
    if (left === 1) kit.crashAt("record");
    return answer;
  });
  if (left === 1) kit.crashAt("record");
  await run();
  Reflect.set(kit.store, "record", record);
  return stored;
}
