/** What `millrace jobs` shows about one job, and how the job is named, on real stores. */
import { describe, expect, test, vi } from "vitest";
import { defineJob, NonRetryableError } from "../../src/index.ts";
import type { Worker } from "../../src/index.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { newJob } from "../support/factories.ts";
import { TestStore, type } from "./command-line.ts";

/** Two ids with the same first 25 letters. */
const [FIRST, SECOND] = ["01KE6Z4XP07V1H8R2N5QWT9AC8", "01KE6Z4XP07V1H8R2N5QWT9AC9"];

describe("the first letters of an id", () => {
  test.each([
    ["show"],
    ["explain"],
    ["logs"],
    ["cancel"],
    ["retry"],
    ["fail"],
    ["follow", "--timeout", "1ms"],
  ])("are enough for jobs %s", async (verb, ...options) => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");

    const { code, err } = await store.type("jobs", verb, id.slice(0, 12), ...options);

    expect(err).not.toContain("ID_INVALID");
    expect(code).toBe(verb === "follow" ? 124 : 0);
  });

  test("may be in lower case, and are enough for the parent and the start of a list", async () => {
    await using store = new TestStore();
    const [first, second] = [await store.json("enqueue", "a"), await store.json("enqueue", "b")];

    const shown = await store.json("jobs", "show", second.id.slice(0, 20).toLowerCase());
    const rest = await store.json("jobs", "list", "--after", second.id.slice(0, 20));
    const children = await store.json("jobs", "list", "--parent", first.id.slice(0, 20));

    expect(shown.job.id).toBe(second.id);
    expect(rest.jobs.map(({ id }: { id: string }) => id)).toEqual([first.id]);
    expect(children.jobs).toEqual([]);
  });

  test.each(["show", "acknowledge", "discard", "reprocess"])(
    "are enough for dlq %s",
    async (verb) => {
      await using store = new TestStore();
      const { id } = await store.json("enqueue", "email");
      await store.type("jobs", "fail", id);

      expect((await store.type("dlq", verb, id.slice(0, 12))).code).toBe(0);
      expect((await store.type("dlq", "list", "--after", id.slice(0, 10))).code).toBe(0);
    },
  );

  test.each(["jobs cancel", "jobs retry", "jobs fail", "jobs release", "dlq discard"])(
    "must be twelve to change a job: %s",
    async (words) => {
      await using store = new TestStore();
      const { id } = await store.json("enqueue", "email");

      const few = await store.type(...words.split(" "), id.slice(0, 11));
      const least = await store.type(...words.split(" "), `job_${id.slice(0, 4)}`);

      expect(few).toMatchObject({ code: 2, out: "" });
      expect(few.err).toContain("at least 12 letters");
      expect(least).toMatchObject({ code: 2, out: "" });
      expect((await (await store.mill).jobs.get(id)).state).toBe("queued");
    },
  );

  test("that several ids have are refused with a list of the jobs", async () => {
    await using store = new TestStore();
    await store.mill;
    await addJobs(store, [FIRST, SECOND]);

    const { code, out, err } = await store.type("jobs", "cancel", FIRST.slice(0, 25));

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`${FIRST.slice(0, 25)} is the beginning of several ids.`);
    expect(err).toMatch(new RegExp(`^${FIRST} +email +queued `, "m"));
    expect(err).toMatch(new RegExp(`^${SECOND} +email +queued `, "m"));
    expect((await store.json("jobs", "show", FIRST)).job.state).toBe("queued");
  });

  test("that many ids have are refused with the first ten", async () => {
    await using store = new TestStore();
    await store.mill;
    const letters = "0123456789ABC".split("");
    await addJobs(
      store,
      letters.map((letter) => `${FIRST.slice(0, 25)}${letter}`),
    );

    const { err } = await store.type("jobs", "show", FIRST.slice(0, 8));

    expect(err.match(/^01KE6Z4X\w{18} /gm)).toHaveLength(10);
    expect(err).toContain("and more");
  });

  test("that no id has end with 1, and too few letters with 2", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    const unknown = await store.type("jobs", "show", "7ZZZZZ");
    const short = await store.type("jobs", "show", "01K");

    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toMatch(/^JOB_NOT_FOUND: no id begins with 7ZZZZZ\n/);
    expect(short).toMatchObject({ code: 2, out: "" });
    expect(short.err).toContain("at least 4 letters");
  });
});

