/** Workers that an operator stops from another process. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => text);

describe("a worker that an operator stops", () => {
  test("gets no more jobs at once, and has stopped after its next heartbeat", async () => {
    await using kit = await openTest();
    const worker = kit.mill.work({ jobs: [echo] });
    await worker.ready;

    await kit.mill.workers.stop(worker.id);
    const asked = await kit.mill.workers.list();
    const job = await kit.mill.enqueue(echo, "late");
    await kit.advance("2s");

    expect(asked).toMatchObject([{ id: worker.id, isQuiet: true, isStopping: true }]);
    expect(await worker.ended).toBeNull();
    expect(await kit.mill.workers.list()).toEqual([]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("waits for its running jobs, and its program goes on", async () => {
    await using kit = await openTest();
    const end = latch();
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    const job = await kit.mill.enqueue(slow);
    const worker = kit.mill.work({ jobs: [slow, echo], grace: "1h" });
    await kit.settled();

    await kit.mill.workers.stop(worker.id);
    await kit.advance("10s");
    const during = await kit.mill.workers.list();
    end.open();
    await kit.advance("2s");

    expect(during).toMatchObject([{ id: worker.id, isStopping: true, running: 1 }]);
    expect(await worker.ended).toBeNull();
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    const next = await kit.mill.enqueue(echo, "hello");
    await kit.drain([echo]);
    expect(await kit.mill.jobs.get(next.id)).toMatchObject({ state: "completed" });
  });

  test("returns a job that does not end within its grace, uncharged", async () => {
    await using kit = await openTest();
    const listening = defineJob({ type: "listening" }).run(async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      ctx.signal.throwIfAborted();
    });
    const job = await kit.mill.enqueue(listening);
    const worker = kit.mill.work({ jobs: [listening], grace: "3s" });
    await kit.settled();

    await kit.mill.workers.stop(worker.id);
    await kit.advance("10s");

    expect(await worker.ended).toBeNull();
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", attempts: 0 });
    expect(await kit.outcomes(job)).toEqual(["interrupted"]);
  });

  test("says once that an operator has asked for it", async () => {
    await using kit = await openTest();
    const end = latch();
    const slow = defineJob({ type: "slow" }).run(() => end.passed);
    await kit.mill.enqueue(slow);
    const worker = kit.mill.work({ jobs: [slow] });
    await kit.settled();

    await kit.mill.workers.stop(worker.id);
    await kit.advance("10s");
    end.open();
    await kit.advance("2s");

    const said = kit.logged.filter(({ message }) => /operator/.test(message));
    expect(said).toMatchObject([
      { level: "info", message: "an operator has asked this worker to stop" },
    ]);
  });

  test("is refused by name if it is not known", async () => {
    await using kit = await openTest();
    const worker = kit.mill.work({ jobs: [echo] });
    await worker.stop();

    await expect(kit.mill.workers.stop(worker.id)).rejects.toMatchObject({
      code: "WORKER_NOT_FOUND",
      message: expect.stringContaining(worker.id),
    });
    await expect(kit.mill.workers.stop("email")).rejects.toMatchObject({ code: "ID_INVALID" });
  });
});
