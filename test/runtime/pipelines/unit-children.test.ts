/** Children that units and steps ask for: they come into being with the end of their unit. */
import { defineJob, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "../support.ts";

const mail = defineJob({ type: "mail", payload: typed<string>() }).run((to) => to);

/** Whom mails were asked for, in the order of their making. */
async function mailed(kit: RuntimeTest): Promise<string[]> {
  const { jobs } = await kit.mill.jobs.list({ type: "mail" });
  return jobs.map(({ payload }) => (typeof payload === "string" ? payload : "")).toReversed();
}

function byText(left: string, right: string): number {
  return left < right ? -1 : 1;
}

async function overAgain(kit: RuntimeTest, ...jobs: Parameters<RuntimeTest["drain"]>[0]) {
  await kit.drain(jobs);
  await kit.advance("1m");
  await kit.drain(jobs);
}

describe("a child that a unit asks for", () => {
  test("is there once the unit is stored, also when its run fails", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "newsletter" })
      .phase("send", async (_, ctx) => {
        const { completed } = await ctx.each(["a", "b", "c"], String, async (to) => {
          await ctx.enqueue(mail, to);
        });
        if (ctx.attempt === 1) throw new TransientError("the network");
        return completed.length;
      })
      .phase("report", () => "sent");
    const parent = await kit.mill.enqueue(job);

    await overAgain(kit, job);

    expect(await kit.outcomes(parent)).toEqual(["failed", "succeeded"]);
    expect((await mailed(kit)).toSorted(byText)).toEqual(["a", "b", "c"]);
    const { jobs } = await kit.mill.jobs.list({ parentId: parent.id });
    expect(jobs).toHaveLength(3);
  });

  test("comes with those that its run asked for besides, of a plain handler as well", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "newsletter" }).run(async (_, ctx) => {
      await ctx.enqueue(mail, "editor");
      await ctx.each(["a", "b"], String, (to) => ctx.enqueue(mail, to));
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    // Those of units are older than those of the run.
    expect(await mailed(kit)).toEqual(["a", "b", "editor"]);
  });

  test("does not come into being if the unit fails, and once if it is repeated", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "newsletter" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, async (to) => {
        await ctx.enqueue(mail, to);
        if (to === "b" && ctx.job.id === parent.id) throw new TransientError("bounced");
      }),
    );
    const parent = await kit.mill.enqueue(job);
    await kit.drain([job]);
    expect(await mailed(kit)).toEqual(["a"]);

    await kit.mill.jobs.retry(parent.id);
    await kit.drain([job]);

    expect(await mailed(kit)).toEqual(["a", "b"]);
  });

  test("of a unit within a unit comes with the inner one", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "newsletter" }).run((_, ctx) =>
      ctx.each(["list", "other"], String, async (list) => {
        await ctx.enqueue(mail, list);
        await ctx.step(`head of ${list}`, () => ctx.enqueue(mail, `head of ${list}`));
        if (list === "list") throw new TransientError("no");
      }),
    );
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect((await mailed(kit)).toSorted(byText)).toEqual([
      "head of list",
      "head of other",
      "other",
    ]);
  });

  test("is the job that a stored step names, for others to run after", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "newsletter" }).run(async (_, ctx) => {
      const first = await ctx.step("first", () => ctx.enqueue(mail, "first"));
      if (ctx.attempt === 1) throw new TransientError("the network");
      await ctx.enqueue(mail, "second", { after: [first] });
    });
    const parent = await kit.mill.enqueue(job);

    await overAgain(kit, job, mail);

    expect(await kit.outcomes(parent)).toEqual(["failed", "succeeded"]);
    expect(await mailed(kit)).toEqual(["first", "second"]);
    const { jobs } = await kit.mill.jobs.list({ type: "mail" });
    expect(jobs.map(({ state }) => state)).toEqual(["completed", "completed"]);
  });

  test("that is asked for after its end comes with the run", async () => {
    await using kit = await openTest();
    const late = Promise.withResolvers<unknown>();
    const job = defineJob({ type: "newsletter" }).run(async (_, ctx) => {
      const gate = Promise.withResolvers<void>();
      await ctx.step("forgetful", () => {
        void gate.promise.then(() => ctx.enqueue(mail, "late")).then(late.resolve, late.reject);
      });
      gate.resolve();
      await late.promise;
    });
    const parent = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(parent)).toEqual(["succeeded"]);
    expect(await mailed(kit)).toEqual(["late"]);
  });

  test("fails its unit alone when it is to run after a job that there is not", async () => {
    await using kit = await openTest();
    const missing = "01JCR5M4X2E8T9V6B3N7K0QWAZ";
    const job = defineJob({ type: "newsletter" }).run((_, ctx) =>
      ctx.each(["a", "b"], String, (to) =>
        ctx.enqueue(mail, to, to === "a" ? { after: [{ id: missing, type: "mail" }] } : {}),
      ),
    );
    const parent = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.mill.jobs.get(parent.id)).toMatchObject({ state: "completed_with_errors" });
    const { units } = await kit.mill.jobs.units(parent.id, { state: "failed" });
    expect(units).toMatchObject([
      { key: "a", error: { message: expect.stringContaining(missing) } },
    ]);
    expect(await mailed(kit)).toEqual(["b"]);
  });
});