describe("millrace jobs show", () => {
  test("shows phases, units, worker, percent and keys of a job that runs", async () => {
    await using store = new TestStore();
    await using house = await openPipeline(store);
    const { id, worker } = house;

    const { code, out } = await store.type("jobs", "show", id);
    const facts = await store.json("jobs", "show", id);

    expect(code).toBe(0);
    expect(out).toMatch(/^progress +\d+ %, phase pages$/m);
    expect(out).toMatch(
      new RegExp(`^worker +${worker.id} \\(.+, pid ${process.pid}\\), heartbeat .+ ago$`, "m"),
    );
    expect(out).toMatch(/^idempotency key +order-7$/m);
    expect(out).toMatch(/^dedup key +site-1$/m);
    expect(out).toMatch(/^concurrency key +docs\/main$/m);
    expect(out).toMatch(/^units +3 \(1 running, 1 completed, 1 failed\)$/m);
    expect(out).toMatch(/^fetch +completed +\d+ ms$/m);
    expect(out).toMatch(/^pages +running +\S+ m?s +1 running, 1 completed, 1 failed$/m);
    expect(out).toMatch(/^render +pending$/m);
    expect(out).toMatch(/^b +pages +\S+Z +NonRetryableError: no page b$/m);
    expect(out).toMatch(new RegExp(`^1 +running +\\S+Z .*${worker.id}`, "m"));
    expect(facts).toMatchObject({
      job: { id, idempotencyKey: "order-7", dedupKey: "site-1", concurrencyKey: "docs/main" },
      progress: {
        percent: expect.any(Number),
        phase: "pages",
        phases: [
          { name: "fetch", state: "completed", finishedAt: expect.any(String) },
          { name: "pages", state: "running", finishedAt: null },
          { name: "render", state: "pending", startedAt: null },
        ],
        units: { total: 3, running: 1, completed: 1, failed: 1 },
      },
      failedUnits: [{ key: "b", phase: "pages", error: { message: "no page b" } }],
      worker: { id: worker.id, pid: process.pid, isAlive: true },
      attempts: [],
    });
  });

  test("shows of each run whether it was charged, and the class of its error", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    let isReady = false;
    const flaky = defineJob({ type: "flaky" }).run((_, ctx) => {
      if (!isReady) {
        isReady = true;
        ctx.snooze(100);
      }
      throw new NonRetryableError("the account is closed");
    });
    const job = await mill.enqueue(flaky);
    await using _ = mill.work({ jobs: [flaky] });
    await mill.wait(job);

    const { out } = await store.type("jobs", "show", job.id);

    const runs = out.slice(out.indexOf("RUN ")).trimEnd().split("\n");
    expect(runs[0]).toMatch(/^RUN +OUTCOME +.* TIME +CHARGED +WORKER +CLASS +ERROR$/);
    expect(runs[1]).toMatch(/^1 +snoozed .* no +\w{26}$/);
    expect(runs[2]).toMatch(/^2 +failed .* yes +\w{26} +non_retryable +NonRetryableError: /);
  });

  test("shows what a job waits for, and which jobs wait for it", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const job = defineJob({ type: "publish" });
    const first = await mill.enqueue(job);
    const second = await mill.enqueue(job, undefined, { after: [first] });
    const third = await mill.enqueue(job, undefined, { after: [first, second] });

    const shown = await store.type("jobs", "show", first.id);
    const last = await store.json("jobs", "show", third.id);

    expect(shown.out).toMatch(new RegExp(`^awaited by +${second.id}, ${third.id}$`, "m"));
    expect(shown.out).not.toMatch(/^(waits for|children|worker|units) /m);
    expect(last).toMatchObject({
      waitsFor: { ids: [first.id, second.id], more: false },
      awaitedBy: { ids: [], more: false },
      children: { count: 0, atLeast: false },
      worker: null,
    });
  });

  test("names ten linked jobs, and says that there are more", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const job = defineJob({ type: "publish" });
    const first = await mill.enqueue(job);
    const waiting = Array.from({ length: 11 }, () => job.of(undefined, { after: [first] }));
    const ids = (await mill.enqueueMany(waiting)).map(({ id }) => id);

    const { out } = await store.type("jobs", "show", first.id);
    const { awaitedBy } = await store.json("jobs", "show", first.id);

    expect(out).toContain(`${ids.slice(0, 10).join(", ")} and more\n`);
    expect(awaitedBy).toEqual({ ids: ids.slice(0, 10), more: true });
  });

  test("shows the parent and the number of children", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const child = defineJob({ type: "child" });
    const mother = defineJob({ type: "mother" }).run(async (_, ctx) => {
      for (let n = 0; n < 2; n += 1) await ctx.enqueue(child);
    });
    const job = await mill.enqueue(mother);
    await using _ = mill.work({ jobs: [mother] });
    await mill.wait(job);
    const [first] = (await mill.jobs.list({ parentId: job.id })).jobs;

    const parent = await store.type("jobs", "show", job.id);
    const shown = await store.type("jobs", "show", first?.id ?? "");

    expect(parent.out).toMatch(/^children +2$/m);
    expect(parent.out).toMatch(/^1 +succeeded /m);
    expect(shown.out).toMatch(new RegExp(`^parent +${job.id}$`, "m"));
  });
});

