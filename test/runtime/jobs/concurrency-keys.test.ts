/** `concurrencyKey`: one job of a key at a time, across all workers. */
import { defineJob, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, type Latch, type RuntimeTest } from "../support.ts";

/** A job that notes when it begins, and ends when the test says so. */
function makeJob() {
  const began: string[] = [];
  const ends = new Map<string, Latch>();
  const job = defineJob({ type: "job", payload: typed<string>() }).run(async (name) => {
    began.push(name);
    await ends.get(name)?.passed;
  });
  const hold = (name: string): Latch => {
    const end = latch();
    ends.set(name, end);
    return end;
  };
  return { job, began, hold };
}

async function stateOf({ mill }: RuntimeTest, { id }: { id: string }): Promise<string> {
  return (await mill.jobs.get(id)).state;
}

describe("jobs of one concurrency key", () => {
  test("run one at a time in all workers, and others do not wait for them", async () => {
    await using kit = await openTest();
    const { job, began, hold } = makeJob();
    const end = hold("a");
    const key = { concurrencyKey: "site/main" };
    for (let worker = 0; worker < 3; worker += 1) kit.mill.work({ jobs: [job] });
    await kit.mill.enqueueMany([job.of("a", key), job.of("b", key), job.of("c", key)]);
    await kit.mill.enqueueMany([job.of("other", { concurrencyKey: "site/v1" }), job.of("none")]);

    await kit.advance("3s");
    expect(began.toSorted()).toEqual(["a", "none", "other"]);
    end.open();
    await kit.advance("3s");

    expect(began.filter((name) => "abc".includes(name))).toEqual(["a", "b", "c"]);
  });

  test("go by priority", async () => {
    await using kit = await openTest();
    const { job, began, hold } = makeJob();
    const end = hold("first");
    const key = { concurrencyKey: "key" };
    await kit.mill.enqueue(job, "first", key);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    await kit.mill.enqueueMany([job.of("later", key), job.of("urgent", { ...key, priority: 1 })]);
    await kit.advance("2s");

    end.open();
    await kit.advance("2s");

    expect(began).toEqual(["first", "urgent", "later"]);
  });

  test("that wait for their next attempt let others go first", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job", payload: typed<string>() }).run((name, { attempt }) => {
      ran.push(`${name}${attempt}`);
      if (name === "a" && attempt === 1) throw new TransientError("no");
    });
    const key = { concurrencyKey: "key" };
    await kit.mill.enqueueMany([job.of("a", key), job.of("b", key)]);
    kit.mill.work({ jobs: [job] });

    await kit.advance("1m");

    expect(ran).toEqual(["a1", "b1", "a2"]);
  });

  test("do not wait for a poll each behind those of the key that no worker takes", async () => {
    await using kit = await openTest();
    const { job, began, hold } = makeJob();
    const end = hold("first");
    const unserved = defineJob({ type: "unserved" });
    const key = { concurrencyKey: "key" };
    await kit.mill.enqueue(job, "first", key);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    await kit.mill.enqueueMany(Array.from({ length: 20 }, () => unserved.of(undefined, key)));
    await kit.mill.enqueue(job, "behind", key);
    await kit.advance("3s");

    end.open();
    await kit.advance("3s");

    expect(began).toEqual(["first", "behind"]);
  });

  test("are explained by the job that has the key", async () => {
    await using kit = await openTest();
    const { job, hold } = makeJob();
    const end = hold("a");
    const key = { concurrencyKey: "site/main" };
    const first = await kit.mill.enqueue(job, "a", key);
    kit.mill.work({ jobs: [job] });
    await kit.settled();
    const second = await kit.mill.enqueue(job, "b", key);
    const expected = {
      reason: "key",
      sentence: `It is due, but its concurrency key site/main is taken by job ${first.id}.`,
      hint: expect.stringContaining(`millrace jobs cancel ${first.id}`),
      details: { name: "site/main", holder: first.id },
    };

    expect(await kit.mill.jobs.explain(second.id)).toEqual(expected);
    // By then it was moved out of the way.
    await kit.advance("3s");
    expect(await kit.mill.jobs.explain(second.id)).toEqual(expected);
    expect(await kit.mill.jobs.get(second.id)).toMatchObject({ concurrencyKey: "site/main" });
    end.open();
  });

  test("are free again when the worker of one has died", async () => {
    await using kit = await openTest();
    const { job, began } = makeJob();
    const key = { concurrencyKey: "key" };
    const [a, b] = await kit.mill.enqueueMany([job.of("a", key), job.of("b", key)]);
    kit.crashAt("settle");
    await kit.drain([job]);
    expect(await stateOf(kit, a)).toBe("running");

    await kit.advance("2m");
    await kit.drain([job]);

    expect(began[0]).toBe("a");
    expect([await stateOf(kit, a), await stateOf(kit, b)]).toEqual(["completed", "completed"]);
  });

  test("wait for a pause first, and are explained by it", async () => {
    await using kit = await openTest();
    const { job, began } = makeJob();
    await kit.mill.pause({ type: "job" }, "repairs");
    const { id } = await kit.mill.enqueue(job, "a", { concurrencyKey: "key" });
    kit.mill.work({ jobs: [job] });
    await kit.advance("3s");

    expect(began).toEqual([]);
    expect(await kit.mill.jobs.explain(id)).toMatchObject({ reason: "paused" });
    await kit.mill.resume({ type: "job" });
    await kit.advance("3s");
    expect(began).toEqual(["a"]);
  });
});
