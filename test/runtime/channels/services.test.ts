/** Channels whose provider has a breaker. */
import { RateLimitedError, TransientError } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";
import { providerScene } from "./scene.ts";

const TASK = {
  attempt: 7,
  before_handler: "push.message",
  success_handler: "push.sent",
  error_handler: "push.failed",
};

describe("a channel with a service", () => {
  test("records no failure of a task that an open breaker sends back", async () => {
    await using kit = await openTest();
    let isDown = true;
    const { push, functions, calls, sent } = providerScene({
      send: () => {
        if (isDown) throw new TransientError("down");
        return { id: "p3" };
      },
      settings: { services: ["apns"] },
    });
    const jobs = await kit.mill.enqueueMany(
      Array.from({ length: 20 }, (_, attempt) => push.of({ ...TASK, attempt })),
    );
    await kit.drain([push], { functions });
    expect((await kit.mill.breakers.get("apns")).state).toBe("open");
    isDown = false;
    kit.mill.work({ jobs: [push], functions });
    await kit.advance("1h");

    const named = (name: string) => calls.filter((call) => call[0] === name).length;
    expect(named("push.failed")).toBe(5);
    expect(named("push.sent")).toBe(15);
    expect(sent.length).toBeGreaterThanOrEqual(20);
    for (const { id } of jobs) {
      expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed" });
    }
  });

  test("parks the service that limits its rate", async () => {
    await using kit = await openTest();
    const { push, functions, calls } = providerScene({
      send: () => {
        throw new RateLimitedError("429", { retryAfter: "30s" });
      },
      settings: { services: ["apns"] },
    });
    await kit.mill.enqueue(push, TASK);
    await kit.drain([push], { functions });
    await kit.mill.enqueue(push, TASK);
    await kit.drain([push], { functions });
    expect(calls.map(([name]) => name)).toEqual(["push.message", "push.failed"]);
  });

  test("is no probe when it records what was sent before the breaker opened", async () => {
    await using kit = await openTest();
    let isDown = false;
    let isLocked = true;
    const { push, functions, sent } = providerScene({
      send: () => {
        if (isDown) throw new TransientError("down");
        return { id: "p1" };
      },
      sent: () => {
        if (isLocked) throw new Error("the facts are locked");
        return { status: "succeeded" };
      },
      settings: { services: ["apns"] },
    });
    const first = await kit.mill.enqueue(push, TASK);
    const worker = kit.mill.work({ jobs: [push], functions });
    await kit.advance("100ms");
    isDown = true;
    for (let n = 0; n < 5; n += 1) await kit.mill.enqueue(push, { n });
    await kit.advance("100ms");
    expect((await kit.mill.breakers.get("apns")).state).toBe("open");
    isLocked = false;

    await kit.advance("70s");

    // It was taken as the probe, which still is to come.
    expect(await kit.mill.jobs.get(first.id)).toMatchObject({ state: "completed" });
    expect((await kit.mill.breakers.get("apns")).state).toBe("half_open");
    expect(sent).toHaveLength(6);
    isDown = false;
    await kit.mill.enqueue(push, {});
    await kit.advance("1s");
    expect((await kit.mill.breakers.get("apns")).state).toBe("closed");
    expect(sent).toHaveLength(7);
    await worker.stop();
  });

  test("counts a message as a success of its service when it is sent", async () => {
    await using kit = await openTest();
    let isDown = true;
    const { push, functions } = providerScene({
      send: () => {
        if (isDown) throw new TransientError("down");
        return { id: "p1" };
      },
      sent: () => {
        throw new Error("the facts are locked");
      },
      settings: { services: ["apns"] },
    });
    for (let n = 0; n < 6; n += 1) await kit.mill.enqueue(push, { ...TASK, n });
    kit.mill.work({ jobs: [push], functions });
    await kit.advance("100ms");
    isDown = false;

    await kit.advance("2m");

    expect((await kit.mill.breakers.get("apns")).state).toBe("closed");
  });
});
