import { describe, expect, test } from "vitest";
import { heard, openScene } from "./support.ts";

describe("a phase that fails", () => {
  test("waits for its next attempt and keeps what was done (001-23, 001-24, 001-28)", async () => {
    await using scene = await openScene();
    const { world, tone } = scene;
    const queue = await scene.open({ retry: { backoff: { kind: "fixed", base: "1h" } } });
    world.refuse("PUT", 503);
    const retrying = heard(queue, "job:retrying");
    const id = await queue.enqueue({ source: tone });

    const { runAt } = await retrying;

    const waiting = await queue.getJob(id);
    expect(waiting).toMatchObject({ status: "pending", attempts: 1, scheduledAt: runAt });
    expect(runAt.getTime()).toBeGreaterThan(Date.now());
    expect(Object.keys(waiting.phaseResults)).toEqual(["download", "process"]);
    expect(waiting.error?.message).toContain("was answered with 503");

    expect(await queue.retry(id)).toBe(id);
    const done = await queue.finished(id);
    expect(done.status).toBe("completed");
    expect(done.phaseResults).toMatchObject(waiting.phaseResults);
    expect(methods(world.requests)).toEqual(["GET", "PUT", "PUT"]);
  });

  test("has all its attempts, the first included (001-25)", async () => {
    await using scene = await openScene();
    const { world, tone } = scene;
    const retry = { maxAttempts: 2, backoff: { kind: "fixed", base: "1ms" } } as const;
    const queue = await scene.open({ retry });
    world.refuse("PUT", 503, 503, 503);
    const failed = heard(queue, "job:failed");

    const job = await queue.finished(await queue.enqueue({ source: tone }));

    expect(job).toMatchObject({ status: "failed", attempts: 2, phase: "upload" });
    expect(await failed).toMatchObject({ id: job.id });
    expect(methods(world.requests)).toEqual(["GET", "PUT", "PUT"]);
  });

  test.each([
    ["fixed", [1, 1, 1]],
    ["linear", [1, 2, 3]],
    ["exponential", [1, 2, 4]],
  ] as const)("waits longer by a %s backoff (001-27)", async (kind, expected) => {
    await using scene = await openScene();
    const backoff = { kind, base: "1h", jitter: 0, cap: "1d" } as const;
    const queue = await scene.open({ retry: { maxAttempts: 4, backoff } });
    scene.world.refuse("GET", 503, 429, 408);
    let retrying = heard(queue, "job:retrying");
    const id = await queue.enqueue({ source: scene.tone });

    const hours: number[] = [];
    while (hours.length < expected.length) {
      const { runAt } = await retrying;
      hours.push(Math.round((runAt.getTime() - Date.now()) / 3_600_000));
      retrying = heard(queue, "job:retrying");
      // No test waits that long.
      await queue.retry(id);
    }

    expect(hours).toEqual(expected);
    expect(await queue.finished(id)).toMatchObject({ status: "completed", attempts: 4 });
  });

  test("for a reason that no rule calls recoverable is fatal (001-26)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ retry: { maxAttempts: 9 } });

    const job = await queue.finished(await queue.enqueue({ source: `${scene.world.media}/none` }));

    expect(job).toMatchObject({ status: "failed", attempts: 1, phase: "download" });
    expect(job.phases[0]).toEqual({ name: "download", state: "failed" });
  });

  test("because no server answers is tried again (001-24)", async () => {
    await using scene = await openScene();
    const retry = { maxAttempts: 2, backoff: { kind: "fixed", base: "1ms" } } as const;
    const queue = await scene.open({ retry });
    await scene.world[Symbol.asyncDispose]();

    const job = await queue.finished(await queue.enqueue({ source: scene.tone }));

    expect(job).toMatchObject({ status: "failed", attempts: 2, phase: "download" });
  });

  test("for good can be repeated by hand, from where it failed (001-23)", async () => {
    await using scene = await openScene();
    const { world, tone } = scene;
    const queue = await scene.open();
    world.refuse("PUT", 403);
    const failed = await queue.finished(await queue.enqueue({ source: tone }));
    expect(failed).toMatchObject({ status: "failed", attempts: 1, phase: "upload" });

    const again = await queue.retry(failed.id);

    expect(await queue.finished(again)).toMatchObject({ status: "completed", retryOf: failed.id });
    expect(methods(world.requests)).toEqual(["GET", "PUT", "PUT"]);
    expect(await queue.getJob(failed.id)).toMatchObject({ status: "failed" });
  });
});

function methods(requests: readonly string[]): readonly (string | undefined)[] {
  return requests.map((request) => request.split(" ")[0]);
}