describe("millrace jobs units", () => {
  test("lists the units of a job, and those in one state", async () => {
    await using store = new TestStore();
    await using house = await openPipeline(store);

    const all = await store.type("jobs", "units", house.id);
    const failed = await store.type("jobs", "units", house.id, "--state", "failed");
    const running = await store.json("jobs", "units", house.id, "--state", "running");

    const [heading, ...rows] = all.out.trimEnd().split("\n");
    expect(heading).toMatch(/^UNIT +PHASE +STATE +AT +ERROR$/);
    expect(rows.map((row) => row.split(/ +/).slice(0, 3))).toEqual([
      ["a", "pages", "completed"],
      ["b", "pages", "failed"],
      ["c", "pages", "running"],
    ]);
    expect(failed.out).toMatch(/^b +pages +failed +\S+Z +NonRetryableError: no page b$/m);
    expect(failed.out).not.toMatch(/^[ac] /m);
    expect(running).toMatchObject({ units: [{ key: "c", state: "running" }], next: null });
  });

  test("shows a page, and the command that continues it", async () => {
    await using store = new TestStore();
    await using house = await openPipeline(store);
    const words = ["jobs", "units", house.id, "--phase", "pages", "--limit", "2"];

    const first = await store.type(...words);
    const [, again = ""] = /Continue with: millrace (.+)/.exec(first.err) ?? [];
    const rest = await type(...again.split(" "));

    expect(first.out).toMatch(/^b /m);
    expect(again).toContain(`jobs units ${house.id} --phase pages --limit 2 --db `);
    expect(rest).toMatchObject({ code: 0, err: "" });
    expect(rest.out).toMatch(/^UNIT .*\nc +pages +running .*\n$/);
  });

  test("says that no unit matches, and which states there are", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");

    const none = await store.type("jobs", "units", id, "--state", "planned");
    const wrong = await store.type("jobs", "units", id, "--state", "faild");

    expect(none).toMatchObject({ code: 0, out: "", err: "No units match.\n" });
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("Allowed choices are planned, running, completed, failed.");
  });
});

/** A pipeline in its second phase: one unit completed, one failed, one running. */
async function openPipeline(store: TestStore) {
  const mill = await store.mill;
  const end = Promise.withResolvers<void>();
  const job = defineJob({ type: "publish" })
    .phase("fetch", () => ["a", "b", "c"])
    .phase("pages", (_, ctx) =>
      ctx.each(
        ctx.results.fetch,
        (page) => page,
        async (page) => {
          if (page === "b") throw new NonRetryableError("no page b");
          if (page === "c") await end.promise;
        },
      ),
    )
    .phase("render", () => {});
  const keys = { idempotencyKey: "order-7", dedupKey: "site-1", concurrencyKey: "docs/main" };
  const { id } = await mill.enqueue(job, undefined, keys);
  const worker: Worker = mill.work({ jobs: [job] });
  await vi.waitUntil(async () => {
    const { units } = await mill.jobs.progress(id);
    return units.running === 1 && units.completed === 1 && units.failed === 1;
  }, 20_000);
  return {
    id,
    worker,
    async [Symbol.asyncDispose]() {
      end.resolve();
      await worker.stop();
    },
  };
}

async function addJobs(store: TestStore, ids: readonly string[]): Promise<void> {
  const files = makeSqliteStore({ path: store.file });
  await files.open();
  await files.enqueue(ids.map((id) => newJob({ id })));
  await files.close();
}
