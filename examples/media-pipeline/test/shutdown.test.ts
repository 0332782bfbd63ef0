import { describe, expect, test } from "vitest";
import { startChild } from "./child.ts";
import { openScene } from "./support.ts";

describe("a shutdown", () => {
  test("waits for active jobs, then closes SQLite (001-39)", async () => {
    await using scene = await openScene();
    const { reached, release } = scene.hold("GET", 50);
    const config = { ...scene.config, shutdownTimeout: "1m" } as const;
    await using child = startChild({ config, source: scene.tone });
    await reached;
    child.kill("SIGTERM");
    await child.line("closing");

    release();

    expect(await child.line("closed")).toBe("closed");
    expect(await child.line("STORE")).toBe("STORE_CLOSED");
    expect(await child.ended).toBe(0);
    expect(scene.world.requests).toHaveLength(2);
  });

  test("aborts what does not end in time, which is pending again (001-39)", async () => {
    await using scene = await openScene();
    const { reached } = scene.hold("PUT", 100);
    await using child = startChild({ config: scene.config, source: scene.tone });
    const id = (await child.line("enqueued")).split(" ")[1] ?? "";
    await reached;

    child.kill("SIGTERM");

    expect(await child.line("closed")).toBe("closed");
    expect(await child.ended).toBe(0);
    const queue = await scene.open();
    expect(queue.orphans).toEqual([]);
    expect(await queue.finished(id)).toMatchObject({ status: "completed", attempts: 1 });
    expect(scene.world.requests.map((request) => request.slice(0, 3))).toEqual([
      "GET",
      "PUT",
      "PUT",
    ]);
  });

  test("cleans up although a handler is deaf, then rethrows (001-39, 001-40)", async () => {
    await using scene = await openScene();
    const { reached, release } = scene.hold("GET", 50);
    await using child = startChild({ config: scene.config, source: scene.tone, isDeaf: true });
    const id = (await child.line("enqueued")).split(" ")[1] ?? "";
    await reached;

    child.kill("SIGTERM");

    expect(await child.line("STOP")).toBe("STOP_TIMED_OUT");
    expect(await child.line("STORE")).toBe("STORE_CLOSED");
    release();
    expect(await child.ended).toBe(0);
    const queue = await scene.open();
    expect(queue.orphans).toEqual([]);
    expect(await queue.finished(id)).toMatchObject({ status: "completed", attempts: 1 });
  });

  test("lets listeners hear of the jobs it has waited for (001-39)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ shutdownTimeout: "1m" });
    const { reached, release } = scene.hold("GET", 50);
    const completed: string[] = [];
    queue.on("job:completed", (event) => completed.push(event.id));
    const id = await queue.enqueue({ source: scene.tone });
    await reached;

    const closed = queue.shutdown();
    release();

    await closed;
    expect(completed).toEqual([id]);
  });

  test("takes no new jobs from its first moment on, and may be repeated (001-39)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const id = await queue.enqueue({ source: scene.tone });

    const closed = [queue.shutdown(), queue.shutdown()];

    await expect(queue.enqueue({ source: scene.tone })).rejects.toThrow("it takes no new jobs");
    await Promise.all(closed);
    await expect(queue.getJob(id)).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});
