/** What a worker does when an operator ends one of its runs. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, untilAborted } from "../support.ts";

/** The long runs of one job at each moment, and how often its signal fired. */
function longJob(end: Promise<unknown> | null) {
  const seen = { begun: 0, now: 0, most: 0, aborted: 0 };
  const definition = defineJob({ type: "long", payload: typed<number>() }).run(async (_, ctx) => {
    seen.begun += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    ctx.signal.addEventListener("abort", () => (seen.aborted += 1));
    try {
      await (end ?? untilAborted(ctx.signal));
    } finally {
      seen.now -= 1;
    }
  });
  return { definition, seen };
}

describe("a run that an operator has taken away", () => {
  test.each(["release", "fail"] as const)(
    "by %s ends its handler, also when a neighbour of its batch settles first",
    async (verb) => {
      await using kit = await openTest();
      const { definition, seen } = longJob(null);
      const end = latch();
      const short = defineJob({ type: "short" }).run(() => end.passed);
      const job = await kit.mill.enqueue(definition, 1);
      await kit.mill.enqueue(short);
      kit.mill.work({ jobs: [definition, short], lanes: { general: 2 } });
      await kit.settled();
      expect(seen).toMatchObject({ begun: 1, now: 1 });

      // No worker claims the job again, which would tell the end of the run as well.
      await kit.mill.pause({ type: "long" }, "test");
      if (verb === "release") await kit.mill.jobs.release(job.id);
      else await kit.mill.jobs.fail(job.id, "by hand");
      end.open();
      await kit.settled();
      await kit.advance("30s");

      expect(seen).toMatchObject({ begun: 1, now: 0, aborted: 1 });
    },
  );

  test("ends its handler before the same worker runs the job again", async () => {
    await using kit = await openTest();
    const { definition, seen } = longJob(null);
    const job = await kit.mill.enqueue(definition, 1);
    kit.mill.work({ jobs: [definition], lanes: { general: 3 } });
    await kit.settled();

    for (const times of [1, 2, 3]) {
      await kit.mill.jobs.release(job.id);
      await kit.advance("30s");
      expect(seen).toEqual({ begun: times + 1, now: 1, most: 1, aborted: times });
    }

    expect(await kit.outcomes(job)).toEqual(["interrupted", "interrupted", "interrupted"]);
  });

  test("is not waited for longer than a handler may ignore its signal", async () => {
    await using kit = await openTest();
    const end = latch();
    const { definition, seen } = longJob(end.passed);
    const job = await kit.mill.enqueue(definition, 1);
    kit.mill.work({ jobs: [definition], lanes: { general: 3 } });
    await kit.settled();

    await kit.mill.jobs.release(job.id);
    await kit.advance("4s");
    expect(seen).toMatchObject({ begun: 1, aborted: 1 });
    await kit.advance("2s");
    expect(seen).toMatchObject({ begun: 2, aborted: 1 });
    end.open();
    await kit.settled();

    expect(await kit.outcomes(job)).toEqual(["interrupted", "succeeded"]);
  });

  test("leaves a job that waits for it uncharged when the worker stops", async () => {
    await using kit = await openTest();
    const end = latch();
    const { definition, seen } = longJob(end.passed);
    const job = await kit.mill.enqueue(definition, 1);
    const worker = kit.mill.work({ jobs: [definition], lanes: { general: 3 } });
    await kit.settled();
    await kit.mill.jobs.release(job.id);
    await kit.settled();

    const stopped = worker.stop({ grace: "1s" }).catch(({ code }) => code);
    await kit.advance("30s");
    expect(await stopped).toBe("STOP_TIMED_OUT");
    end.open();
    await kit.settled();

    expect(seen).toMatchObject({ begun: 1 });
    expect(await kit.outcomes(job)).toEqual(["interrupted", "interrupted"]);
    expect(await kit.mill.jobs.get(job.id)).toMatchObject({ state: "queued", attempts: 0 });
  });
});
