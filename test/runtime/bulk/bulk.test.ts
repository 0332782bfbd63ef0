import { defineJob, NonRetryableError, typed, type OperationRequest } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const email = defineJob({ type: "email", payload: typed<number>() }).run(() => {});
const other = defineJob({ type: "other", payload: typed<number>() }).run(() => {});
const pay = defineJob({ type: "pay", payload: typed<number>() }).run((order) => {
  throw new NonRetryableError(`order ${order} has no account`);
});
const publish = defineJob({ type: "publish" }).phase("render", () => 1);
const BY = { actor: "ada", reason: "wrong list" };

const many = <Job>(count: number, of: (n: number) => Job): Job[] =>
  Array.from({ length: count }, (_, n) => of(n));

describe("operations.preview", () => {
  test("counts what the filter matches, and changes nothing", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany([...many(12, (n) => email.of(n)), other.of(1)]);

    const preview = await mill.operations.preview({ action: "cancel", jobs: { type: "email" } });

    expect(preview).toMatchObject({ action: "cancel", count: 12, atLeast: false, skipped: {} });
    expect(preview.jobs).toHaveLength(10);
    expect(preview.jobs[0]).toMatchObject({ type: "email", state: "queued" });
    expect((await mill.jobs.count({ state: "queued" })).count).toBe(13);
  });

  test("tells the jobs that match, and that the action does not change", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany(many(3, (n) => email.of(n)));
    await kit.drain([email]);
    await mill.enqueue(email, 4);

    const jobs = { type: "email" };
    const { operations } = mill;
    const cancel = await operations.preview({ action: "cancel", jobs });
    expect(cancel).toMatchObject({ count: 1, skipped: { state: 3 } });
    expect(await operations.preview({ action: "delete", jobs })).toMatchObject({
      count: 3,
      skipped: { state: 1 },
    });
    // A retry repeats completed jobs only if the filter names their state.
    expect(await operations.preview({ action: "retry", jobs })).toMatchObject({ count: 0 });
    const completed = { ...jobs, state: "completed" } as const;
    expect(await operations.preview({ action: "retry", jobs: completed })).toMatchObject({
      count: 3,
    });
  });

  test("counts open dead letters", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const [first] = await mill.enqueueMany([pay.of(1), pay.of(2)]);
    await kit.drain([pay]);
    await mill.deadLetters.discard(first.id, { actor: "ada" });

    const preview = await mill.operations.preview({
      action: "reprocess",
      deadLetters: { type: "pay" },
    });

    expect(preview).toMatchObject({ count: 1, skipped: { closed: 1 } });
    expect(preview.deadLetters).toMatchObject([{ type: "pay", status: "pending_review" }]);
  });

  test.each<[object, string]>([
    [{ action: "cancel", jobs: {} }, "at least one condition"],
    [{ action: "cancel", jobs: { tags: {} } }, "at least one condition"],
    [{ action: "cancel", jobs: { payload: {} } }, "at least one condition"],
    [{ action: "discard", deadLetters: {} }, "at least one condition"],
    [{ action: "cancel", ids: [] }, "at least one id"],
    [{ action: "cancel" }, "one of jobs, deadLetters and ids"],
    [{ action: "cancel", jobs: { type: "a" }, ids: ["a"] }, "one of jobs, deadLetters and ids"],
    [{ action: "discard", jobs: { type: "a" } }, "deadLetters"],
    [{ action: "cancel", deadLetters: { type: "a" } }, "jobs"],
    [{ action: "cancel", jobs: { state: "failed" } }, "changes no job that is failed"],
    [{ action: "priority", jobs: { type: "a" } }, "priority"],
    [{ action: "reschedule", jobs: { type: "a" } }, "runAt or delay"],
    [{ action: "explode", jobs: { type: "a" } }, "action"],
    [{ action: "cancel", jobs: { tpye: "a" } }, "tpye"],
    [{ action: "discard", deadLetters: { type: "a", after: "b" } }, "no after"],
  ])("refuses %j", async (request, words) => {
    await using kit = await openTest();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What the types refuse.
    const preview = kit.mill.operations.preview(request as OperationRequest);
    await expect(preview).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(words),
    });
  });
});

