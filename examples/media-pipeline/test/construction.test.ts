import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { normalizeConfig } from "../src/config.ts";
import { JobQueue } from "../src/job-queue.ts";
import { asPhase, type ActiveJob, type PhaseContext } from "../src/phase-handler.ts";
import { openScene } from "./support.ts";

describe("the construction of a queue", () => {
  test("fills in what the config leaves open (001-01)", () => {
    const told = { file: "queue.db", folder: "work", objects: "http://127.0.0.1" };

    expect(normalizeConfig({ ...told, concurrency: 7, retry: { maxAttempts: 9 } })).toMatchObject({
      ...told,
      concurrency: 7,
      shutdownTimeout: "10s",
      retry: { maxAttempts: 9, backoff: { kind: "exponential", base: "2s" } },
      retention: { staleAfter: "7d", deleteAfter: "7d" },
    });
  });

  test("opens SQLite in WAL mode (001-02)", async () => {
    await using scene = await openScene();
    await scene.open();

    using db = new DatabaseSync(scene.config.file, { readOnly: true });

    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  });

  test("makes a pool that runs so many jobs at once, and no more (001-04, 001-15)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ concurrency: 2 });
    const holds = [scene.hold("GET", 0), scene.hold("GET", 0)];
    const ids = await Promise.all([1, 2, 3].map(() => queue.enqueue({ source: scene.tone })));

    await Promise.all(holds.map(({ reached }) => reached));

    const jobs = await Promise.all(ids.map((id) => queue.getJob(id)));
    expect(jobs.map(({ status }) => status).toSorted()).toEqual(["active", "active", "pending"]);
    for (const hold of holds) hold.release();
    const ends = await Promise.all(ids.map((id) => queue.finished(id)));
    expect(ends.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  });

  test("pumps at once: what the last queue left pending runs (001-08)", async () => {
    await using scene = await openScene();
    const first = await scene.open({ concurrency: 1 });
    const { reached } = scene.hold("GET", 50);
    const ids = [
      await first.enqueue({ source: scene.tone }),
      await first.enqueue({ source: scene.tone }),
    ];
    await reached;
    await first.shutdown();

    const second = await scene.open();

    expect(second.orphans).toEqual([]);
    const ends = await Promise.all(ids.map((id) => second.finished(id)));
    expect(ends.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });
});

describe("its own names", () => {
  test("are new JobQueue(config), and handler(job, ctx) with phase results (001-48)", async () => {
    await using scene = await openScene();
    const queue = new JobQueue(scene.config);
    const told: string[] = [];
    const off = queue.on("job:completed", ({ id }) => told.push(id));
    const id = await queue.enqueue({ source: scene.tone });
    const { phaseResults } = await queue.finished(id);
    await expect.poll(() => told).toEqual([id]);
    off();
    await queue.shutdown();

    const results = { download: { path: "a.wav", bytes: 7 } };
    const run = asPhase(async (job: ActiveJob, ctx: PhaseContext<typeof results>) => [
      job.id,
      job.data.source,
      job.attempt,
      ctx.phaseResult("download").bytes,
      Object.keys(ctx.phaseResults()),
    ]);
    const ctx: any = { job: { id: "1", correlationId: "c" }, attempt: 2, results };
    expect(await run({ source: "x" }, ctx)).toEqual(["1", "x", 2, 7, ["download"]]);
    expect(Object.keys(phaseResults)).toEqual(["download", "process", "upload"]);
  });

  test("of a queue that cannot be opened reject, one by one", async () => {
    await using scene = await openScene();
    const queue = new JobQueue({ ...scene.config, file: scene.folder });

    await expect(queue.ready).rejects.toMatchObject({ code: "STORE_IS_FOLDER" });
    await expect(queue.enqueue({ source: scene.tone })).rejects.toThrow(scene.folder);
  });
});

describe("enqueue", () => {
  test("answers the id of a pending job, and tells of it (001-10)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ concurrency: 1 });
    const { reached, release } = scene.hold("GET", 0);
    await queue.enqueue({ source: scene.tone });
    await reached;
    const told = new Promise((resolve) => queue.on("job:enqueued", resolve));

    const id = await queue.enqueue({ source: scene.tone });

    expect(await queue.getJob(id)).toMatchObject({
      status: "pending",
      data: { source: scene.tone },
      overallProgress: 0,
    });
    expect(await told).toEqual({ id, type: "media" });
    release();
    expect(await queue.finished(id)).toMatchObject({ status: "completed" });
  });

  test("takes a time before which the job does not start (001-11, 001-16)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const soon = new Date(Date.now() + 300);
    const late = new Date(Date.now() + 3_600_000);
    const started = new Promise<number>((resolve) => {
      queue.on("job:started", () => resolve(Date.now()));
    });

    const waiting = await queue.enqueue({ source: scene.tone }, { scheduledAt: late });
    const id = await queue.enqueue({ source: scene.tone }, { scheduledAt: soon });

    expect(await started).toBeGreaterThanOrEqual(soon.getTime());
    expect(await queue.finished(id)).toMatchObject({ status: "completed" });
    const still = await queue.getJob(waiting);
    expect(still).toMatchObject({ status: "pending", scheduledAt: late, attempts: 0 });
  });
});
