import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ServerEvent } from "../src/read-events.ts";
import { decodeWav } from "../src/wav.ts";
import { arrived, openScene, story } from "./support.ts";

describe("a media file", () => {
  test("goes through its phases in order, and tells of each (001-18, 001-19)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const id = await queue.enqueue({ source: scene.tone });

    const events = await story(queue, id);

    expect(events.filter(({ event }) => event !== "job:progress").map(shortOf)).toEqual([
      "snapshot",
      "job:started",
      "job:phase:completed download",
      "job:phase:completed process",
      "job:phase:completed upload",
      "job:completed",
    ]);
    expect((await queue.getJob(id)).phases).toEqual([
      { name: "download", state: "completed" },
      { name: "process", state: "completed" },
      { name: "upload", state: "completed" },
    ]);
  });

  test("tells how far the whole has come: 17, 42, 93 percent (001-21)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { release } = scene.hold("GET", 50);
    const half = arrived(queue, 17);
    const id = await queue.enqueue({ source: scene.tone });
    const events = story(queue, id);
    await half;
    expect(await queue.getJob(id)).toMatchObject({
      phase: "download",
      phaseProgress: 50,
      overallProgress: 17,
    });
    release();

    const told = (await events).filter(({ event }) => event === "job:progress");

    const table = told.map(({ data }) => [data.phase, data.percent, data.overall]);
    expect(table).toContainEqual(["download", 50, 17]);
    expect(table).toContainEqual(["process", 25, 42]);
    expect(table).toContainEqual(["upload", 80, 93]);
    const overall = table.map(([, , percent]) => percent);
    expect(overall).toEqual(overall.toSorted((a, b) => a - b));
  });

  test("has its progress on disk before any listener hears of it (001-20)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const seen: Promise<{ told: number; stored: number }>[] = [];
    queue.on("job:progress", ({ id, overall }) => {
      seen.push(
        queue
          .getJob(id)
          .then(({ overallProgress }) => ({ told: overall, stored: overallProgress })),
      );
    });

    await story(queue, await queue.enqueue({ source: scene.tone }));

    const pairs = await Promise.all(seen);
    expect(pairs.length).toBeGreaterThan(3);
    expect(pairs.filter(({ told, stored }) => stored < told)).toEqual([]);
  });

  test("is handed from phase to phase by what they return (001-22)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();

    const job = await queue.finished(await queue.enqueue({ source: scene.tone }));

    const stored = await readFile(join(scene.folder, "objects", nameIn(job.phaseResults)));
    const sha256 = createHash("sha256").update(stored).digest("hex");
    expect(job.phaseResults).toEqual({
      download: { path: expect.stringMatching(/source\.wav$/), bytes: 176_444 },
      process: { path: expect.stringMatching(/processed\.wav$/), sha256, seconds: 1 },
      upload: { url: `${scene.world.objects}/${sha256}.wav`, bytes: stored.length },
    });
    const { rate, channels } = decodeWav(stored);
    expect({ rate, channels: channels.length }).toEqual({ rate: 16_000, channels: 1 });
    expect(Math.max(...(channels[0] ?? []))).toBeCloseTo(0.89, 2);
  });
});

function shortOf({ event, data }: ServerEvent): string {
  return event === "job:phase:completed" ? `${event} ${data.phase}` : event;
}

function nameIn(phaseResults: Readonly<Record<string, any>>): string {
  return phaseResults["upload"].url.split("/").at(-1);
}
