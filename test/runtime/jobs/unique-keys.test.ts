import { defineJob, practice, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest } from "../support.ts";

const pay = defineJob({ type: "pay", payload: typed<{ amount: number }>() }).run(
  ({ amount }) => amount,
);
const refund = defineJob({ type: "refund", payload: typed<{ amount: number }>() }).run(() => {});

describe("an idempotency key", () => {
  test("leads to the job that has it, also after its end (003-11, C-13)", async () => {
    await using kit = await openTest();
    const options = { idempotencyKey: "order-7" };
    const first = await kit.mill.enqueue(pay, { amount: 5 }, options);
    const again = await kit.mill.enqueue(pay, { amount: 5 }, options);
    const counts = await kit.drain([pay]);
    const late = await kit.mill.enqueue(pay, { amount: 5 }, options);

    expect(first.created).toBe(true);
    expect(again).toMatchObject({ id: first.id, created: false, state: "queued" });
    expect(counts.succeeded).toBe(1);
    expect(late).toMatchObject({ id: first.id, created: false, state: "completed" });
    expect(await kit.mill.result(late)).toBe(5);
  });

  test("with another payload or type is an error that names the holder (C-13)", async () => {
    await using kit = await openTest();
    const options = { idempotencyKey: "order-7" };
    const first = await kit.mill.enqueue(pay, { amount: 5 }, options);

    for (const request of [pay.of({ amount: 6 }, options), refund.of({ amount: 5 }, options)]) {
      await expect(kit.mill.enqueueMany([request])).rejects.toMatchObject({
        code: "IDEMPOTENCY_CONFLICT",
        details: { holder: first.id },
      });
    }
  });

  test("may be asked to refuse every repetition (C-13)", async () => {
    await using kit = await openTest();
    const options = { idempotencyKey: { key: "order-7", onConflict: "error" } } as const;
    await kit.mill.enqueue(pay, { amount: 5 }, options);

    await expect(kit.mill.enqueue(pay, { amount: 5 }, options)).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_USED",
    });
  });

  test("is refused a second time by the practice preset, within its tenant (003-11)", async () => {
    await using kit = await openTest({ preset: { ...practice, payloadRules: {} } });
    const enqueue = (tenant: string) =>
      kit.mill.enqueue(pay, { amount: 5 }, { idempotencyKey: "order-7", tenant });
    await enqueue("a");

    await expect(enqueue("a")).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_USED" });
    expect(await enqueue("b")).toMatchObject({ created: true });
  });

  test("belongs to its tenant (003-11)", async () => {
    await using kit = await openTest();
    const one = await kit.mill.enqueue(pay, { amount: 5 }, { idempotencyKey: "k", tenant: "a" });
    const two = await kit.mill.enqueue(pay, { amount: 5 }, { idempotencyKey: "k", tenant: "b" });

    expect(two).toMatchObject({ created: true });
    expect(two.id).not.toBe(one.id);
  });

  test("asked for by many at once admits one job", async () => {
    await using kit = await openTest();

    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        kit.mill.enqueue(pay, { amount: 5 }, { idempotencyKey: "order-7" }),
      ),
    );

    expect(answers.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  });
});

describe("a dedup key", () => {
  test("admits one job that is not over, then the next (C-13)", async () => {
    await using kit = await openTest();
    const options = { dedupKey: "account-7" };
    const first = await kit.mill.enqueue(pay, { amount: 5 }, options);
    const second = await kit.mill.enqueue(pay, { amount: 6 }, options);
    await kit.drain([pay]);
    const third = await kit.mill.enqueue(pay, { amount: 7 }, options);

    expect(second).toMatchObject({ id: first.id, created: false });
    expect(third).toMatchObject({ created: true });
    expect(await kit.mill.jobs.get(first.id)).toMatchObject({ payload: { amount: 5 } });
  });

  test("is combined with the type (004-15)", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(pay, { amount: 5 }, { dedupKey: "account-7" });

    const other = await kit.mill.enqueue(refund, { amount: 5 }, { dedupKey: "account-7" });

    expect(other.created).toBe(true);
  });

  test("with replace cancels the waiting job and takes its place", async () => {
    await using kit = await openTest();
    const dedupKey = { key: "account-7", onConflict: "replace" } as const;
    const first = await kit.mill.enqueue(pay, { amount: 5 }, { dedupKey });

    const second = await kit.mill.enqueue(pay, { amount: 6 }, { dedupKey });
    await kit.drain([pay]);

    expect(second.created).toBe(true);
    expect(await kit.mill.jobs.get(first.id)).toMatchObject({ state: "cancelled" });
    expect(await kit.mill.result(second)).toBe(6);
  });

  test("with extend moves the waiting job", async () => {
    await using kit = await openTest();
    const dedupKey = { key: "account-7", onConflict: "extend" } as const;
    const first = await kit.mill.enqueue(pay, { amount: 5 }, { dedupKey, delay: "10s" });
    await kit.advance("9s");

    const second = await kit.mill.enqueue(pay, { amount: 6 }, { dedupKey, delay: "10s" });
    await kit.advance("5s");
    expect((await kit.drain([pay])).succeeded).toBe(0);
    await kit.advance("5s");
    await kit.drain([pay]);

    expect(second).toMatchObject({ id: first.id, created: false });
    expect(await kit.mill.result(first)).toBe(5);
  });

  test("is kept by a successor, and a conflict is told", async () => {
    await using kit = await openTest();
    const options = { dedupKey: "account-7" };
    const first = await kit.mill.enqueue(pay, { amount: 5 }, options);
    await kit.mill.jobs.cancel(first.id);
    const successor = await kit.mill.jobs.retry(first.id);

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ dedupKey: "account-7" });
    expect(await kit.mill.enqueue(pay, { amount: 6 }, options)).toMatchObject({
      id: successor.id,
      created: false,
    });
    await kit.mill.jobs.cancel(successor.id);
    const rival = await kit.mill.enqueue(pay, { amount: 7 }, options);
    await expect(kit.mill.jobs.retry(first.id)).rejects.toMatchObject({
      code: "DEDUP_KEY_HELD",
      details: { id: first.id, holder: rival.id },
    });
  });

  test("never disturbs a running job", async () => {
    await using kit = await openTest();
    const end = latch();
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    const dedupKey = { key: "k", onConflict: "replace" } as const;
    const first = await kit.mill.enqueue(slow, undefined, { dedupKey });
    kit.mill.work({ jobs: [slow] });
    await kit.settled();

    const second = await kit.mill.enqueue(slow, undefined, { dedupKey });
    end.open();
    await kit.settled();

    expect(second).toMatchObject({ id: first.id, created: false, state: "running" });
    expect(await kit.outcomes(first)).toEqual(["succeeded"]);
  });
});
