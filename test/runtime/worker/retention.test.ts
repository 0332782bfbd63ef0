/** How long finished jobs stay: stale, then removed, with hooks and events. */
import {
  defineJob,
  NonRetryableError,
  typed,
  type Duration,
  type JobView,
  type RetentionOptions,
} from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, unchecked, type RuntimeTest } from "../support.ts";

const job = defineJob({ type: "job", payload: typed<string>() }).run((name) => {
  if (name.startsWith("bad")) throw new NonRetryableError("as asked");
  return name;
});
const other = defineJob({ type: "other" }).run(() => {});

/** What is heard of the end of jobs. */
function listen({ mill }: RuntimeTest): string[] {
  const heard: string[] = [];
  for (const event of ["job:stale", "job:deleted"] as const) {
    mill.on(event, ({ id }) => heard.push(`${event} ${id}`));
  }
  return heard;
}

/** Some time passes, then a worker sweeps. */
async function later(
  kit: RuntimeTest,
  duration: Duration,
  retention: RetentionOptions = {},
): Promise<void> {
  await kit.advance(duration);
  await kit.drain([job, other], { retention });
}

/** Jobs that have ended by now. */
async function ended({ mill, drain }: RuntimeTest, ...names: readonly string[]) {
  const jobs = await mill.enqueueMany(names.map((name) => job.of(name)));
  await drain([job]);
  return jobs;
}

/** `gone` when it is no longer there. */
async function lifeOf({ mill }: RuntimeTest, { id }: { id: string }): Promise<string> {
  const view = await mill.jobs.get(id).catch(() => null);
  if (view === null) return "gone";
  return view.stale ? "stale" : "fresh";
}

