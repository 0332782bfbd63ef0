/** What a job records of its request, and of its life. */
import { defineJob, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { idOf } from "../../../src/jobs/views.ts";
import { openTest } from "../support.ts";

const note = defineJob({ type: "note", payload: typed<string | undefined>() }).run((name, ctx) => {
  if (ctx.attempt === 1 && name === "flaky") throw new TransientError("not yet");
  return name;
});

describe("a job", () => {
  test("records defaults for all that is left out (004-06)", async () => {
    await using kit = await openTest();
    const now = kit.clock.now();

    const { id } = await kit.mill.enqueue(note);

    expect(await kit.store.get(id)).toMatchObject({
      type: "note",
      payload: null,
      state: "queued",
      priority: 100,
      attempts: 0,
      maxAttempts: 5,
      scheduledAt: now,
      runAt: now,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      fault: null,
      correlationId: expect.any(String),
      parentId: null,
      createdBy: null,
      dedupKey: null,
    });
  });

  test("records all that is asked for, and what happens to it (004-06)", async () => {
    await using kit = await openTest();
    const due = kit.clock.now() + 1_000;
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      const { id } = await ctx.enqueue(note, "flaky", {
        priority: 7,
        maxAttempts: 2,
        delay: "1s",
        correlationId: "trace",
        createdBy: "ada",
        dedupKey: "key",
      });
      return id;
    });
    const { id: parentId } = await kit.mill.enqueue(parent);
    await kit.drain([parent]);
    const { jobs } = await kit.mill.jobs.list({ parentId });
    const id = idOf(jobs[0]?.id ?? "");
    await kit.advance("1s");
    await kit.drain([note]);
    const error = { class: "transient", message: "not yet" };
    expect(await kit.mill.jobs.get(id)).toMatchObject({
      attempts: 1,
      error,
      startedAt: new Date(due),
    });
    await kit.advance("2s");
    await kit.drain([note]);

    expect(await kit.mill.jobs.get(id)).toMatchObject({
      payload: "flaky",
      priority: 7,
      attempts: 2,
      maxAttempts: 2,
      correlationId: "trace",
      parentId,
      createdBy: "ada",
      dedupKey: "key",
      createdAt: new Date(due - 1_000),
      startedAt: new Date(due + 2_000),
      finishedAt: new Date(due + 2_000),
    });
    expect(await kit.store.get(id)).toMatchObject({ scheduledAt: due });
  });
});

describe("enqueue", () => {
  test("takes any text as correlation id, else the id of the job as a UUID (C-14)", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const longest = "user-action-ü ".repeat(20).slice(0, 200);

    const [free, none] = await mill.enqueueMany([
      note.of("a", { correlationId: longest }),
      note.of("b"),
    ]);

    expect(await mill.jobs.get(free.id)).toMatchObject({ correlationId: longest });
    const { correlationId } = await mill.jobs.get(none.id);
    expect(correlationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-/);
    expect(idOf(correlationId)).toBe(none.id);
    await expect(mill.enqueue(note, "c", { correlationId: `${longest}x` })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
  });

  test("gives a job without a tenant the tenant default (C-23)", async () => {
    await using kit = await openTest();
    const [none, some] = await kit.mill.enqueueMany([note.of("a"), note.of("b", { tenant: "7" })]);

    expect(await kit.mill.jobs.get(none.id)).toMatchObject({ tenant: "default" });
    expect(await kit.mill.jobs.get(some.id)).toMatchObject({ tenant: "7" });
  });

  test("takes priority, due time, correlation, dedup key and attempts (004-15)", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job", payload: typed<string>() }).run((name) => {
      ran.push(name);
      if (name === "broken") throw new TransientError("no");
    });
    const runAt = new Date(kit.clock.now() + 5_000);
    await kit.mill.enqueueMany([
      job.of("low", { priority: "low" }),
      job.of("usual"),
      job.of("urgent", { priority: 1, correlationId: "trace" }),
      job.of("later", { runAt }),
      job.of("broken", { maxAttempts: 1, priority: 500 }),
    ]);
    const first = await kit.mill.enqueue(job, "once", { dedupKey: "key", priority: 600 });
    const second = await kit.mill.enqueue(job, "once", { dedupKey: "key" });

    await kit.drain([job], { lanes: { general: 1 } });

    expect(second).toMatchObject({ id: first.id, created: false });
    expect(ran).toEqual(["urgent", "usual", "low", "broken", "once"]);
    const { jobs: traced } = await kit.mill.jobs.list({ correlationId: "trace" });
    expect(traced).toMatchObject([{ payload: "urgent" }]);
    expect((await kit.mill.jobs.list({ state: "failed" })).jobs).toMatchObject([
      { payload: "broken", attempts: 1 },
    ]);
    await kit.advance("5s");
    await kit.drain([job]);
    expect(ran.at(-1)).toBe("later");
  });
});
