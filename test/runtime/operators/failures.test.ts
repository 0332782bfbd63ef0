import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const state = { isFixed: false };
const pay = defineJob({ type: "pay", payload: typed<{ order: number }>() }).run(({ order }) => {
  if (!state.isFixed) throw new NonRetryableError(`order ${order} has no account`);
  return order;
});
const mail = defineJob({ type: "mail", payload: typed<{ to: string }>() }).run(({ to }) => {
  throw new NonRetryableError(`no mailbox "${to}@example.com"`);
});
const ada = { actor: "ada", notes: "seen" };

async function withFailures() {
  state.isFixed = false;
  const kit = await openTest();
  const { mill } = kit;
  const orders = await mill.enqueueMany([pay.of({ order: 17 }), pay.of({ order: 18 })]);
  await mill.enqueue(mail, { to: "bob" });
  await kit.drain([pay, mail]);
  const { cause } = await mill.deadLetters.get(orders[0].id);
  return { kit, mill, cause, orders, failures: mill.failures };
}

describe("failures by cause", () => {
  test("are listed with count, types, sample and trend", async () => {
    const { kit, cause, failures } = await withFailures();
    await using _ = kit;

    const groups = await failures.list();
    const group = await failures.get(cause);

    expect(groups).toHaveLength(2);
    expect(groups).toContainEqual(group);
    expect(group).toMatchObject({
      cause,
      count: 2,
      atLeast: false,
      status: "new",
      types: ["pay"],
      sample: { error: { cause, message: expect.stringMatching(/^order 1[78] has no account$/) } },
      decidedBy: null,
    });
    expect(group.sample.error).not.toHaveProperty("stack");
    expect(group.trend.at(-1)).toBe(2);
    expect(await failures.list({ limit: 1 })).toHaveLength(1);
  });

  test("are acknowledged, and return with the next failure", async () => {
    const { kit, mill, cause, failures } = await withFailures();
    await using _ = kit;

    await failures.acknowledge(cause, ada);
    const known = await failures.get(cause);
    await kit.advance("1m");
    await mill.enqueue(pay, { order: 19 });
    await kit.drain([pay]);

    expect(known).toMatchObject({ status: "acknowledged", decidedBy: "ada", notes: "seen" });
    expect(await failures.get(cause)).toMatchObject({ status: "returned", count: 3 });
  });

  test("are snoozed until an instant", async () => {
    const { kit, cause, failures } = await withFailures();
    await using _ = kit;
    const until = new Date(kit.clock.now() + 3_600_000);

    await failures.snooze(cause, { actor: "ada", until });
    const hidden = await failures.get(cause);
    await kit.advance("1h");

    expect(hidden).toMatchObject({ status: "snoozed", until });
    expect(await failures.get(cause)).toMatchObject({ status: "open" });
  });

  test("are retried as one, and others stay", async () => {
    const { kit, mill, cause, orders, failures } = await withFailures();
    await using _ = kit;
    state.isFixed = true;

    const part = await failures.retry(cause, { ...ada, limit: 1 });
    const rest = await failures.retry(cause, ada);
    await kit.drain([pay, mail]);

    expect(part).toEqual({ retried: 1, existing: 0, held: 0, refused: 0, complete: false });
    expect(rest).toMatchObject({ retried: 1, complete: true });
    await expect(failures.get(cause)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect(await failures.list()).toMatchObject([{ types: ["mail"], count: 1 }]);
    const { successorId } = await mill.deadLetters.get(orders[1].id);
    expect(await mill.jobs.get(successorId!)).toMatchObject({
      state: "completed",
      retryOf: orders[1].id,
      createdBy: "ada",
    });
  });

  test("are discarded as one", async () => {
    const { kit, mill, cause, orders, failures } = await withFailures();
    await using _ = kit;

    expect(await failures.discard(cause, ada)).toEqual({ discarded: 2, complete: true });
    expect(await mill.deadLetters.get(orders[0].id)).toMatchObject({ status: "discarded" });
  });

  test("of a tenant's mill are those of the tenant", async () => {
    const { kit, mill, cause } = await withFailures();
    await using _ = kit;
    await mill.enqueue(pay, { order: 20 }, { tenant: "acme" });
    await kit.drain([pay]);
    const own = mill.forTenant("acme").failures;

    expect(await own.list()).toMatchObject([{ cause, count: 1, sample: { tenant: "acme" } }]);
    expect(await own.discard(cause, ada)).toMatchObject({ discarded: 1 });
    expect(await mill.failures.get(cause)).toMatchObject({ count: 2, decidedBy: null });
  });

  test("refuse a cause that is none, and an unknown one", async () => {
    const { kit, failures } = await withFailures();
    await using _ = kit;

    await expect(failures.get("nonsense")).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(failures.retry("0".repeat(16), ada)).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
  });
});
