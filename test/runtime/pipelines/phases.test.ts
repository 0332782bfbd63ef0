/** Pipelines: phases in order, results that are kept, and where a later run goes on. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import {
  defineJob,
  NonRetryableError,
  TransientError,
  typed,
  type Context,
  type Millrace,
} from "millrace";
import { describe, expect, test } from "vitest";
import { countCalls, latch, openTest, replaceVerb, untilAborted } from "../support.ts";

/** Names and states of the phases of a job. */
async function phasesOf(mill: Millrace, { id }: { id: string }): Promise<readonly string[]> {
  const { phases } = await mill.jobs.progress(id);
  return phases.map(({ name, state }) => `${name} ${state}`);
}

describe("a pipeline", () => {
  test("001-18, 001-22 runs its phases in order, each with stored results", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const media = defineJob({ type: "media", payload: typed<{ url: string }>() })
      .phase("download", ({ url }, ctx) => {
        ran.push(`download ${Object.keys(ctx.results).length}`);
        return { file: `${url}.mp4`, at: new Date(0), close: () => {} };
      })
      .phase("process", (_, ctx) => {
        ran.push(`process ${JSON.stringify(ctx.results)}`);
      })
      .phase("upload", (_, ctx) => [ctx.results.download.at, ctx.results.process ?? "nothing"]);
    const job = await kit.mill.enqueue(media, { url: "a" });

    await kit.drain([media]);

    expect(ran).toEqual([
      "download 0",
      'process {"download":{"file":"a.mp4","at":"1970-01-01T00:00:00.000Z"}}',
    ]);
    expect(await kit.mill.result(job)).toEqual(["1970-01-01T00:00:00.000Z", "nothing"]);
  });

  test("000-11 shows its phase while it runs, and a plain job shows none", async () => {
    await using kit = await openTest();
    const phases: unknown[] = [];
    const look = async (_: unknown, { job }: { job: { id: string } }): Promise<void> => {
      await kit.settled();
      phases.push((await kit.mill.jobs.get(job.id)).phase);
    };
    const plain = defineJob({ type: "plain" }).run(look);
    const pipeline = defineJob({ type: "pipeline" }).phase("one", look).phase("two", look);

    for (const job of [plain, pipeline]) {
      await kit.mill.enqueue(job);
      await kit.drain([job]);
    }

    expect(phases).toEqual([null, "one", "two"]);
  });

  test("001-19 stores start, end and result of each phase, and tells of them", async () => {
    await using kit = await openTest();
    const seen: unknown[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => 1)
      .phase("two", async (_, ctx) => {
        await ctx.progress(0);
        const { phases } = await kit.mill.jobs.progress(ctx.job.id);
        seen.push(...phases.map(({ state, result }) => [state, result]));
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(seen).toEqual([
      ["completed", 1],
      ["running", null],
    ]);
    expect(await kit.events(enqueued)).toEqual([
      "job:enqueued",
      "job:started",
      "job:progress",
      "job:phase:completed",
      "job:progress",
      "job:phase:completed",
      "job:completed",
    ]);
  });

  test("001-19 begins no phase while the end of the one before is stored", async () => {
    await using kit = await openTest();
    const begun: string[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => void begun.push("one"))
      .phase("two", () => void begun.push("two"));
    const [reached, end] = [latch(), latch()];
    const record = kit.store.record.bind(kit.store);
    replaceVerb(kit.store, "record", async (notes: Parameters<typeof record>[0]) => {
      if (notes.some(({ completed }) => completed !== undefined)) {
        reached.open();
        await end.passed;
      }
      return record(notes);
    });
    await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });

    await reached.passed;
    await setImmediate();
    expect(begun).toEqual(["one"]);
    end.open();
    await kit.settled();

    expect(begun).toEqual(["one", "two"]);
  });

  test("reads no checkpoints in its first run, and reads those of earlier runs once", async () => {
    await using kit = await openTest();
    const calls = countCalls(kit.store, "checkpoints");
    const reads: number[] = [];
    const job = defineJob({ type: "job", maxAttempts: 2 })
      .phase("one", () => 1)
      .phase("two", (_, ctx) => {
        reads.push(calls["checkpoints"] ?? 0);
        if (reads.length < 3) throw new TransientError("no");
        return ctx.results.one;
      });
    const first = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("1m");

    const successor = await kit.mill.jobs.retry(first.id);
    await kit.advance("1m");

    expect(reads).toEqual([0, 1, 2]);
    expect(await kit.mill.jobs.get(successor.id)).toMatchObject({ state: "completed", result: 1 });
    expect(await kit.outcomes(first)).toEqual(["failed", "failed"]);
  });

  test("of one phase costs a note for its start, and its end travels with the job's", async () => {
    await using kit = await openTest();
    const single = defineJob({ type: "single" }).phase("only", () => 1);
    const calls = countCalls(kit.store, "checkpoints", "record", "settle");
    const job = await kit.mill.enqueue(single);

    await kit.drain([single]);

    expect(calls).toEqual({ checkpoints: 0, record: 1, settle: 1 });
    expect(await phasesOf(kit.mill, job)).toEqual(["only completed"]);
  });

  test("a job without phases, units and progress asks the store for none of it", async () => {
    await using kit = await openTest();
    const plain = defineJob({ type: "plain" }).run((_, ctx) => {
      if (ctx.attempt === 1) throw new TransientError("no");
    });
    const calls = countCalls(kit.store, "checkpoints", "record", "settle");
    await kit.mill.enqueue(plain);

    await kit.drain([plain]);
    await kit.advance("1m");
    await kit.drain([plain]);

    expect(calls).toEqual({ checkpoints: 0, record: 0, settle: 2 });
  });
});

