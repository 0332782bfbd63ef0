import assert from "node:assert/strict";
import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { declaration, failedWith, newJob, workerInfo } from "../../support/factories.ts";
import { openTest, type RuntimeTest } from "../support.ts";

const pay = defineJob({
  type: "pay",
  category: "billing",
  payload: typed<{ amount: number }>(),
}).run(({ amount }) => {
  if (amount > 100) throw new NonRetryableError("too much");
  return amount;
});
const actor = { actor: "ada" };

async function withLetter(options = {}) {
  const kit = await openTest();
  const job = await kit.mill.enqueue(pay, { amount: 500 }, { correlationId: "trace", ...options });
  await kit.drain([pay]);
  return { kit, job, letters: kit.mill.deadLetters };
}

/** A failed job of a type that another process has declared. */
async function foreignLetter(
  kit: RuntimeTest,
  payloadSchema: string | null,
  payloadVersion: string | null = null,
): Promise<string> {
  const worker = workerInfo();
  await kit.store.register(worker);
  await kit.store.declareTypes(worker.id, [
    declaration({ type: "foreign", payloadSchema, payloadVersion }),
  ]);
  const job = newJob({ type: "foreign", payload: "{}" });
  await kit.store.enqueue([job]);
  await kit.store.intervene(job.id, () => failedWith());
  return job.id;
}

