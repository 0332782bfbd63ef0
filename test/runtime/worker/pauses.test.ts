import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, unchecked } from "../support.ts";

const email = defineJob({ type: "email", lane: "fast" }).run(() => "sent");
const report = defineJob({ type: "report" }).run(() => "written");

describe("a pause", () => {
  test.each([
    ["type", { type: "email" }],
    ["lane", { lane: "fast" }],
    ["tenant", { tenant: "acme" }],
  ] as const)(
    "of a %s holds its jobs back and no others, until it is resumed (C-04)",
    async (_, target) => {
      await using kit = await openTest();
      const held = await kit.mill.enqueue(email, undefined, { tenant: "acme" });
      const free = await kit.mill.enqueue(report);
      await kit.mill.pause(target, "the provider is down");
      kit.mill.work({ jobs: [email, report] });

      await kit.advance("1m");
      expect(await kit.mill.jobs.get(free.id)).toMatchObject({ state: "completed" });
      expect(await kit.mill.jobs.get(held.id)).toMatchObject({ state: "queued", attempts: 0 });
      expect(await kit.mill.jobs.explain(held.id)).toMatchObject({
        reason: "paused",
        sentence: expect.stringContaining("the provider is down"),
      });
      await kit.mill.resume(target);
      await kit.advance("2s");

      expect(await kit.mill.jobs.get(held.id)).toMatchObject({ state: "completed" });
    },
  );

  test("ends at once: the end does not wait for a poll", async () => {
    await using kit = await openTest();
    const jobs = await kit.mill.enqueueMany(Array.from({ length: 1_500 }, () => report.of()));
    await kit.mill.pause({ type: "report" }, "maintenance");
    kit.mill.work({ jobs: [report], poll: "1h" });
    await kit.settled();
    expect(await kit.mill.jobs.stats()).toMatchObject({ held: jobs.length });

    await kit.mill.resume({ type: "report" });
    await kit.settled();

    expect(await kit.mill.jobs.stats()).toMatchObject({ held: 0, queued: 0, running: 0 });
  });

  test("holds back what is enqueued during it", async () => {
    await using kit = await openTest();
    await kit.mill.pause({ type: "email" }, "maintenance");
    kit.mill.work({ jobs: [email] });

    const job = await kit.mill.enqueue(email);
    await kit.advance("10s");

    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued" });
    expect(await kit.mill.jobs.stats()).toMatchObject({ held: 1, running: 0 });
  });

  test("lets a running job end", async () => {
    await using kit = await openTest();
    const { promise, resolve } = Promise.withResolvers<string>();
    const slow = defineJob({ type: "slow" }).run(() => promise);
    const job = await kit.mill.enqueue(slow);
    kit.mill.work({ jobs: [slow] });
    await kit.settled();

    await kit.mill.pause({ type: "slow" }, "later");
    resolve("done");
    await kit.settled();

    expect(await kit.mill.result(job)).toBe("done");
  });

  test("leaves jobs that are held open to cancellation", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(email);
    await kit.mill.pause({ type: "email" }, "maintenance");
    kit.mill.work({ jobs: [email] });
    await kit.advance("5s");

    await kit.mill.jobs.cancel(job.id);

    expect(await kit.events(job)).toEqual(["job:enqueued", "job:cancelled"]);
  });

  test.each([{}, { type: "" }, { kind: "email" }, { type: "a", lane: "b" }])(
    "of %o is refused",
    async (target) => {
      await using kit = await openTest();

      await expect(kit.mill.pause(unchecked(target), "why")).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    },
  );
});