describe("a later run of a pipeline", () => {
  test("001-23, C-19 resumes at the phase that failed, with earlier results", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => void ran.push("one"))
      .phase("two", () => (ran.push("two"), { at: new Date(0) }))
      .phase("three", (_, ctx) => {
        ran.push(`three ${ctx.results.two.at}`);
        if (ctx.attempt === 1) throw new TransientError("no");
        return ctx.attempt;
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await phasesOf(kit.mill, enqueued)).toEqual([
      "one completed",
      "two completed",
      "three failed",
    ]);
    await kit.advance("1m");
    await kit.drain([job]);

    const three = "three 1970-01-01T00:00:00.000Z";
    expect(ran).toEqual(["one", "two", three, three]);
    expect(await kit.mill.result(enqueued)).toBe(2);
  });

  test("C-19, 000-29, 000-40 with onRetry restart begins anew, with progress reset", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const overalls: number[] = [];
    const job = defineJob({ type: "job", onRetry: "restart" })
      .phase("one", async (_, ctx) => {
        ran.push("one");
        await ctx.step("inside", () => void ran.push("inside"));
        overalls.push((await kit.mill.jobs.get(ctx.job.id)).progress);
      })
      .phase("two", async (_, ctx) => {
        ran.push("two");
        await ctx.progress(50);
        if (ctx.attempt === 1) throw new TransientError("no");
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ progress: 75, phase: "two" });
    await kit.advance("1m");
    await kit.drain([job]);

    expect(ran).toEqual(["one", "inside", "two", "one", "inside", "two"]);
    expect(overalls).toEqual([0, 0]);
    expect((await kit.mill.wait(enqueued)).state).toBe("completed");
  });

  test.each(["resume", "restart"] as const)(
    "with onRetry %s goes on after a deploy in the middle, uncharged",
    async (onRetry) => {
      await using kit = await openTest();
      const ran: string[] = [];
      const inTwo = latch();
      const job = defineJob({ type: "job", onRetry })
        .phase("one", () => (ran.push("one"), 1))
        .phase("two", async (_, ctx) => {
          await ctx.step("inside", () => void ran.push("inside"));
          ran.push("two");
          if (ran.length > 3) return ctx.attempt;
          inTwo.open();
          return untilAborted(ctx.signal);
        });
      const enqueued = await kit.mill.enqueue(job);
      const old = kit.mill.work({ jobs: [job] });
      await inTwo.passed;
      const stopped = old.stop({ grace: 0 });
      await kit.advance("1s");
      await stopped;

      expect(await phasesOf(kit.mill, enqueued)).toEqual(["one completed", "two pending"]);
      await kit.drain([job]);

      expect(ran).toEqual(["one", "inside", "two", "two"]);
      expect(await kit.mill.result(enqueued)).toBe(1);
      expect(await kit.outcomes(enqueued)).toEqual(["interrupted", "succeeded"]);
    },
  );

  test("after a crash before a result was stored runs that phase again", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const child = defineJob({ type: "child" });
    const job = defineJob({ type: "job" })
      .phase("one", async (_, ctx) => {
        ran.push("one");
        await ctx.enqueue(child);
      })
      .phase("two", () => {
        ran.push("two");
        if (ran.length === 2) kit.crashAt("record");
      })
      .phase("three", () => void ran.push("three"));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);
    expect(await kit.mill.jobs.get(enqueued.id)).toMatchObject({ state: "running" });
    await kit.advance("47s");
    await kit.drain([job]);

    expect(ran).toEqual(["one", "two", "two", "three"]);
    expect(await kit.outcomes(enqueued)).toEqual(["crashed", "succeeded"]);
    expect((await kit.mill.jobs.list({ type: "child" })).jobs).toHaveLength(1);
  });

  test("after a crash before the end was stored runs the last phase again", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", () => void ran.push("one"))
      .phase("two", () => void ran.push("two"));
    const enqueued = await kit.mill.enqueue(job);
    kit.crashAt("settle");

    await kit.drain([job]);
    expect(await phasesOf(kit.mill, enqueued)).toEqual(["one completed", "two running"]);
    await kit.advance("47s");
    await kit.drain([job]);

    expect(ran).toEqual(["one", "two", "two"]);
    const completions = (await kit.events(enqueued)).filter((kind) => kind.includes("phase"));
    expect(completions).toHaveLength(2);
  });

  test("001-23 of a retried final job keeps its finished phases and completed units", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    let isMended = false;
    const job = defineJob({ type: "job" })
      .phase("one", () => (ran.push("one"), 1))
      .phase("two", async (_, ctx) => {
        const { completed } = await ctx.each(["a", "b"], String, (key) => {
          ran.push(key);
          if (key === "b" && !isMended) throw new Error("no");
          return key;
        });
        if (!isMended) throw new NonRetryableError("no");
        return completed.map(({ key }) => key);
      });
    const first = await kit.mill.enqueue(job);
    await kit.drain([job]);
    expect((await kit.mill.wait(first)).state).toBe("failed");

    isMended = true;
    const again = await kit.mill.jobs.retry(first.id);
    await kit.drain([job]);

    expect(ran).toEqual(["one", "a", "b", "b"]);
    expect(await kit.mill.result(again)).toEqual(["a", "b"]);
    expect((await kit.mill.wait(again)).state).toBe("completed");
  });
});

