/** A keyed child that gave way to the holder of its key: the id of the child names the holder. */
import { defineJob, NonRetryableError, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, unchecked, type RuntimeTest } from "../support.ts";

const render = defineJob({ type: "render", payload: typed<string>() });
const zip = defineJob({ type: "zip" });

/** A job that holds the key of a child, and a pipeline whose first phase enqueues the child. */
async function gaveWay(kit: RuntimeTest) {
  const holder = await kit.mill.enqueue(render, "a", { dedupKey: "page-a" });
  const pipeline = defineJob({ type: "pipeline" })
    .phase("one", async (_, ctx) => ctx.enqueue(render, "a", { dedupKey: "page-a" }))
    .phase("two", async (_, ctx) => {
      if (ctx.attempt === 1) throw new TransientError("once");
      return ctx.enqueue(zip, undefined, { after: [ctx.results.one] });
    });
  const parent = await kit.mill.enqueue(pipeline);
  await kit.drain([pipeline]);
  await kit.advance("1m");
  await kit.drain([pipeline]);
  const { phases } = await kit.mill.jobs.progress(parent.id);
  const [child, after] = phases.map(({ result }): { id: string; type: string } => {
    return unchecked(result);
  });
  return { holder, parent, child: child!, after: after! };
}

describe("a child that gave way to the holder of its key", () => {
  test("is named in after by a later phase, also after a retry", async () => {
    await using kit = await openTest();
    const { holder, parent, child, after } = await gaveWay(kit);

    expect(child.id).not.toBe(holder.id);
    expect(await kit.outcomes(parent)).toEqual(["failed", "succeeded"]);
    expect((await kit.mill.jobs.explain(after.id)).sentence).toContain(holder.id);
    await kit.drain([render.run(() => {}), zip.run(() => {})]);
    expect((await kit.mill.jobs.get(after.id)).state).toBe("completed");
  });

  test("is waited for until the holder ends, and has the result of the holder", async () => {
    await using kit = await openTest();
    const { holder, child } = await gaveWay(kit);
    const end = latch();
    const job = render.run(async () => {
      await end.passed;
      return "page a";
    });
    kit.mill.work({ jobs: [job] });
    await kit.settled();

    const waiting = kit.mill.wait(child);
    await kit.settled();
    end.open();
    await kit.settled();

    // The feed ends the wait: the clock has not moved to the next poll.
    await expect(waiting).resolves.toMatchObject({ id: holder.id, state: "completed" });
    expect(await kit.mill.result(child)).toBe("page a");
  });

  test("is shown, retried, failed and cancelled as the holder", async () => {
    await using kit = await openTest();
    const { holder, child } = await gaveWay(kit);
    const failing = render.run(() => {
      throw new NonRetryableError("no paper");
    });

    expect((await kit.mill.jobs.get(child.id)).id).toBe(holder.id);
    expect((await kit.mill.jobs.explain(child.id)).reason).toBe("no_worker");
    await kit.mill.jobs.fail(child.id, "later", { retry: true });
    expect(await kit.mill.jobs.retry(child.id)).toMatchObject({ id: holder.id, state: "queued" });
    await kit.drain([failing]);
    expect(await kit.outcomes(child)).toEqual(["failed", "failed"]);
    const successor = await kit.mill.jobs.retry(child.id);
    expect((await kit.mill.jobs.get(successor.id)).retryOf).toBe(holder.id);
    await expect(kit.mill.jobs.cancel(child.id)).rejects.toMatchObject({ code: "JOB_OVER" });
  });
});