describe("children", () => {
  test("of more text than a transaction should carry are refused at once", async () => {
    await using kit = await openTest();
    const page = "x".repeat(900_000);
    let asked = 0;
    const job = defineJob({ type: "newsletter" }).run(async (_, ctx) => {
      for (; asked < 100; asked += 1) await ctx.enqueue(mail, page);
    });
    const parent = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(asked).toBe(35);
    expect(await kit.mill.jobs.get(parent.id)).toMatchObject({
      state: "failed",
      error: { message: expect.stringContaining("32 MB together") },
    });
  });
});

describe("units that a handler does not wait for", () => {
  test.each(["a phase", "a plain handler"])("are done before the end of %s", async (where) => {
    await using kit = await openTest();
    const done: string[] = [];
    const handler = (_: unknown, ctx: Parameters<Parameters<typeof plain.run>[0]>[1]): string => {
      void ctx.each(
        ["a", "b", "c"],
        String,
        async (unit) => {
          await new Promise((resolve) => setImmediate(resolve));
          done.push(unit);
        },
        { concurrency: 1 },
      );
      return "soon";
    };
    const plain = defineJob({ type: "forgetful" });
    const job = where === "a phase" ? plain.phase("only", handler) : plain.run(handler);
    const parent = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(done).toEqual(["a", "b", "c"]);
    const { units } = await kit.mill.jobs.progress(parent.id);
    expect(units).toMatchObject({ completed: 3, planned: 0 });
    expect(await kit.mill.jobs.get(parent.id)).toMatchObject({
      state: "completed",
      result: "soon",
    });
  });

  test("and that a stop cuts off are done by a later run", async () => {
    await using kit = await openTest();
    const begun = Promise.withResolvers<void>();
    const job = defineJob({ type: "forgetful" }).run((_, ctx) => {
      ctx
        .step("mail", (signal) => (runs += 1) > 1 || cutOff(signal, begun.resolve))
        .catch(() => {});
      return "soon";
    });
    let runs = 0;
    const parent = await kit.mill.enqueue(job);
    const worker = kit.mill.work({ jobs: [job] });
    await begun.promise;
    const stopped = worker.stop({ grace: 0 });
    await kit.advance("1s");
    await stopped;
    expect(await kit.outcomes(parent)).toEqual(["interrupted"]);

    await kit.drain([job]);

    expect(runs).toBe(2);
    expect(await kit.mill.jobs.get(parent.id)).toMatchObject({ state: "completed" });
  });

  test("and that snooze let their job wait", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "forgetful" }).run((_, ctx) => {
      ctx.step("mail", () => ctx.snooze("1h")).catch(() => {});
    });
    const parent = await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await kit.outcomes(parent)).toEqual(["snoozed"]);
  });

  test("for long are the reason why a run does not end, and a warning says so", async () => {
    await using kit = await openTest();
    const gate = Promise.withResolvers<void>();
    const job = defineJob({ type: "forgetful" }).run((_, ctx) => {
      void ctx.step("endless", () => gate.promise);
    });
    const parent = await kit.mill.enqueue(job);
    kit.mill.work({ jobs: [job] });
    await kit.advance("4s");
    expect(kit.logged).toEqual([]);

    await kit.advance("2s");

    expect(kit.logged).toMatchObject([
      {
        level: "warn",
        message: expect.stringContaining("did not await"),
        fields: { job_id: parent.id },
      },
    ]);
    gate.resolve();
    expect((await kit.mill.wait(parent)).state).toBe("completed");
  });

  test("nor for their children: they are asked for all the same", async () => {
    await using kit = await openTest();
    const job = defineJob({ type: "forgetful" }).run(async (_, ctx) => {
      await ctx.each(["a", "b"], String, (to) => void ctx.enqueue(mail, to));
      void ctx.enqueue(mail, "editor");
    });
    await kit.mill.enqueue(job);

    await kit.drain([job]);

    expect(await mailed(kit)).toEqual(["a", "b", "editor"]);
  });
});

/** Never ends by itself. */
function cutOff(signal: AbortSignal, began: () => void): Promise<never> {
  began();
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