describe("a phase whose units were cut short by a deploy", () => {
  test.each([true, false])("runs again, though its handler caught that: %s", async (isPhased) => {
    await using kit = await openTest();
    const ran: string[] = [];
    const begun = latch();
    let isDeployed = false;
    const handler = async (_: undefined, ctx: Context<{}, {}>): Promise<string> => {
      try {
        await ctx.each(
          ["a", "b", "c"],
          String,
          async (key, { signal }) => {
            begun.open();
            if (!isDeployed) await untilAborted(signal);
            ran.push(key);
          },
          { concurrency: 1 },
        );
        return "all";
      } catch {
        return "swallowed";
      }
    };
    const contract = defineJob({ type: "job" });
    const job = isPhased
      ? contract.phase("one", handler).phase("two", (_, ctx) => ctx.results.one)
      : contract.run(handler);
    const enqueued = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await begun.passed;

    const stopped = worker.stop({ grace: "1s" });
    await kit.advance("2s");
    await stopped;
    isDeployed = true;
    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["interrupted", "succeeded"]);
    expect(ran).toEqual(["a", "b", "c"]);
    expect(await kit.mill.result(enqueued)).toBe("all");
  });
});

describe("a job that completed with errors", () => {
  test("when retried runs failed units again, and what was built on them (000-42)", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    let isMended = false;
    const job = defineJob({ type: "job" })
      .phase("inventory", () => void ran.push("inventory"))
      .phase("editions", (_, ctx) =>
        ctx.each(["main", "v1"], String, (slug) => {
          ran.push(slug);
          if (slug === "v1" && !isMended) throw new Error("no");
        }),
      )
      .phase("dashboard", (_, ctx) => {
        ran.push("dashboard");
        return ctx.results.editions.completed.length;
      });
    const first = await kit.mill.enqueue(job);
    await kit.drain([job]);
    expect(await kit.mill.wait(first)).toMatchObject({
      state: "completed_with_errors",
      result: 1,
      failedUnits: 1,
    });

    isMended = true;
    ran.length = 0;
    const again = await kit.mill.jobs.retry(first.id);
    await kit.drain([job]);

    expect(ran).toEqual(["v1", "dashboard"]);
    expect(await kit.mill.wait(again)).toMatchObject({ state: "completed", result: 2 });
  });

  test("when retried repeats no completed step of the phases that run again", async () => {
    await using kit = await openTest();
    const done: string[] = [];
    let isMended = false;
    const order = defineJob({ type: "order" })
      .phase("mails", (_, ctx) =>
        ctx.each(["a", "b"], String, (mail) => {
          if (mail === "b" && !isMended) throw new Error("no");
          done.push(`mail ${mail}`);
        }),
      )
      .phase("charge", async (_, ctx) => {
        done.push(`charge after ${ctx.results.mails.completed.length}`);
        return ctx.step("card", () => (done.push("card"), "receipt 1"));
      });
    const first = await kit.mill.enqueue(order);
    await kit.drain([order]);
    expect(done).toEqual(["mail a", "charge after 1", "card"]);

    isMended = true;
    done.length = 0;
    const again = await kit.mill.jobs.retry(first.id);
    await kit.drain([order]);

    expect(done).toEqual(["mail b", "charge after 2"]);
    expect(await kit.mill.result(again)).toBe("receipt 1");
    done.length = 0;
    await kit.mill.jobs.retry(first.id, { restart: true });
    await kit.drain([order]);
    expect(done).toEqual(["mail a", "mail b", "charge after 2", "card"]);
  });
});

