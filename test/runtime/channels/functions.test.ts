import { defineJob } from "millrace";
import { perform } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { openTest, replaceVerb, unchecked } from "../support.ts";

const call = defineJob({ type: "call", maxAttempts: 1 }).run((_, ctx) =>
  ctx.callFunction("comms.get", { id: 7 }),
);

describe("ctx.callFunction", () => {
  test("calls a function of the worker with JSON, and answers one form (C-12)", async () => {
    await using kit = await openTest();
    const calls: unknown[] = [];
    const functions = {
      "comms.get": (payload: unknown, ctx: { job: { type: string } }) => {
        calls.push(payload, ctx.job.type);
        return { success: true, payload: { to: "ada" } };
      },
    };
    const job = await kit.mill.enqueue(call);

    await kit.drain([call], { functions });

    expect(calls).toEqual([{ id: 7 }, "call"]);
    expect(await kit.mill.result(job)).toEqual({
      status: "succeeded",
      payload: { to: "ada" },
      error: null,
      validationFailure: null,
    });
  });

  test("asks the store for a name that the worker does not have", async () => {
    await using kit = await openTest();
    const asked: unknown[] = [];
    replaceVerb(kit.store, "runFunction", async (...args) => {
      asked.push(args);
      return '{"status":"gone"}';
    });
    const job = await kit.mill.enqueue(call);

    await kit.drain([call], { functions: { toString: () => ({ status: "succeeded" }) } });

    expect(asked).toMatchObject([["comms.get", '{"id":7}', { signal: { aborted: false } }]]);
    expect(await kit.mill.result(job)).toMatchObject({ status: "gone" });
  });

  test("tells the store how much time is left to the run", async () => {
    await using kit = await openTest();
    const left: unknown[] = [];
    replaceVerb(kit.store, "runFunction", async (_name, _payload, { leftMs }) => {
      left.push(leftMs);
      return '{"status":"succeeded"}';
    });
    const limited = defineJob({ type: "limited", timeout: "60s" }).run((_, ctx) =>
      ctx.callFunction("comms.get"),
    );
    await kit.mill.enqueue(limited);
    await kit.drain([limited]);
    // A little is kept back for the end of the run.
    expect(left).toEqual([55_000]);
  });

  test("on SQLite knows no other function, and says where to name one", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(call);

    await kit.drain([call], { functions: {} });

    const { error } = await kit.mill.jobs.get(job.id);
    expect(error?.message).toContain('there is no function "comms.get"');
  });

  test.each([
    ["an answer that is no envelope", { "comms.get": () => "sent" }, "neither|answered"],
    [
      "an answer that is not JSON",
      { "comms.get": () => ({ status: "succeeded", payload: 10n }) },
      "is a bigint",
    ],
    [
      "the error of the function",
      {
        "comms.get": () => {
          throw new Error("no such row");
        },
      },
      "no such row",
    ],
  ])("fails the run with %s", async (_, functions, message) => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(call);
    await kit.drain([call], { functions });
    const { state, error } = await kit.mill.jobs.get(job.id);
    expect(state).toBe("failed");
    expect(error?.message).toMatch(new RegExp(message));
  });

  test.each([[7], [{ "comms.get": 1 }], [{ "": () => 1 }], [[]]])(
    "refuses %o as functions when the worker starts",
    async (functions) => {
      await using kit = await openTest();
      const options = unchecked({ jobs: [call], functions });
      expect(() => kit.mill.work(options)).toThrow(
        expect.objectContaining({ code: "OPTION_INVALID" }),
      );
    },
  );

  test("works in perform, which has no database", async () => {
    const functions = { "comms.get": () => ({ status: "succeeded" }) };
    await expect(perform(call, undefined, { functions })).resolves.toMatchObject({
      status: "succeeded",
    });
    await expect(perform(call)).rejects.toMatchObject({ code: "FUNCTION_UNKNOWN" });
  });
});
