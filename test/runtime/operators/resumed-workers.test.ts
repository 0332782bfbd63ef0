/** Quiet workers that an operator lets claim jobs again. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => text);

describe("a quiet worker that an operator resumes", () => {
  test("takes jobs again after its next heartbeat", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await using worker = mill.work({ jobs: [echo], signals: false });
    await worker.ready;
    await mill.workers.quiet(worker.id, { actor: "ada" });
    await kit.advance("3s");
    const job = await mill.enqueue(echo, "late");
    await kit.advance("10s");
    const quiet = await mill.jobs.get(job.id);

    await mill.workers.resume(worker.id, { actor: "bob" });
    await kit.advance("3s");

    expect(quiet).toMatchObject({ state: "queued" });
    expect(await mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(await mill.workers.list()).toMatchObject([{ id: worker.id, isQuiet: false }]);
    const acts = await mill.audit.list();
    expect(acts.map(({ name, actor }) => [name, actor])).toContainEqual(["worker_resumed", "bob"]);
  });

  test("takes jobs again, though the store lost its registration meanwhile", async () => {
    await using kit = await openTest();
    const { mill, store } = kit;
    await using worker = mill.work({ jobs: [echo], signals: false });
    await worker.ready;
    await mill.workers.quiet(worker.id, { actor: "ada" });
    await kit.advance("3s");
    const [record] = await store.workers(1);
    await store.deregister(record!.id);
    await kit.advance("3s");
    const job = await mill.enqueue(echo, "late");
    await kit.advance("10s");
    const during = { workers: await mill.workers.list(), job: await mill.jobs.get(job.id) };

    await mill.workers.resume(worker.id, { actor: "bob" });
    await kit.advance("3s");

    expect(during).toMatchObject({
      workers: [{ id: worker.id, isQuiet: true }],
      job: { state: "queued" },
    });
    expect(await mill.jobs.get(job.id)).toMatchObject({ state: "completed" });
    expect(await mill.workers.list()).toMatchObject([{ id: worker.id, isQuiet: false }]);
  });

  test("stays quiet if it has made itself quiet", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await using worker = mill.work({ jobs: [echo], signals: false });
    await worker.ready;
    await mill.workers.quiet(worker.id);
    await kit.advance("3s");
    await worker.quiet();

    await mill.workers.resume(worker.id);
    const job = await mill.enqueue(echo, "late");
    await kit.advance("10s");

    expect(await mill.jobs.get(job.id)).toMatchObject({ state: "queued" });
  });

  test("is refused for a worker that is to stop, and for an unknown one", async () => {
    await using kit = await openTest();
    const { workers } = kit.mill;
    const worker = kit.mill.work({ jobs: [echo], signals: false });
    await worker.ready;
    await workers.stop(worker.id);

    await expect(workers.resume(worker.id)).rejects.toMatchObject({ code: "WORKER_STOPPING" });
    await kit.advance("3s");
    expect(await worker.ended).toBeNull();
    await expect(workers.resume(worker.id)).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });
});