describe("a child of a phase", () => {
  test("comes into being with it, also when the job fails later", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child", payload: typed<string>() });
    const job = defineJob({ type: "job", maxAttempts: 1 })
      .phase("one", async (_, ctx) => void (await ctx.enqueue(child, "of one")))
      .phase("two", async (_, ctx) => {
        await kit.expectEnqueued(child, "of one", { parentId: ctx.job.id });
        await ctx.enqueue(child, "of two");
        throw new Error("no");
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["failed"]);
    await kit.expectNotEnqueued(child, "of two");
  });

  test("is logged when another job holds its key", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" });
    const job = defineJob({ type: "job" })
      .phase("one", async (_, ctx) => {
        await ctx.enqueue(child, undefined, { dedupKey: "order-7" });
      })
      .phase("two", () => {});
    await kit.mill.enqueue(child, undefined, { dedupKey: "order-7", delay: "1h" });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(kit.logged).toMatchObject([
      { message: "child not enqueued: another job holds its key" },
    ]);
  });

  test("that is asked for when its phase is over is refused", async () => {
    await using kit = await openTest();
    const child = defineJob({ type: "child" });
    let late: (() => Promise<unknown>) | undefined;
    const job = defineJob({ type: "job" })
      .phase("one", (_, ctx) => {
        late = () => ctx.enqueue(child);
      })
      .phase("two", async () => {
        assert.ok(late);
        await expect(late()).rejects.toMatchObject({ code: "JOB_OVER" });
      });
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(enqueued)).toEqual(["succeeded"]);
    await kit.expectNotEnqueued(child);
  });
});

