/**
 * Promises that are left behind and rejected. The runner listens for them, too, and would count
 * each as a failure: its listeners are put aside while a test runs. What happens without another
 * listener needs a process of its own; see test/e2e/rejections.test.ts.
 */
import { EventEmitter } from "node:events";
import { defineJob, typed } from "millrace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { idUuid } from "../../../src/core/ids.ts";
import { latch, openTest, type RuntimeTest } from "../support.ts";

const EVENT = "unhandledRejection";
const runners = process.listeners(EVENT);

beforeEach(() => void process.removeAllListeners(EVENT));
afterEach(() => {
  process.removeAllListeners(EVENT);
  for (const listener of runners) process.on(EVENT, listener);
});

describe("a promise that a handler leaves behind", () => {
  test("is logged with its job and its run, and the worker goes on", async () => {
    await using kit = await openTest();
    const careless = defineJob({ type: "careless" }).run(() => {
      void Promise.reject(new Error("left behind"));
    });
    kit.mill.work({ jobs: [careless] });

    const first = await kit.mill.enqueue(careless, undefined, { correlationId: "order-7" });
    await kit.settled();
    const second = await kit.mill.enqueue(careless);
    await kit.settled();

    expect(rejectionsOf(kit)).toEqual([
      facts({ job_id: first.id, type: "careless", run: 1, correlation_id: "order-7" }),
      facts({ job_id: second.id, type: "careless", run: 1, correlation_id: idUuid(second.id) }),
    ]);
    expect(await kit.outcomes(second)).toEqual(["succeeded"]);
  });

  test("is known by its run, not by its job alone", async () => {
    await using kit = await openTest();
    const flaky = defineJob({ type: "flaky", maxAttempts: 2 }).run(() => {
      void Promise.reject(new Error("left behind"));
      throw new Error("try again");
    });
    const job = await kit.mill.enqueue(flaky);

    kit.mill.work({ jobs: [flaky] });
    await kit.advance("1m");

    expect(rejectionsOf(kit)).toMatchObject([
      { job_id: job.id, run: 1 },
      { job_id: job.id, run: 2 },
    ]);
  });

  test("is still its own when it is rejected after the run has ended", async () => {
    await using kit = await openTest();
    const later = latch();
    const careless = defineJob({ type: "careless" }).run(() => {
      void later.passed.then(() => Promise.reject(new Error("left behind")));
    });
    kit.mill.work({ jobs: [careless] });
    const job = await kit.mill.enqueue(careless);
    await kit.settled();
    expect(await kit.outcomes(job)).toEqual(["succeeded"]);

    later.open();
    await kit.settled();

    expect(rejectionsOf(kit)).toMatchObject([{ job_id: job.id, run: 1 }]);
  });

  test("is its own when it awaits what other code rejects", async () => {
    await using kit = await openTest();
    const bus = new EventEmitter();
    const careless = defineJob({ type: "careless" }).run(() => {
      const answer = new Promise((_, reject) => bus.once("lost", reject));
      void (async () => await answer)();
    });
    kit.mill.work({ jobs: [careless] });
    const job = await kit.mill.enqueue(careless);
    await kit.settled();

    bus.emit("lost", new Error("left behind"));
    await kit.settled();

    expect(rejectionsOf(kit)).toMatchObject([{ job_id: job.id }]);
  });

  test("is told to the logger of the worker that ran it", async () => {
    await using one = await openTest();
    await using other = await openTest();
    const careless = defineJob({ type: "careless", payload: typed<string>() }).run((whose) => {
      void Promise.reject(new Error(`left behind by ${whose}`));
    });
    one.mill.work({ jobs: [careless] });
    other.mill.work({ jobs: [careless] });

    await one.mill.enqueue(careless, "one");
    await other.mill.enqueue(careless, "other");
    await one.settled();
    await other.settled();

    expect(rejectionsOf(one)).toMatchObject([{ error: new Error("left behind by one") }]);
    expect(rejectionsOf(other)).toMatchObject([{ error: new Error("left behind by other") }]);
  });
});

describe("a rejection that comes from no handler", () => {
  test("is left to those who listen for it", async () => {
    await using kit = await openTest();
    const heard: unknown[] = [];
    process.on(EVENT, (error) => void heard.push(error));
    kit.mill.work({ jobs: [defineJob({ type: "idle" }).run(() => {})] });
    await kit.settled();

    const error = new Error("foreign");
    void Promise.reject(error);
    await kit.settled();

    expect(heard).toEqual([error]);
    expect(rejectionsOf(kit)).toEqual([]);
  });
});

describe("listening for rejections", () => {
  test("begins with the first worker of the process and ends with the last", async () => {
    await using kit = await openTest();
    const jobs = [defineJob({ type: "idle" }).run(() => {})];
    const counts = [process.listenerCount(EVENT)];

    const first = kit.mill.work({ jobs });
    const second = kit.mill.work({ jobs });
    await Promise.all([first.ready, second.ready]);
    counts.push(process.listenerCount(EVENT));
    await first.stop();
    counts.push(process.listenerCount(EVENT));
    await second.stop();
    counts.push(process.listenerCount(EVENT));

    expect(counts).toEqual([0, 1, 1, 0]);
  });

  test("does not begin with a worker that cannot start", async () => {
    await using kit = await openTest();
    await kit.mill.close();
    const worker = kit.mill.work({ jobs: [defineJob({ type: "idle" }).run(() => {})] });

    await expect(worker.ready).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await worker.stop();

    expect(process.listenerCount(EVENT)).toBe(0);
  });
});

function rejectionsOf({ logged }: RuntimeTest): readonly Readonly<Record<string, unknown>>[] {
  return logged
    .filter(({ level, message }) => level === "error" && /unhandled rejection/.test(message))
    .map(({ fields }) => fields);
}

function facts(fields: object): object {
  return { ...fields, error: new Error("left behind") };
}
