/** `jobs.list({ runningLongerThan })`: jobs that may be stuck. */
import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, unchecked } from "../support.ts";

describe("jobs.list({ runningLongerThan })", () => {
  test("finds a run that takes long, which can be sent back (000-35, 004-31)", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const end = latch();
    const slow = defineJob({ type: "slow", timeout: false }).run(() => end.passed);
    const { id } = await mill.enqueue(slow);
    await mill.enqueue(slow, undefined, { delay: "2d" });
    mill.work({ jobs: [slow] });
    await kit.settled();

    const early = await mill.jobs.list({ runningLongerThan: "30m" });
    await kit.advance("31m");
    const late = await mill.jobs.list({ runningLongerThan: "30m", type: "slow" });
    const count = await mill.jobs.count({ runningLongerThan: "30m", state: "running" });
    const other = await mill.jobs.list({ runningLongerThan: "30m", type: "other" });
    await mill.jobs.release(id, { force: true });
    const released = await mill.jobs.list({ runningLongerThan: "30m" });
    end.open();

    expect(early.jobs).toEqual([]);
    expect(late.jobs.map((job) => job.id)).toEqual([id]);
    expect(count).toEqual({ count: 1, atLeast: false });
    expect([other.jobs, released.jobs]).toEqual([[], []]);
  });

  test.each(["queued", "pending", ["running", "failed"]])(
    "is refused with the state %j, in which no run is under way",
    async (state) => {
      await using kit = await openTest();
      const filter = { runningLongerThan: "30m", state: unchecked(state) } as const;

      await expect(kit.mill.jobs.list(filter)).rejects.toMatchObject({
        code: "OPTION_INVALID",
        message: "runningLongerThan lists running jobs: leave state out, or give running alone",
        details: { option: "state" },
      });
      await expect(kit.mill.jobs.count(filter)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    },
  );

  test("refuses what is no duration", async () => {
    await using kit = await openTest();
    const filter = { runningLongerThan: unchecked("soon") };

    await expect(kit.mill.jobs.list(filter)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
