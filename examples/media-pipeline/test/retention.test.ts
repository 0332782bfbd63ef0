import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { heard, openScene } from "./support.ts";

/** The names of the files in the folders of jobs. */
async function filesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).map((path) => basename(path));
}

describe("retention", () => {
  test("marks a finished job stale, then deletes it with its files (001-38)", async () => {
    await using scene = await openScene();
    const calls: string[] = [];
    const looked = Promise.withResolvers<void>();
    const queue = await scene.open({
      retention: {
        staleAfter: "1ms",
        deleteAfter: "2ms",
        onStale: ({ id }) => calls.push(`onStale ${id}`),
        async onDelete({ id }) {
          await looked.promise;
          calls.push(`onDelete ${id}`);
        },
      },
    });
    const stale = heard(queue, "job:stale").then(({ id }) => calls.push(`job:stale ${id}`));
    const deleted = heard(queue, "job:deleted").then(({ id }) => calls.push(`job:deleted ${id}`));
    const id = await queue.enqueue({ source: scene.tone });

    await stale;
    expect(await queue.getJob(id)).toMatchObject({ id, status: "stale" });
    expect(await filesIn(scene.config.folder)).toContain("source.wav");
    looked.resolve();
    await deleted;

    const order = ["onStale", "job:stale", "onDelete", "job:deleted"];
    expect(calls).toEqual(order.map((name) => `${name} ${id}`));
    await expect(queue.getJob(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    expect(await readdir(scene.config.folder)).toEqual([]);
  });

  test("leaves files that another job of the same correlation may want", async () => {
    await using scene = await openScene();
    const repeated = Promise.withResolvers<void>();
    const queue = await scene.open({
      retention: { staleAfter: "1ms", deleteAfter: "1ms", onDelete: () => repeated.promise },
    });
    scene.world.refuse("PUT", 403);
    const { reached, release } = scene.hold("PUT", 100);
    const failed = heard(queue, "job:failed");
    const deleted = heard(queue, "job:deleted");
    const id = await queue.enqueue({ source: scene.tone });
    await failed;
    const again = await queue.retry(id);
    await reached;

    repeated.resolve();

    expect(await deleted).toEqual({ id });
    expect(await filesIn(scene.config.folder)).toContain("processed.wav");
    const gone = heard(queue, "job:deleted", again);
    release();
    await gone;
    expect(await readdir(scene.config.folder)).toEqual([]);
  });
});
