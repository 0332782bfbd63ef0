import { describe, expect, test } from "vitest";
import { startChild } from "./child.ts";
import { openScene, type Scene } from "./support.ts";

describe("after kill -9", () => {
  test("an active job has failed, in its interrupted phase (001-09, C-05)", async () => {
    await using scene = await openScene();
    const { reached } = scene.hold("PUT", 100);
    const id = await killedAt(scene, reached);

    const queue = await scene.open();

    expect(queue.orphans).toEqual([id]);
    const job = await queue.getJob(id);
    expect(job).toMatchObject({ status: "failed", phase: "upload", overallProgress: 93 });
    expect(job.phases.map(({ state }) => state)).toEqual(["completed", "completed", "failed"]);
    expect(job.error?.message).toBe("the process died in the phase upload");
  });

  test("a repeat goes on with the phase that was interrupted (001-09, 001-23)", async () => {
    await using scene = await openScene();
    const { reached } = scene.hold("PUT", 100);
    const id = await killedAt(scene, reached);
    const queue = await scene.open();

    const again = await queue.retry(id);

    const before = await queue.getJob(id);
    expect(await queue.finished(again)).toMatchObject({
      status: "completed",
      retryOf: id,
      phaseResults: before.phaseResults,
    });
    const downloads = scene.world.requests.filter((request) => request.startsWith("GET"));
    expect(downloads).toHaveLength(1);
  });

  test("a job that was still pending is not lost, and runs (001-08, 001-10)", async () => {
    await using scene = await openScene();
    const { reached } = scene.hold("GET", 25);
    await using child = startChild({
      config: { ...scene.config, concurrency: 1 },
      source: scene.tone,
      times: 2,
    });
    const [active, pending] = [
      idIn(await child.line("enqueued")),
      idIn(await child.line("enqueued")),
    ];
    await reached;
    child.kill("SIGKILL");
    expect(await child.ended).toBe("SIGKILL");

    const queue = await scene.open();

    expect(queue.orphans).toEqual([active]);
    expect(await queue.finished(pending)).toMatchObject({ status: "completed" });
  });
});

describe("a second process", () => {
  test("is refused while the first one lives", async () => {
    await using scene = await openScene();
    const { reached } = scene.hold("GET", 25);
    await using child = startChild({ config: scene.config, source: scene.tone });
    const id = idIn(await child.line("enqueued"));
    await reached;

    await expect(scene.open()).rejects.toThrow("a job queue is single-process");

    child.kill("SIGKILL");
    await child.ended;
    expect((await scene.open()).orphans).toEqual([id]);
  });
});

/** Runs one job in another process until `reached`, and kills it there. Answers its id. */
async function killedAt(scene: Scene, reached: Promise<void>): Promise<string> {
  await using child = startChild({ config: scene.config, source: scene.tone });
  const id = idIn(await child.line("enqueued"));
  await reached;
  child.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
  return id;
}

function idIn(line: string): string {
  return line.split(" ")[1] ?? "";
}
