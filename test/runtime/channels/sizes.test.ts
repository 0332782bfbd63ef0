/** Numbers and sizes that come close to what can be stored, or exceed it. */
import { defineJob } from "millrace";
import { dbFunction, defineChannel, defineSupervisor } from "millrace/channels";
import { describe, expect, test } from "vitest";
import { openTest, replaceVerb, unchecked, type RuntimeTest } from "../support.ts";

const DIGITS = "9007199254740993";
const exactly = (text: string): any => Reflect.get(JSON, "rawJSON")(text);

/** The database answers this JSON to every call. Answers the payloads. */
function databaseAnswers(kit: RuntimeTest, answer: string): readonly string[] {
  const payloads: string[] = [];
  replaceVerb(kit.store, "runFunction", async (_name, payload) => {
    payloads.push(payload);
    return answer;
  });
  return payloads;
}

const resultOf = async (kit: RuntimeTest, { id }: { id: string }) =>
  (await kit.store.get(id))?.result;

describe("a number that JavaScript cannot hold", () => {
  test("keeps its digits on the way to a db_function and back (002-13)", async () => {
    await using kit = await openTest();
    const payload = `{"id":${DIGITS},"amount":12345678901234.567891,"price":1.50}`;
    const payloads = databaseAnswers(kit, `{"status":"succeeded","payload":${payload}}`);
    const work = dbFunction();
    const task = { db_function: "biz.pay", id: exactly(DIGITS), price: exactly("1.50") };
    const job = await kit.mill.enqueue(work, unchecked(task));

    await kit.drain([work]);

    expect(payloads).toEqual([`{"db_function":"biz.pay","id":${DIGITS},"price":1.50}`]);
    expect(await resultOf(kit, job)).toContain(`"payload":${payload}`);
  });

  test("keeps its digits in the payload of a handler (002-13)", async () => {
    await using kit = await openTest();
    const payloads = databaseAnswers(kit, '{"status":"succeeded"}');
    const push = defineChannel({ type: "push", send: () => ({ id: 1 }) });
    const functions = { message: () => ({ status: "succeeded", payload: {} }) };
    const task = { before_handler: "message", success_handler: "biz.sent", id: exactly(DIGITS) };
    await kit.mill.enqueue(push, unchecked(task));
    await kit.drain([push], { functions });
    expect(payloads).toHaveLength(1);
    expect(payloads[0]).toContain(`"id":${DIGITS}},"worker_payload":{"id":1}}`);
  });

  test("keeps its digits in the result of a supervisor", async () => {
    await using kit = await openTest();
    databaseAnswers(kit, `{"status":"succeeded","payload":{"id":${DIGITS}}}`);
    const work = dbFunction();
    const told: unknown[] = [];
    const pay = defineSupervisor({
      type: "pay",
      attempt: () => work.of({ db_function: "biz.pay" }),
      onSuccess: (_, { result }) => void told.push(result),
    });
    const job = await kit.mill.enqueue(pay);
    kit.mill.work({ jobs: [work, pay] });
    await kit.advance("10s");
    expect(told).toEqual([{ id: Number(DIGITS) }]);
    expect(await resultOf(kit, job)).toContain(`"result":{"id":${DIGITS}}`);
  });
});

describe("the payload of a function that cannot be stored", () => {
  test.each([
    ["is too large", `"${"x".repeat(999_990)}"`],
    ["is far too large", `"${"x".repeat(5_000_000)}"`],
    ["is beyond all numbers", "1e400"],
  ])("is left out when it %s, and the status stays", async (_, payload) => {
    await using kit = await openTest();
    databaseAnswers(kit, `{"status":"succeeded","payload":${payload}}`);
    const work = dbFunction();
    const job = await kit.mill.enqueue(work, { db_function: "biz.pay" });
    await kit.drain([work]);
    expect(await kit.mill.result(job)).toMatchObject({ status: "succeeded", payload: null });
    expect(kit.logged).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("is left out") }),
    );
  });
});

describe("a task close to the largest size", () => {
  const functions = (calls: unknown[]) => ({
    ok: ({ worker_payload }: any) => (calls.push(worker_payload), { status: "succeeded" }),
    no: ({ error }: any) => (calls.push(error), { status: "succeeded" }),
  });

  test.each([998_990, 999_940, 999_995])("sends once, with an answer of %d bytes", async (size) => {
    await using kit = await openTest();
    const calls: string[] = [];
    const answer = "x".repeat(size - 2);
    const push = defineChannel({ type: "push", send: () => answer });
    const job = await kit.mill.enqueue(push, { success_handler: "ok", error_handler: "no" });
    await kit.drain([push], { functions: functions(calls) });
    expect(calls).toEqual([size < 999_000 ? answer : null]);
    expect(await kit.mill.result(job)).toMatchObject({ status: "succeeded" });
  });

  test("hands task and answer to its handler, which are larger together", async () => {
    await using kit = await openTest();
    const calls: string[] = [];
    const push = defineChannel({ type: "push", send: () => "x".repeat(500_000) });
    const task = { html: "x".repeat(600_000), success_handler: "ok", error_handler: "no" };
    const job = await kit.mill.enqueue(push, task);
    await kit.drain([push], { functions: functions(calls) });
    expect(calls).toEqual(["x".repeat(500_000)]);
    expect(await kit.mill.result(job)).toMatchObject({ status: "succeeded" });
  });

  test("reports its failure to its handler, with a message that is too large", async () => {
    await using kit = await openTest();
    const calls: string[] = [];
    const push = defineChannel({ type: "push", send: () => 1 });
    await kit.mill.enqueue(push, { html: "x".repeat(999_800), error_handler: "no" });
    await kit.drain([push], { functions: functions(calls) });
    expect(calls).toEqual([expect.stringContaining("larger than 999000 bytes")]);
  });
});

test("a supervisor leaves out a result that is too large, and succeeds", async () => {
  await using kit = await openTest();
  const told: string[] = [];
  const push = defineJob({ type: "push" }).run(() => "x".repeat(998_960));
  const inner = defineSupervisor({ type: "inner", channel: push });
  const outer = defineSupervisor({
    type: "outer",
    channel: inner,
    onSuccess: () => void told.push("succeeded"),
    onStuck: () => void told.push("stuck"),
  });
  const job = await kit.mill.enqueue(outer);
  kit.mill.work({ jobs: [push, inner, outer] });
  await kit.advance("5m");
  expect(told).toEqual(["succeeded"]);
  expect(await kit.mill.result(job)).toMatchObject({ payload: { attempts: 1, result: null } });
});