describe("cancelling a pipeline", () => {
  test("001-29 between two phases starts no other, and is told exactly once", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const [inOne, end] = [latch(), latch()];
    const job = defineJob({ type: "job" })
      .phase("one", async () => {
        inOne.open();
        await end.passed;
        ran.push("one");
      })
      .phase("two", () => void ran.push("two"))
      .phase("three", () => void ran.push("three"));
    const enqueued = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await inOne.passed;
    await kit.mill.jobs.cancel(enqueued.id, "no longer wanted");
    await kit.advance("2s");
    end.open();
    await kit.advance("1m");

    expect(ran).toEqual(["one"]);
    expect(await kit.outcomes(enqueued)).toEqual(["cancelled"]);
    expect(await phasesOf(kit.mill, enqueued)).toEqual([
      "one completed",
      "two cancelled",
      "three cancelled",
    ]);
    const told = (await kit.events(enqueued)).filter((kind) => kind === "job:cancelled");
    expect(told).toHaveLength(1);
  });

  test("001-30 that waits cancels all its phases", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", () => {});
    const enqueued = await kit.mill.enqueue(job, undefined, { delay: "1h" });

    await kit.mill.jobs.cancel(enqueued.id);

    expect(await phasesOf(kit.mill, enqueued)).toEqual(["one cancelled", "two cancelled"]);
  });

  test("001-30 that waits for its next attempt cancels those that are not completed", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "job" })
      .phase("one", () => {})
      .phase("two", () => {
        throw new TransientError("no");
      });
    const enqueued = await kit.mill.enqueue(job);
    await kit.drain([job]);

    await kit.mill.jobs.cancel(enqueued.id);

    expect(await phasesOf(kit.mill, enqueued)).toEqual(["one completed", "two cancelled"]);
  });
});

describe("a run that writes about itself", () => {
  test.each(["checkpoints", "record"] as const)(
    "waits when %s fails, and goes on",
    async (verb) => {
      await using kit = await openTest();
      const job = defineJob({ type: "job" })
        .phase("one", () => 1)
        .phase("two", (_, ctx) => {
          if (ctx.attempt === 1) throw new TransientError("no");
          return ctx.results.one;
        });
      const enqueued = await kit.mill.enqueue(job);
      await kit.drain([job]);
      kit.failOnce(verb);
      await kit.advance("10m");
      kit.mill.work({ jobs: [job] });

      await kit.advance("1s");

      expect(await kit.mill.result(enqueued)).toBe(1);
      expect(await kit.outcomes(enqueued)).toEqual(["failed", "succeeded"]);
      expect(kit.logged).toMatchObject([{ level: "error" }]);
    },
  );

  test("is interrupted when the store says that it is no longer its own", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const reasons: unknown[] = [];
    const job = defineJob({ type: "job" })
      .phase("one", async (_, ctx) => {
        ran.push("one");
        if (ran.length > 1) return;
        await kit.mill.jobs.release(ctx.job.id);
        await ctx.progress(10).catch((error: { code: string }) => reasons.push(error.code));
        reasons.push(ctx.signal.aborted);
      })
      .phase("two", () => void ran.push("two"));
    const enqueued = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(reasons).toEqual(["JOB_OVER", true]);
    expect(ran).toEqual(["one", "one", "two"]);
    expect(await kit.outcomes(enqueued)).toEqual(["interrupted", "succeeded"]);
  });

  test("ends in time at a stop although the store takes nothing", async () => {
    await using kit = await openTest();
    const ended = latch();
    const job = defineJob({ type: "job" }).phase("one", () => ended.open());
    await kit.mill.enqueue(job);
    Reflect.set(kit.store, "record", () => Promise.reject(new Error("planted: record")));
    const worker = kit.mill.work({ jobs: [job] });
    await ended.passed;

    const stopped = worker.stop({ grace: 0 });
    await kit.advance("1m");
    await stopped;

    expect(await kit.mill.jobs.list()).toMatchObject({ jobs: [{ state: "completed" }] });
  });
});