describe("an operation", () => {
  test.each<[string, object]>([
    ["lane", { lane: "slow" }],
    ["payload", { payload: { "0": "7" } }],
    ["text", { text: "[7," }],
    ["error", { error: "NO ACCOUNT", type: "pay" }],
  ])("changes the jobs that a filter by %s finds, and no other", async (_, jobs) => {
    await using kit = await openTest();
    const { mill } = kit;
    const slow = defineJob({ type: "slow", lane: "slow", payload: typed<readonly number[]>() });
    const fast = defineJob({ type: "fast", payload: typed<readonly number[]>() });
    const wanted = await mill.enqueueMany([slow.of([7, 1])]);
    const failed = await mill.enqueueMany([pay.of(1)]);
    await kit.drain([pay]);
    await mill.enqueueMany([fast.of([8, 7])]);
    const isOfErrors = "error" in jobs;

    const request = { action: isOfErrors ? "delete" : "cancel", jobs } as const;
    const { id } = await mill.operations.start(request, BY);
    const ended = await mill.operations.wait(id);

    expect(ended).toMatchObject({ status: "completed", items: 1, done: 1, filter: jobs });
    const [item] = (await mill.operations.items(id)).items;
    expect(item?.jobId).toBe((isOfErrors ? failed : wanted)[0].id);
    const [entry] = (await mill.audit.list()).filter(({ name }) => name === "operation_started");
    const searched = JSON.stringify(entry?.after);
    expect(searched).not.toMatch(/"7"|\[7,|NO ACCOUNT/);
  });

  test("changes each job once, and says what became of it", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany([...many(250, (n) => email.of(n)), other.of(1)]);
    const request = { action: "cancel", jobs: { type: "email" } } as const;

    const { id, status } = await mill.operations.start(request, BY);
    expect(status).toBe("pending");
    const ended = await mill.operations.wait(id);

    expect(ended).toMatchObject({
      status: "completed",
      expected: 250,
      items: 250,
      done: 250,
      failed: 0,
      skipped: {},
      actor: "ada",
      reason: "wrong list",
    });
    expect((await mill.jobs.count({ state: "cancelled" })).count).toBe(250);
    const { items, next } = await mill.operations.items(id, { limit: 100 });
    expect(items).toHaveLength(100);
    expect(next).toBe(100);
    const last = await mill.operations.items(id, { after: 200, limit: 100 });
    expect(last).toMatchObject({ next: null });
    expect(new Set(last.items.map(({ n }) => n)).size).toBe(50);
    expect(await mill.operations.list()).toMatchObject([{ id, status: "completed" }]);
    expect(await mill.operations.list({ status: "running" })).toEqual([]);
  });

  test("leaves jobs alone that were enqueued after it began", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany(many(30, (n) => email.of(n)));
    const request = { action: "cancel", jobs: { type: "email" } } as const;

    const { id } = await mill.operations.start(request, { ...BY, rate: 10, chunk: 10 });
    await mill.enqueue(email, 99);
    const ending = mill.operations.wait(id);
    await kit.advance("5s");

    expect(await ending).toMatchObject({ status: "completed", done: 30 });
    expect((await mill.jobs.count({ state: "queued" })).count).toBe(1);
  });

  test("obeys its rate, and stops before its next chunk", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany(many(100, (n) => email.of(n)));
    const request = { action: "cancel", jobs: { type: "email" } } as const;

    const { id } = await mill.operations.start(request, { ...BY, rate: "10/s", chunk: 5 });
    await kit.advance("2s");
    const { items } = await mill.operations.get(id);
    expect(items).toBeGreaterThanOrEqual(20);
    expect(items).toBeLessThanOrEqual(40);
    const stopped = await mill.operations.stop(id, { actor: "grace" });
    await kit.advance("10s");

    expect(stopped).toMatchObject({ status: "stopped", stoppedBy: "grace" });
    expect(await mill.operations.get(id)).toMatchObject({ items: stopped.items });
    expect(await mill.operations.wait(id)).toMatchObject({ status: "stopped" });
  });

  test("does not wait for a slow one that runs in the same process", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany([...many(5, (n) => email.of(n)), ...many(5, (n) => other.of(n))]);
    const { operations } = mill;
    const all = (type: string) => ({ action: "cancel", jobs: { type } }) as const;
    const slow = await operations.start(all("email"), { ...BY, rate: "1/m" });
    await kit.advance("1s");
    expect(await operations.get(slow.id)).toMatchObject({ status: "running", items: 1 });

    const urgent = await operations.start(all("other"), BY);

    // The clock stands still: the runner was woken.
    expect(await operations.wait(urgent.id)).toMatchObject({ status: "completed", done: 5 });
  });

  test("repeats failed jobs, deletes them, and changes waiting ones", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const [first] = await mill.enqueueMany([pay.of(1), pay.of(2)]);
    await kit.drain([pay]);
    const failed = { type: "pay", state: "failed" } as const;
    const run = async (request: OperationRequest) =>
      mill.operations.wait((await mill.operations.start(request, BY)).id);

    const retried = await run({ action: "retry", jobs: failed });
    expect(retried).toMatchObject({ done: 2 });
    const { items } = await mill.operations.items(retried.id);
    const { successorId } = items.find(({ jobId }) => jobId === first.id)!;
    expect(await mill.jobs.get(successorId!)).toMatchObject({ retryOf: first.id });
    const waiting = { type: "pay", state: "pending" } as const;
    const priority = { action: "priority", priority: "critical", jobs: waiting } as const;
    expect(await run(priority)).toMatchObject({ done: 2 });
    expect(await run({ action: "reschedule", delay: "1h", jobs: waiting })).toMatchObject({
      done: 2,
    });
    expect(await mill.jobs.get(successorId!)).toMatchObject({ state: "scheduled" });
    expect(await run({ action: "delete", jobs: failed })).toMatchObject({ done: 2 });
    await expect(mill.jobs.get(first.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test("repeats each failed job once, however often jobs and letters are repeated", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    let [isBroken, runs] = [true, 0];
    const flaky = defineJob({ type: "flaky", payload: typed<number>() }).run(() => {
      if (isBroken) throw new NonRetryableError("down");
      runs += 1;
    });
    const [first] = await mill.enqueueMany(many(3, (n) => flaky.of(n)));
    await kit.drain([flaky]);
    isBroken = false;
    const run = async (request: OperationRequest) => {
      const ended = await mill.operations.wait((await mill.operations.start(request, BY)).id);
      await kit.drain([flaky]);
      return ended;
    };
    const jobs = { type: "flaky", state: "failed" } as const;

    expect(await run({ action: "retry", jobs })).toMatchObject({ done: 3 });
    const left = await run({ action: "reprocess", deadLetters: { type: "flaky" } });
    expect(left).toMatchObject({ items: 0 });
    expect(await run({ action: "retry", jobs })).toMatchObject({
      done: 0,
      skipped: { existing: 3 },
    });
    expect(runs).toBe(3);
    const letter = await mill.deadLetters.get(first!.id);
    expect(letter).toMatchObject({ status: "reprocessed" });
    expect(await mill.deadLetters.reprocess(first!.id, { actor: "ada" })).toMatchObject({
      created: false,
      id: letter.successorId,
    });
  });

  test("skips a completed pipeline of which a successor would keep all phases", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const { id } = await mill.enqueue(publish);
    await kit.drain([publish]);
    const jobs = { type: "publish", state: "completed" } as const;

    const started = await mill.operations.start({ action: "retry", jobs }, BY);

    const ended = await mill.operations.wait(started.id);
    expect(ended).toMatchObject({ done: 0, skipped: { nothing_to_retry: 1 } });
    expect((await mill.operations.items(started.id)).items).toMatchObject([{ jobId: id }]);
  });

  test("reprocesses open dead letters, acknowledges and discards them", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany(many(5, (n) => pay.of(n)));
    await kit.drain([pay]);
    const deadLetters = { type: "pay" };
    const run = async (request: OperationRequest) =>
      mill.operations.wait((await mill.operations.start(request, BY)).id);

    expect(await run({ action: "acknowledge", deadLetters })).toMatchObject({ done: 5 });
    const done = await run({ action: "reprocess", deadLetters });
    expect(done).toMatchObject({ target: "deadLetters", done: 5, filter: deadLetters });
    expect(await run({ action: "discard", deadLetters })).toMatchObject({ items: 0 });
    await kit.drain([pay]);
    expect(await run({ action: "discard", deadLetters })).toMatchObject({ done: 5 });
  });

  test("goes on when the letter that it read last was removed with its tenant", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    for (let n = 0; n < 5; n += 1) await mill.enqueue(pay, n);
    await kit.drain([pay]);
    await kit.advance("1s");
    for (let n = 0; n < 2; n += 1) await mill.enqueue(pay, n, { tenant: "acme" });
    await kit.drain([pay]);
    const request = { action: "discard", deadLetters: { type: "pay" } } as const;
    const { id } = await mill.operations.start(request, { ...BY, rate: 1, chunk: 1 });
    await kit.advance(0);
    expect(await mill.operations.get(id)).toMatchObject({ status: "running" });
    await mill.tenants.remove("acme", { ...BY, confirm: "acme" });
    const ending = mill.operations.wait(id);
    await kit.advance("30s");

    expect(await ending).toMatchObject({ status: "completed" });
    expect((await mill.deadLetters.count({ status: "discarded" })).count).toBe(5);
  });

  test("names ids, and says which of them cannot be changed", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const [one, two] = await mill.enqueueMany([email.of(1), email.of(2)]);
    await mill.jobs.cancel(two.id);
    const missing = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

    const ids = [one.id, two.id, missing, one.id];
    const { id } = await mill.operations.start({ action: "cancel", ids }, BY);

    expect(await mill.operations.wait(id)).toMatchObject({
      ids: 3,
      filter: null,
      done: 1,
      skipped: { state: 1, unknown: 1 },
    });
  });

  test("of a tenant changes jobs of this tenant alone", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const acme = mill.forTenant("acme");
    const own = await acme.enqueue(email, 1);
    const foreign = await mill.enqueue(email, 2);
    const run = async (request: OperationRequest) =>
      acme.operations.wait((await acme.operations.start(request, BY)).id);

    const named = await run({ action: "cancel", ids: [own.id, foreign.id] });
    expect(named).toMatchObject({ tenant: "acme", done: 1, skipped: { unknown: 1 } });
    const second = await acme.enqueue(email, 3);
    expect(await run({ action: "cancel", jobs: { type: "email" } })).toMatchObject({ done: 1 });

    expect(await mill.jobs.get(second.id)).toMatchObject({ state: "cancelled" });
    expect(await mill.jobs.get(foreign.id)).toMatchObject({ state: "queued" });
    const others = mill.forTenant("other").operations;
    await expect(others.get(named.id)).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" });
    const stop = others.stop(named.id, { actor: "eve" });
    await expect(stop).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" });
    expect(await others.list()).toEqual([]);
    const jobs = { type: "email", tenant: "default" };
    await expect(acme.operations.start({ action: "cancel", jobs }, BY)).rejects.toMatchObject({
      code: "FORBIDDEN_TENANT",
    });
  });

  test.each([
    [{ actor: "ada" }, "reason"],
    [{ ...BY, rate: "fast" }, "rate"],
    [{ ...BY, rate: 0 }, "rate"],
    [{ ...BY, rate: 1e-300 }, "rate"],
    [{ ...BY, rate: "59/h" }, "rate"],
    [{ ...BY, chunk: 501 }, "chunk"],
  ])("refuses the options %j", async (options, option) => {
    await using kit = await openTest();
    const request = { action: "cancel", jobs: { type: "email" } } as const;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What the types refuse.
    const start = kit.mill.operations.start(request, options as typeof BY);
    await expect(start).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option } });
  });
});

describe("jobs.setPriority and jobs.reschedule", () => {
  test("change a waiting job, and refuse any other", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const { id } = await mill.enqueue(email, 1);

    expect(await mill.jobs.setPriority(id, "critical")).toMatchObject({ state: "queued" });
    const later = await mill.jobs.reschedule(id, { delay: "1h" });
    expect(later).toMatchObject({ state: "scheduled" });
    await mill.jobs.reschedule(id, { runAt: new Date(0) });
    await kit.drain([email]);

    const over = { code: "JOB_OVER" };
    await expect(mill.jobs.setPriority(id, 1)).rejects.toMatchObject(over);
    await expect(mill.jobs.reschedule(id, { delay: 0 })).rejects.toMatchObject(over);
    const invalid = { code: "OPTION_INVALID" };
    await expect(mill.jobs.setPriority(id, -1)).rejects.toMatchObject(invalid);
    // @ts-expect-error -- One of both is needed.
    await expect(mill.jobs.reschedule(id, {})).rejects.toMatchObject(invalid);
  });
});
