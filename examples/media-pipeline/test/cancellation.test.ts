import { describe, expect, test } from "vitest";
import type { JobQueue } from "../src/job-queue.ts";
import { heard, openScene } from "./support.ts";

describe("cancelling", () => {
  test("an active job aborts its signal and tells of it once (001-29)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const cancelled = namesHeard(queue);
    const { reached } = scene.hold("GET", 50);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;

    const job = await queue.cancel(id);

    expect(job.status).toBe("cancelled");
    expect(job.phases.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(await queue.cancel(id)).toMatchObject({ status: "cancelled" });
    // What comes later in the feed proves that nothing more came before.
    await completeAnother(queue, scene.tone);
    expect(cancelled).toEqual([id]);
  });

  test("between two phases lets no other begin, and tells of it once (001-29)", async () => {
    await using scene = await openScene();
    const jobs = 5;
    const queue = await scene.open({ concurrency: jobs });
    const cancelled = namesHeard(queue);
    const ends: Promise<unknown>[] = [];
    const off = queue.on("job:phase:completed", ({ id, phase }) => {
      if (phase === "download") ends.push(queue.cancel(id));
    });
    // None of them can be completed before the cancel has come.
    const holds = Array.from({ length: jobs }, () => scene.hold("PUT", 100));
    const ids = await Promise.all(
      Array.from({ length: jobs }, () => queue.enqueue({ source: scene.tone })),
    );

    const ended = await Promise.all(ids.map((id) => queue.finished(id)));

    await Promise.all(ends);
    off();
    for (const hold of holds) hold.release();
    await completeAnother(queue, scene.tone);
    expect(cancelled.toSorted()).toEqual(ids.toSorted());
    for (const { status, phases } of ended) {
      expect(status).toBe("cancelled");
      expect(phases[0]).toEqual({ name: "download", state: "completed" });
      expect(phases[2]).toEqual({ name: "upload", state: "cancelled" });
    }
  });

  test("a pending job cancels all its phases (001-30)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ concurrency: 1 });
    const { reached, release } = scene.hold("GET", 0);
    const first = await queue.enqueue({ source: scene.tone });
    await reached;
    const id = await queue.enqueue({ source: scene.tone });
    const told = heard(queue, "job:cancelled", id);

    const job = await queue.cancel(id);

    expect(job.status).toBe("cancelled");
    expect(job.phases).toEqual([
      { name: "download", state: "cancelled" },
      { name: "process", state: "cancelled" },
      { name: "upload", state: "cancelled" },
    ]);
    expect(await told).toEqual({ id });
    release();
    expect(await queue.finished(first)).toMatchObject({ status: "completed" });
    expect(scene.world.requests.filter((request) => request.startsWith("GET"))).toHaveLength(1);
  });
});

/** Grows by an id for every `job:cancelled`. */
function namesHeard(queue: JobQueue): string[] {
  const ids: string[] = [];
  queue.on("job:cancelled", ({ id }) => ids.push(id));
  return ids;
}

async function completeAnother(queue: JobQueue, source: string): Promise<void> {
  const completed = heard(queue, "job:completed");
  await queue.enqueue({ source });
  await completed;
}