describe("retention", () => {
  test("001-38 marks jobs as stale, then removes them, and both are heard", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const [enqueued] = await ended(kit, "a");
    const retention = { staleAfter: "60s", deleteAfter: "2m" } as const;

    await later(kit, "59s", retention);
    expect(await lifeOf(kit, enqueued!)).toBe("fresh");
    await later(kit, "2s", retention);
    expect(await lifeOf(kit, enqueued!)).toBe("stale");
    await later(kit, "58s", retention);
    expect(await lifeOf(kit, enqueued!)).toBe("stale");
    await later(kit, "2s", retention);
    expect(await lifeOf(kit, enqueued!)).toBe("gone");

    await kit.settled();
    expect(heard).toEqual([`job:stale ${enqueued?.id}`, `job:deleted ${enqueued?.id}`]);
  });

  test("000-44 has one stage unless told otherwise, and seven days", async () => {
    await using kit = await openTest();
    const [enqueued] = await ended(kit, "a");

    await later(kit, "6.9d");
    expect(await lifeOf(kit, enqueued!)).toBe("fresh");
    await kit.advance("0.2d");
    const heard = listen(kit);
    await later(kit, 0);

    await kit.settled();
    expect(await lifeOf(kit, enqueued!)).toBe("gone");
    expect(heard).toEqual([`job:deleted ${enqueued?.id}`]);
  });

  test("001-07 can be switched off: finished jobs stay, old events are removed", async () => {
    await using kit = await openTest();
    const [enqueued] = await ended(kit, "a");
    expect(await kit.events(enqueued!)).not.toEqual([]);

    await kit.advance("3650d");
    await kit.drain([job, other], { retention: false });

    expect(await lifeOf(kit, enqueued!)).toBe("fresh");
    expect(await kit.events(enqueued!)).toEqual([]);
    const unknown = kit.mill.jobs.get("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
    await expect(unknown).rejects.toMatchObject({
      message: expect.stringMatching(
        /^there is no job \w+; this process removes no finished jobs$/,
      ),
    });
  });

  test("C-34 differs by state and by type", async () => {
    await using kit = await openTest();
    const [good, bad] = await ended(kit, "good", "bad");
    const its = await kit.mill.enqueue(other);
    await kit.drain([other]);
    const retention = {
      staleAfter: "1h",
      states: { failed: { staleAfter: "3h" } },
      types: { other: { staleAfter: "2h" } },
    } as const;
    const lives = (): Promise<readonly string[]> =>
      Promise.all([good!, its, bad!].map((each) => lifeOf(kit, each)));

    await later(kit, "59m", retention);
    expect(await lives()).toEqual(["fresh", "fresh", "fresh"]);
    await later(kit, "1h", retention);
    expect(await lives()).toEqual(["gone", "fresh", "fresh"]);
    await later(kit, "1h", retention);
    expect(await lives()).toEqual(["gone", "gone", "fresh"]);
    await later(kit, "1h", retention);
    expect(await lives()).toEqual(["gone", "gone", "gone"]);
  });

  test("keeps dead letters and audit longer than jobs (C-21)", async () => {
    await using kit = await openTest();
    const [good, bad] = await ended(kit, "good", "bad");
    const [letter] = await kit.mill.deadLetters.list();
    await kit.mill.deadLetters.acknowledge(letter!.id, { actor: "ada" });
    const lives = async () => ({
      jobs: [await lifeOf(kit, good!), await lifeOf(kit, bad!)],
      letters: (await kit.mill.deadLetters.list()).length,
      acts: (await kit.mill.audit.list()).map(({ name }) => name),
    });
    const all = { letters: 1, acts: ["job_dlq_acknowledged"] };

    await later(kit, "6d");
    expect(await lives()).toEqual({ jobs: ["fresh", "fresh"], ...all });
    await later(kit, "25h", { deleteAfter: "8d", types: { other: { staleAfter: "1d" } } });
    expect(await lives()).toEqual({ jobs: ["stale", "stale"], ...all });
    await later(kit, "1d");
    expect(await lives()).toEqual({ jobs: ["gone", "gone"], ...all });
    await later(kit, "80d");
    expect(await lives()).toMatchObject(all);
    await later(kit, "4d");
    expect(await lives()).toMatchObject({ letters: 0, acts: [] });
  });

  test("has two stages for the types that have, and one for the others", async () => {
    await using kit = await openTest();
    const [plain] = await ended(kit, "a");
    const its = await kit.mill.enqueue(other);
    await kit.drain([other]);
    const types = { other: { staleAfter: "1h", deleteAfter: "3h" } } as const;

    await kit.advance("2h");
    const heard = listen(kit);
    await later(kit, "1s", { staleAfter: "2h", types });
    await kit.settled();

    expect([await lifeOf(kit, plain!), await lifeOf(kit, its)]).toEqual(["gone", "stale"]);
    expect(heard).toEqual([`job:stale ${its.id}`, `job:deleted ${plain?.id}`]);
  });

  test("000-45 is named where a job is no longer there", async () => {
    await using kit = await openTest();
    const made = new Date(kit.clock.now()).toISOString();
    const [enqueued] = await ended(kit, "a");
    const { id } = enqueued!;
    await later(kit, "2h", { staleAfter: "1h", states: { failed: { deleteAfter: "2h" } } });

    const gone = {
      code: "JOB_NOT_FOUND",
      status: 404,
      message:
        `there is no job ${id}; its id was made at ${made}, ` +
        "and finished jobs are removed after 1 h to 2 h",
    };
    await expect(kit.mill.jobs.get(id)).rejects.toMatchObject(gone);
    await expect(kit.mill.wait({ id, type: "job" })).rejects.toMatchObject(gone);
    await expect(kit.mill.jobs.cancel(id)).rejects.toMatchObject(gone);
  });

  test("000-45 says nothing of the time of an id that has none", async () => {
    await using kit = await openTest();

    const unknown = kit.mill.jobs.get("6ba7b810-9dad-11d1-80b4-00c04fd430c8");

    await expect(unknown).rejects.toMatchObject({
      message: expect.stringMatching(/^there is no job \w+; finished jobs are removed after 7 d$/),
    });
  });

  test.each([
    ["an unknown name", { retention: { stallAfter: "1h" } }, "did you mean staleAfter?"],
    ["a state that is not final", { retention: { states: { running: {} } } }, "states.running"],
    [
      "what is no duration",
      { retention: { types: { job: { deleteAfter: "soon" } } } },
      "types.job",
    ],
    ["what is neither periods nor false", { retention: true }, 'deleteAfter: "30d" }, or false'],
    ["a hook that is none", { retention: { onStale: "log" } }, "onStale must be a function"],
    [
      "removal before it is stale",
      { retention: { staleAfter: "2d", deleteAfter: "1d" } },
      "retention: deleteAfter is 1 d, before staleAfter, which is 2 d",
    ],
    [
      "the same of a type",
      { retention: { staleAfter: "2d", types: { job: { deleteAfter: "1d" } } } },
      "retention.types.job: deleteAfter is 1 d",
    ],
  ])("refuses %s", async (_, options, message) => {
    await using kit = await openTest();

    expect(() => kit.mill.work(unchecked({ jobs: [job], ...options }))).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("may remove sooner than the preset calls a job stale", async () => {
    await using kit = await openTest();
    const [enqueued] = await ended(kit, "a");

    await later(kit, "2h", { deleteAfter: "1h" });

    expect(await lifeOf(kit, enqueued!)).toBe("gone");
  });
});

describe("a hook of retention", () => {
  test("001-38, C-37 is called before its job is marked, and before it is removed", async () => {
    await using kit = await openTest();
    const heard = listen(kit);
    const calls: unknown[] = [];
    const note =
      (hook: string) =>
      async (view: JobView): Promise<void> => {
        calls.push([hook, view.payload, view.result, await lifeOf(kit, view)]);
      };
    const [enqueued] = await ended(kit, "a");
    const retention = {
      staleAfter: "1m",
      deleteAfter: "2m",
      onStale: note("onStale"),
      onDelete: note("onDelete"),
    } as const;

    await later(kit, "1m", retention);
    await later(kit, "30s", retention);
    await later(kit, "1m", retention);
    await kit.settled();

    expect(calls).toEqual([
      ["onStale", "a", "a", "fresh"],
      ["onDelete", "a", "a", "stale"],
    ]);
    expect(heard).toEqual([`job:stale ${enqueued?.id}`, `job:deleted ${enqueued?.id}`]);
  });

  test.each(["onStale", "onDelete"])("%s is called also where there is one stage", async (hook) => {
    await using kit = await openTest();
    const calls: string[] = [];
    const [enqueued] = await ended(kit, "a");

    await later(kit, "2h", { staleAfter: "1h", [hook]: ({ id }: JobView) => calls.push(id) });

    expect(calls).toEqual([enqueued?.id]);
    expect(await lifeOf(kit, enqueued!)).toBe("gone");
  });

  test.each([
    ["onStale", "fresh"],
    ["onDelete", "stale"],
  ])("%s that throws is called again at the next sweep; others go on", async (hook, life) => {
    await using kit = await openTest();
    let isBroken = true;
    const calls: unknown[] = [];
    const retention = {
      staleAfter: "1h",
      deleteAfter: "2h",
      [hook]: ({ payload }: JobView) => {
        calls.push(payload);
        if (isBroken && payload === "a") throw new Error("the archive is full");
      },
    } as const;
    const [a, b] = await ended(kit, "a", "b");

    await later(kit, "3h", retention);
    await later(kit, "1h", retention);
    expect([await lifeOf(kit, a!), await lifeOf(kit, b!)]).toEqual([life, "gone"]);
    expect(calls).toEqual(["a", "b", "a"]);
    expect(kit.logged).toMatchObject([
      { level: "error", message: expect.stringContaining("failed"), fields: { job_id: a?.id } },
      { level: "error", fields: { job_id: a?.id } },
    ]);
    isBroken = false;
    await later(kit, "1h", retention);

    expect(await lifeOf(kit, a!)).toBe("gone");
  });

  test("that throws for the oldest thousands does not keep the others", async () => {
    await using kit = await openTest();
    await ended(kit, ...Array.from({ length: 1_500 }, () => "stuck"));
    await kit.advance("1s");
    const [young] = await ended(kit, "free");
    const calls = { stuck: 0, free: 0 };
    const onDelete = ({ payload }: JobView): void => {
      calls[payload === "free" ? "free" : "stuck"] += 1;
      if (payload === "stuck") throw new Error("no");
    };

    await kit.advance("2h");
    kit.mill.work({ jobs: [job], retention: { staleAfter: "1h", onDelete } });
    await kit.advance("1s");

    expect(calls).toEqual({ stuck: 1_500, free: 1 });
    expect(await lifeOf(kit, young!)).toBe("gone");
    await kit.advance("1m");
    expect(calls).toEqual({ stuck: 3_000, free: 1 });
    expect((await kit.store.count({}, 2_000)).count).toBe(1_500);
  });

  test("is called for all others when one job cannot be removed", async () => {
    await using kit = await openTest();
    const jobs = await ended(kit, "a", "bound", "c");
    const { key: bound } = (await kit.store.get(jobs[1]!.id))!;
    const remove = kit.store.remove.bind(kit.store);
    Reflect.set(kit.store, "remove", async (...args: Parameters<typeof remove>) => {
      if (args[0].includes(bound)) throw new Error("an application refers to it");
      return remove(...args);
    });
    await kit.advance("2h");

    kit.mill.work({ jobs: [job], retention: { deleteAfter: "1h", onDelete: () => {} } });
    await kit.settled();

    expect(await Promise.all(jobs.map((each) => lifeOf(kit, each)))).toEqual([
      "gone",
      "fresh",
      "gone",
    ]);
    expect(kit.logged).toMatchObject([
      {
        message: expect.stringContaining("cannot mark or remove an expired job"),
        fields: { job_key: bound },
      },
    ]);
  });

  test("onStale that throws keeps its jobs from removal, and no others", async () => {
    await using kit = await openTest();
    await ended(kit, ...Array.from({ length: 250 }, () => "stuck"));
    await kit.advance("1s");
    await ended(kit, ...Array.from({ length: 250 }, () => "free"));
    const calls = { onStale: 0, onDelete: 0 };
    const retention = {
      staleAfter: "1h",
      onStale({ payload }: JobView) {
        calls.onStale += 1;
        if (payload === "stuck") throw new Error("no");
      },
      onDelete({ payload }: JobView) {
        expect(payload).toBe("free");
        calls.onDelete += 1;
      },
    } as const;

    await kit.advance("2h");
    kit.mill.work({ jobs: [job], retention });
    await kit.advance("1m");
    await kit.advance("1s");

    expect(calls).toEqual({ onStale: 750, onDelete: 250 });
    const { jobs } = await kit.mill.jobs.list({ limit: 1_000 });
    expect(jobs.map(({ payload, stale }) => [payload, stale])).toEqual(
      Array.from({ length: 250 }, () => ["stuck", false]),
    );
  });

  test("that throws is not called again before the next sweep, whatever else goes on", async () => {
    await using kit = await openTest();
    const deleted = await ended(kit, ...Array.from({ length: 500 }, () => "old"));
    await kit.advance("1s");
    await ended(kit, "stuck");
    await kit.advance("59m");
    const calls = { onStale: 0, onDelete: 0 };
    const retention = {
      staleAfter: "59m",
      deleteAfter: "1h",
      onStale() {
        calls.onStale += 1;
        throw new Error("no");
      },
      onDelete() {
        calls.onDelete += 1;
      },
    } as const;
    const keys = await Promise.all(deleted.map(async ({ id }) => (await kit.store.get(id))?.key));
    await kit.store.markStale(keys.flatMap((key) => key ?? []));

    await kit.advance("1m");
    kit.mill.work({ jobs: [job], retention });
    await kit.advance("30s");

    expect(calls).toEqual({ onStale: 1, onDelete: 500 });
  });

  test("lets dead letters and events go in their own time", async () => {
    await using kit = await openTest();
    const [bad] = await ended(kit, "bad");
    const retention = { staleAfter: "1h", onDelete() {} } as const;
    await later(kit, "2h", retention);
    expect(await lifeOf(kit, bad!)).toBe("gone");
    expect(await kit.mill.deadLetters.list()).toHaveLength(1);

    await later(kit, "91d", retention);
    await later(kit, "8d", retention);

    expect(await kit.mill.deadLetters.list()).toEqual([]);
    expect(await kit.store.feed(0, 10)).toEqual([]);
  });

  test("that is slow does not hold up the stop", async () => {
    await using kit = await openTest();
    const calls: unknown[] = [];
    await ended(kit, "a", "b", "c");
    await kit.advance("2h");
    const worker = kit.mill.work({
      jobs: [job],
      retention: {
        staleAfter: "1h",
        async onDelete({ payload }) {
          calls.push(payload);
          await new Promise<void>((resolve) => void kit.clock.after(1_000, resolve));
        },
      },
    });
    await kit.settled();
    expect(calls).toEqual(["a"]);

    const stopped = worker.stop();
    await kit.advance("2s");
    await stopped;

    expect(calls).toEqual(["a"]);
    expect((await kit.mill.jobs.list()).jobs).toHaveLength(2);
  });
});

describe("a hook of retention that does not end", () => {
  /** A worker whose hook waits at the jobs of this name. Answers whom it was called for. */
  function workSlowly({ mill }: RuntimeTest, waits: (view: JobView) => Promise<void> | undefined) {
    const calls: unknown[] = [];
    const worker = mill.work({
      jobs: [job],
      retention: {
        staleAfter: "1h",
        async onDelete(view) {
          calls.push(view.payload);
          await waits(view);
        },
      },
    });
    return { calls, worker };
  }

  test("is reported after a minute, once, and the others have their turn", async () => {
    await using kit = await openTest();
    const [stuck] = await ended(kit, "stuck", "b", "c");
    await kit.advance("2h");
    const end = latch();

    const { calls } = workSlowly(kit, ({ payload }) =>
      payload === "stuck" ? end.passed : undefined,
    );
    await kit.advance("59s");
    expect(calls).toEqual(["stuck"]);
    expect(kit.logged).toEqual([]);
    await kit.advance("1s");

    expect(calls).toEqual(["stuck", "b", "c"]);
    expect((await kit.mill.jobs.list()).jobs.map(({ id }) => id)).toEqual([stuck?.id]);
    await kit.advance("10m");
    expect(calls).toEqual(["stuck", "b", "c"]);
    expect(kit.logged).toMatchObject([
      {
        level: "warn",
        message: expect.stringContaining("onDelete not finished within 1 min"),
        fields: { hook: "onDelete", job_id: stuck?.id, type: "job" },
      },
    ]);
  });

  test("counts if it ends well after all, and is not called again", async () => {
    await using kit = await openTest();
    const [stuck] = await ended(kit, "stuck");
    await kit.advance("2h");
    const end = latch();
    const { calls } = workSlowly(kit, () => end.passed);
    await kit.advance("90s");

    end.open();
    await kit.advance("2m");

    expect(calls).toEqual(["stuck"]);
    expect(await lifeOf(kit, stuck!)).toBe("gone");
  });

  test("is called again if it throws in the end", async () => {
    await using kit = await openTest();
    const [stuck] = await ended(kit, "stuck");
    await kit.advance("2h");
    const end = latch();
    const { calls } = workSlowly(kit, () =>
      calls.length > 1 ? undefined : end.passed.then(() => Promise.reject(new Error("in vain"))),
    );
    await kit.advance("90s");
    expect(await lifeOf(kit, stuck!)).toBe("fresh");

    end.open();
    await kit.advance("2m");

    expect(calls).toEqual(["stuck", "stuck"]);
    expect(kit.logged.map(({ level }) => level)).toEqual(["warn", "error"]);
    expect(await lifeOf(kit, stuck!)).toBe("gone");
  });

  test("lets the other stage have its turn after a minute, however many do not end", async () => {
    await using kit = await openTest();
    const [old] = await ended(kit, "old");
    await kit.advance("30m");
    await ended(kit, "a", "b", "c");
    await kit.advance("45m");
    const removed: unknown[] = [];
    const { key } = (await kit.store.get(old!.id))!;
    await kit.store.markStale([key]);

    kit.mill.work({
      jobs: [job],
      retention: {
        staleAfter: "30m",
        deleteAfter: "1h",
        onStale: () => latch().passed,
        onDelete: ({ payload }) => removed.push(payload),
      },
    });
    await kit.advance("61s");

    expect(removed).toEqual(["old"]);
    expect(await lifeOf(kit, old!)).toBe("gone");
    await kit.advance("3m");
    expect(kit.logged).toHaveLength(3);
  });

  test("holds up neither dead letters nor events", async () => {
    await using kit = await openTest();
    await ended(kit, "bad");
    expect(await kit.mill.deadLetters.list()).toHaveLength(1);
    await kit.advance("91d");

    const { calls } = workSlowly(kit, () => latch().passed);
    await kit.settled();

    expect(calls).toEqual(["bad"]);
    expect(await kit.mill.deadLetters.list()).toEqual([]);
    expect(await kit.store.feed(0, 10)).toEqual([]);
  });

  test("holds up the stop for a few seconds, and leaves no timer behind", async () => {
    await using kit = await openTest();
    await ended(kit, "stuck", "b");
    await kit.advance("2h");
    const { calls, worker } = workSlowly(kit, () => latch().passed);
    await kit.advance("32s");

    const stopped = worker.stop();
    await kit.advance("5s");
    await stopped;

    expect(calls).toEqual(["stuck"]);
    expect(kit.logged).toEqual([]);
    expect(kit.clock.pending).toBe(0);
    expect((await kit.store.count({}, 10)).count).toBe(2);
  });
});