describe("a dead letter", () => {
  test("of a final failure keeps payload, attempts and error (003-22, 003-23)", async () => {
    const { kit, job, letters } = await withLetter({ tenant: "acme" });
    await using _ = kit;

    expect(await letters.get(job.id)).toMatchObject({
      jobId: job.id,
      type: "pay",
      tenant: "acme",
      status: "pending_review",
      payload: { amount: 500 },
      attempts: 1,
      error: { class: "non_retryable", message: "too much" },
      diedAt: new Date(kit.clock.now()),
    });
  });

  test("answers its payload as the text that is stored", async () => {
    const { rawJSON }: any = JSON;
    const kit = await openTest();
    await using _ = kit;
    const { id } = await kit.mill.enqueue(pay, { amount: rawJSON("9007199254740993") });
    await kit.drain([pay]);

    expect(await kit.mill.deadLetters.texts(id)).toEqual({
      payload: '{"amount":9007199254740993}',
    });
    await expect(kit.mill.deadLetters.texts("01K9ZQ4H7M3V8T2XE6RNQ4C7XQ")).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
    });
  });

  test("carries category, keys, correlation and every error (003-23)", async () => {
    const keys = { idempotencyKey: "i", dedupKey: "d", concurrencyKey: "c" };
    const { kit, job, letters } = await withLetter(keys);
    await using _ = kit;

    expect(await letters.get(job.id)).toMatchObject({
      ...keys,
      category: "billing",
      correlationId: "trace",
      originalCreatedAt: (await kit.mill.jobs.get(job.id)).createdAt,
      history: [{ number: 1, outcome: "failed", error: { message: "too much" } }],
    });
  });

  test("is assigned to a person, and gets notes", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const at = new Date(kit.clock.now());

    await letters.assign(job.id, { actor: "ada", to: "bob" });
    await letters.note(job.id, { actor: "bob", notes: "asked the bank" });

    expect(await letters.get(job.id)).toMatchObject({
      status: "pending_review",
      assignedTo: "bob",
      reviews: [
        { at, by: "ada", act: "assigned", notes: null, to: "bob" },
        { at, by: "bob", act: "noted", notes: "asked the bank", to: null },
      ],
    });
    await letters.discard(job.id, actor);
    await expect(letters.assign(job.id, { actor: "ada", to: null })).rejects.toThrow(/discarded/);
  });

  test("has the cause of the last attempt, which every attempt shows", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const other = await kit.mill.enqueue(pay, { amount: 900 });
    await kit.drain([pay]);

    const { cause, error } = await letters.get(job.id);
    const [attempt] = await kit.mill.jobs.attempts(job.id);

    expect(cause).toMatch(/^[0-9a-f]{16}$/);
    expect(error.cause).toBe(cause);
    expect(attempt?.error?.cause).toBe(cause);
    expect((await kit.mill.jobs.get(job.id)).error?.cause).toBe(cause);
    expect((await letters.get(other.id)).cause).toBe(cause);
  });

  test("of a job that was failed by hand has the cause of the message", async () => {
    await using kit = await openTest();
    const [first, second] = await kit.mill.enqueueMany([
      pay.of({ amount: 1 }),
      pay.of({ amount: 2 }),
    ]);
    await kit.mill.jobs.fail(first.id, "order 17 is void");
    await kit.mill.jobs.fail(second.id, "order 18 is void");

    const causes = (await kit.mill.deadLetters.list()).map(({ cause }) => cause);
    const [attempt] = await kit.mill.jobs.attempts(first.id);

    expect(causes).toEqual([attempt?.error?.cause, attempt?.error?.cause]);
  });

  test("keeps its whole job and error, its death and its reviewer (004-09, C-17)", async () => {
    const { kit, job, letters } = await withLetter({
      tenant: "acme",
      priority: 7,
      tags: { a: "b" },
    });
    await using _ = kit;
    const diedAt = kit.clock.now();
    const { key: _key, ...whole } = (await kit.store.get(job.id)) ?? assert.fail();
    await kit.advance("1m");

    await letters.acknowledge(job.id, actor);

    const letter = (await kit.store.deadLetter(job.id)) ?? assert.fail();
    const spec: Record<string, unknown> = JSON.parse(letter.spec);
    expect(spec).toMatchObject({ type: "pay", tenant: "acme", priority: 7, tags: { a: "b" } });
    expect(whole).toMatchObject(spec);
    expect(letter).toMatchObject({
      fault: { class: "non_retryable", message: "too much", stack: expect.any(String) },
      diedAt,
      reviewedBy: "ada",
      reviewedAt: diedAt + 60_000,
    });
  });

  test("is listed, newest first, by status, type and tenant (004-25)", async () => {
    const { kit, job, letters } = await withLetter({ tenant: "acme" });
    await using _ = kit;
    await kit.advance("1s");
    const newer = await kit.mill.enqueue(pay, { amount: 600 });
    await kit.drain([pay]);
    const ids = async (filter = {}) => (await letters.list(filter)).map(({ id }) => id);

    expect(await ids()).toEqual([newer.id, job.id]);
    expect(await ids({ tenant: "acme" })).toEqual([job.id]);
    expect(await ids({ type: "other" })).toEqual([]);
    expect(await ids({ limit: 1, after: newer.id })).toEqual([job.id]);
    await letters.acknowledge(newer.id, actor);
    expect(await ids({ status: "pending_review" })).toEqual([job.id]);
  });

  test("that is acknowledged says by whom, and may be reprocessed (004-25, C-17)", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    await kit.advance("1m");

    await letters.acknowledge(job.id, { ...actor, notes: "known" });
    expect(await letters.get(job.id)).toMatchObject({
      status: "acknowledged",
      reviewedBy: "ada",
      reviewedAt: new Date(kit.clock.now()),
      notes: "known",
    });

    expect(await letters.reprocess(job.id, actor)).toMatchObject({ created: true });
  });

  test("that is reprocessed leads to a linked job (003-44, 003-45, 004-25, C-17)", async () => {
    const { kit, job, letters } = await withLetter({ idempotencyKey: "order-7" });
    await using _ = kit;

    const successor = await letters.reprocess(job.id, { ...actor, notes: "the limit was raised" });

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({
      type: "pay",
      payload: { amount: 500 },
      correlationId: "trace",
      retryOf: job.id,
      createdBy: "ada",
      state: "queued",
    });
    expect(await letters.get(job.id)).toMatchObject({
      status: "reprocessed",
      successorId: successor.id,
      notes: "the limit was raised",
    });
  });

  test("has one successor, however often it is reprocessed (003-44)", async () => {
    const { kit, job, letters } = await withLetter({ idempotencyKey: "order-17" });
    await using _ = kit;

    const answers = await Promise.all([
      letters.reprocess(job.id, actor),
      letters.reprocess(job.id, actor),
    ]);
    const later = await letters.reprocess(job.id, { actor: "bob" });

    const [first] = answers;
    expect(new Set([...answers, later].map(({ id }) => id)).size).toBe(1);
    expect([...answers, later].filter(({ created }) => created)).toHaveLength(1);
    expect(first.idempotencyKey).toBe(`order-17_retry_${(kit.clock.now() / 1_000).toFixed(3)}`);
    expect(later).toMatchObject({ state: "queued", idempotencyKey: first.idempotencyKey });
    expect([first.deadLetterId, later.deadLetterId]).toEqual([job.id, job.id]);
    expect((await kit.mill.jobs.list({ state: "queued" })).jobs).toHaveLength(1);
  });

  test("has a successor with correlation and suffixed key, or a conflict (C-30)", async () => {
    const keys = { idempotencyKey: "order-8", dedupKey: "order" };
    const { kit, job, letters } = await withLetter(keys);
    await using _ = kit;
    const held = await kit.mill.enqueue(pay, { amount: 1 }, { dedupKey: "order", delay: "1h" });

    await expect(letters.reprocess(job.id, actor)).rejects.toMatchObject({
      code: "DEDUP_KEY_HELD",
      details: { holder: held.id },
    });
    expect(await letters.get(job.id)).toMatchObject({ status: "pending_review" });
    await kit.mill.jobs.cancel(held.id);
    const successor = await letters.reprocess(job.id, actor);

    expect(successor.deadLetterId).toBe(job.id);
    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({
      correlationId: "trace",
      retryOf: job.id,
      dedupKey: "order",
      idempotencyKey: expect.stringMatching(/^order-8_retry_\d+\.\d{3}$/),
    });
  });

  test("without an idempotency key has a successor without one", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;

    expect(await letters.reprocess(job.id, actor)).toMatchObject({ idempotencyKey: null });
  });

  test("checks another payload by the schema, and keeps what it has changed", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;

    await letters.reprocess(job.id, { ...actor, payload: { amount: 5 } });

    expect((await letters.get(job.id)).reviews).toMatchObject([
      { act: "reprocessed", changes: [{ path: "$.amount", before: 500, after: 5 }] },
    ]);
  });

  test("refuses another payload that the schema refuses (PAYLOAD_INVALID)", async () => {
    const strict = defineJob({ type: "strict", payload: z.object({ n: z.number().max(9) }) }).run(
      () => {
        throw new NonRetryableError("no");
      },
    );
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(strict, { n: 1 });
    await kit.drain([strict]);
    const { deadLetters } = kit.mill;

    await expect(deadLetters.reprocess(id, { ...actor, payload: { n: 10 } })).rejects.toMatchObject(
      { code: "PAYLOAD_INVALID" },
    );
    expect(await deadLetters.get(id)).toMatchObject({ status: "pending_review" });
  });

  test("refuses a payload by the declared JSON Schema if no code of the type is here", async () => {
    await using kit = await openTest();
    const n = { type: "integer", minimum: 1 };
    const payloadSchema = { type: "object", properties: { n }, required: ["n"] };
    const id = await foreignLetter(kit, JSON.stringify(payloadSchema));
    const { deadLetters } = kit.mill;

    await expect(deadLetters.reprocess(id, { ...actor, payload: { n: 0 } })).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      details: { issues: [{ path: "payload.n" }] },
    });
    expect(await deadLetters.get(id)).toMatchObject({ status: "pending_review" });
    const copy = await deadLetters.reprocess(id, { ...actor, payload: { n: 1 } });
    expect(await kit.mill.jobs.get(copy.id)).toMatchObject({ payload: { n: 1 } });
  });

  test("refuses it also after a job of the type was enqueued without its code", async () => {
    await using kit = await openTest();
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const id = await foreignLetter(kit, JSON.stringify(schema));
    await kit.mill.enqueue(defineJob({ type: "foreign", payload: typed<any>() }), {});

    const edited = kit.mill.deadLetters.reprocess(id, { ...actor, payload: {} });

    await expect(edited).rejects.toMatchObject({ code: "PAYLOAD_INVALID" });
  });

  test("gives another payload the version of today, and unchanged ones their own", async () => {
    const v1 = defineJob({
      type: "greet",
      payload: typed<{ who: string }>(),
      payloadVersion: "1",
    }).run(() => {
      throw new NonRetryableError("no");
    });
    const v2 = defineJob({
      type: "greet",
      payload: z.object({ first: z.string(), last: z.string() }),
      payloadVersion: "2",
      upcast: {
        "1": ({ who }: { who: string }) => ({ first: who.split(" ")[0], last: who.split(" ")[1] }),
      },
    }).run(({ first, last }) => `${last}, ${first}`);
    await using kit = await openTest();
    const [edited, unchanged] = await kit.mill.enqueueMany([
      v1.of({ who: "Ada Lovelace" }),
      v1.of({ who: "Grace Hopper" }),
    ]);
    assert.ok(edited !== undefined && unchanged !== undefined);
    await kit.drain([v1]);
    await kit.drain([v2]);
    const { deadLetters, jobs } = kit.mill;

    const payload = { first: "Ada", last: "King" };
    const corrected = await deadLetters.reprocess(edited.id, { ...actor, payload });
    const repeated = await deadLetters.reprocess(unchanged.id, actor);
    await kit.drain([v2]);

    expect(await jobs.get(corrected.id)).toMatchObject({
      payloadVersion: "2",
      result: "King, Ada",
    });
    expect(await jobs.get(repeated.id)).toMatchObject({
      payloadVersion: "1",
      result: "Hopper, Grace",
    });
  });

  test("gives another payload the version that workers elsewhere have declared", async () => {
    await using kit = await openTest();
    const id = await foreignLetter(kit, null, "3");

    const copy = await kit.mill.deadLetters.reprocess(id, { ...actor, payload: {} });

    expect(await kit.mill.jobs.get(copy.id)).toMatchObject({ payloadVersion: "3" });
  });

  test("gives another payload the version of the contract if no worker has the type", async () => {
    await using kit = await openTest();
    const mail = defineJob({ type: "mail", payload: typed<any>(), payloadVersion: "2" });
    const { id } = await kit.mill.enqueue(defineJob({ type: "mail", payload: typed<any>() }), {});
    await kit.mill.enqueue(mail, {});
    const bare = await kit.mill.enqueue(defineJob({ type: "bare", payload: typed<any>() }), {});
    for (const each of [id, bare.id]) await kit.mill.jobs.fail(each, "no", actor);
    const { deadLetters, jobs } = kit.mill;

    const copy = await deadLetters.reprocess(id, { ...actor, payload: { n: 1 } });
    const other = await deadLetters.reprocess(bare.id, { ...actor, payload: { n: 1 } });

    expect(await jobs.get(copy.id)).toMatchObject({ payloadVersion: "2" });
    expect(await jobs.get(other.id)).toMatchObject({ payloadVersion: null });
  });

  test.each([null, '{"$ref":"https://elsewhere"}'])(
    "takes another payload if the declared schema is %s",
    async (payloadSchema) => {
      await using kit = await openTest();
      const id = await foreignLetter(kit, payloadSchema);

      const copy = await kit.mill.deadLetters.reprocess(id, { ...actor, payload: { n: 0 } });

      expect(copy.created).toBe(true);
    },
  );

  test("whose dedup key is held by another stays open, and says so", async () => {
    const { kit, job, letters } = await withLetter({ dedupKey: "account-7" });
    await using _ = kit;
    const rival = await kit.mill.enqueue(pay, { amount: 5 }, { dedupKey: "account-7" });

    await expect(letters.reprocess(job.id, actor)).rejects.toMatchObject({
      code: "DEDUP_KEY_HELD",
      details: { holder: rival.id },
    });
    expect(await letters.get(job.id)).toMatchObject({ status: "pending_review" });
    await kit.drain([pay]);
    const successor = await letters.reprocess(job.id, actor);

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ dedupKey: "account-7" });
  });

  test("refuses another payload if a job without it repeats the letter already", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const retried = await kit.mill.jobs.retry(job.id, actor);
    const edited = { ...actor, payload: { amount: 50 } };

    await expect(letters.reprocess(job.id, edited)).rejects.toMatchObject({
      code: "JOB_OVER",
      details: { id: job.id, successorId: retried.id },
    });
    const answer = { id: retried.id, created: false };
    expect(await letters.reprocess(job.id, actor)).toMatchObject(answer);
  });

  test("refuses another payload beside a successor that keeps the letter open", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const living = newJob({ type: "pay", retryOf: job.id, payload: '{"amount":500}' });
    await kit.store.enqueue([living]);
    const edited = { ...actor, payload: { amount: 50 } };

    await expect(letters.reprocess(job.id, edited)).rejects.toMatchObject({
      details: { successorId: living.id },
    });
    expect(await letters.get(job.id)).toMatchObject({ status: "pending_review" });
  });

  test("answers the same job to a repeat with the same payload", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const edited = { ...actor, payload: { amount: 50 } };
    const { id } = await letters.reprocess(job.id, edited);

    expect(await letters.reprocess(job.id, edited)).toMatchObject({ id, created: false });
  });

  test("may be reprocessed with a corrected payload", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;

    const successor = await letters.reprocess(job.id, { ...actor, payload: { amount: 50 } });
    await kit.drain([pay]);

    expect(await kit.mill.result(successor)).toBe(50);
    expect(await letters.get(job.id)).toMatchObject({ payload: { amount: 500 } });
  });

  test("of a successor that fails again is a letter of its own", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const successor = await letters.reprocess(job.id, actor);

    await kit.drain([pay]);

    expect(await letters.get(successor.id)).toMatchObject({ status: "pending_review" });
    expect(await letters.get(job.id)).toMatchObject({ status: "reprocessed" });
  });

  test("that is discarded or reprocessed does not change any more (C-17)", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    await letters.discard(job.id, { ...actor, notes: "a test order" });

    await expect(letters.reprocess(job.id, actor)).rejects.toMatchObject({ code: "JOB_OVER" });
    await expect(letters.acknowledge(job.id, actor)).rejects.toMatchObject({ code: "JOB_OVER" });
    expect(await letters.get(job.id)).toMatchObject({ status: "discarded", notes: "a test order" });
    expect((await kit.mill.jobs.list()).jobs).toHaveLength(1);
  });

  test("that does not exist is told so", async () => {
    const { kit, letters } = await withLetter();
    await using _ = kit;
    const unknown = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

    await expect(letters.get(unknown)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    await expect(letters.discard(unknown, actor)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test("outlives its job, and can be reprocessed all the same (003-23)", async () => {
    const { kit, job, letters } = await withLetter();
    await using _ = kit;
    const far = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
    await kit.advance("1s");
    await kit.store.prune(
      {
        finishedMs: far,
        deadLetterMs: 1e9,
        idempotencyMs: 1e9,
        eventMs: 1e9,
        minutesMs: 1e9,
        auditMs: 1e9,
      },
      100,
    );
    await expect(kit.mill.jobs.get(job.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });

    const successor = await letters.reprocess(job.id, actor);

    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ payload: { amount: 500 } });
  });
});
