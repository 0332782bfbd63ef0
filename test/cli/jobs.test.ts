/** The commands that make jobs and look at them, on real stores. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import type { Millrace, Worker } from "../../src/index.ts";
import { pageChunks } from "../../src/store/shared/lists/bounds.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { retention } from "../support/factories.ts";
import { TestStore, type } from "./command-line.ts";
import { temporaryFolder } from "./programs.ts";

const ID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
const UNKNOWN_ID = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

describe("millrace enqueue", () => {
  test("prints the id of a job that is in the store as it was asked for", async () => {
    await using store = new TestStore();

    const options = ["--tenant", "acme", "--priority", "high", "--delay", "1h", "--tag", "a=1"];
    const payload = '{"to":"ada","big":12345678901234}';
    const { code, out } = await store.type(
      "enqueue",
      "email",
      payload,
      ...options,
      "--tag",
      "b=x=y",
    );

    expect(code).toBe(0);
    expect(out.trim()).toMatch(ID);
    expect(await (await store.mill).jobs.get(out.trim())).toMatchObject({
      type: "email",
      state: "scheduled",
      payload: { to: "ada", big: 12345678901234 },
      tenant: "acme",
      priority: 50,
      tags: { a: "1", b: "x=y" },
    });
  });

  test("takes a job without payload, and a moment to run at", async () => {
    await using store = new TestStore();

    const job = await store.json("enqueue", "clean", "--run-at", "2100-01-01T00:00:00Z");

    const { payload, runAt } = await (await store.mill).jobs.get(job.id);
    expect(job).toMatchObject({ type: "clean", state: "scheduled", created: true });
    expect({ payload, runAt }).toEqual({ payload: null, runAt: new Date("2100-01-01") });
  });

  test("leads to the same job under the same idempotency key, and says so", async () => {
    await using store = new TestStore();

    const first = await store.type("enqueue", "pay", "--idempotency-key", "k");
    const second = await store.type("enqueue", "pay", "--idempotency-key", "k");

    expect(second).toMatchObject({ code: 0, out: first.out });
    expect(second.err).toContain("The job already existed");
  });

  test.each([
    ["what is not JSON", ["enqueue", "email", "{to:1}"], "The payload is not JSON"],
    ["a key twice", ["enqueue", "email", '{"to":{"a":1,"a":2}}'], 'has the key "to.a" twice'],
    ["an unknown priority", ["enqueue", "email", "--priority", "urgent"], "priority"],
    ["a moment without offset", ["enqueue", "email", "--run-at", "2100-01-01T00:00"], "runAt"],
    ["a delay without unit", ["enqueue", "email", "--delay", "soon"], "Write a duration as"],
    ["a delay and a moment", ["enqueue", "e", "--delay", "1s", "--run-at", "2100-01-01"], "both"],
    ["a tag twice", ["enqueue", "e", "--tag", "a=1", "--tag", "a=2"], "tag a is given twice"],
    ["a tag without value", ["enqueue", "email", "--tag", "a"], "name=value"],
  ])("refuses %s and stores nothing", async (_, args, advice) => {
    await using store = new TestStore();

    const { code, out, err } = await store.type(...args);

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(advice);
    expect((await (await store.mill).jobs.list()).jobs).toEqual([]);
  });

  test("warns of a type that looks like a slip of the pen", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    expect((await store.type("enqueue", "emial")).err).toContain("Did you mean email?");
    expect((await store.type("enqueue", "email")).err).not.toContain("Did you mean");
  });
});

describe("millrace enqueue --follow", () => {
  test("tells the news on stderr and the result on stdout", async () => {
    await using store = new TestStore();
    await using _ = await work(store);

    const { code, out, err } = await store.type("enqueue", "greet", '{"name":"Ada"}', "--follow");

    expect({ code, out }).toEqual({ code: 0, out: '"Hello Ada"\n' });
    expect(err).toMatch(/greet \w{26} running, run 1\n.*greet \w{26} completed\n$/);
  });

  test("ends with 1 when the job fails, and says why", async () => {
    await using store = new TestStore();
    await using _ = await work(store);

    const { code, out, err } = await store.type("enqueue", "doomed", "--follow");

    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("failed: NonRetryableError: no way");
  });

  test("ends with 4 when the job is cancelled, and prints the whole job as JSON", async () => {
    await using store = new TestStore();
    const [id, cancelled] = await cancelledJob(store);

    const { code, out } = await store.type("jobs", "follow", id, "-o", "json");

    expect(cancelled).toMatchObject({ code: 0, out: `${id} is cancelled.\n` });
    expect(code).toBe(4);
    expect(JSON.parse(out)).toMatchObject({ id, state: "cancelled", cancelReason: "no need" });
  });

  test("ends with 124 when the job is not over in time", async () => {
    await using store = new TestStore();

    const { code, err } = await store.type("enqueue", "unserved", "--follow", "--timeout", "1ms");

    expect(code).toBe(124);
    expect(err).toContain("WAIT_TIMED_OUT");
  });

  test("gives every event a line of JSON, retries as well", async () => {
    await using store = new TestStore();
    await using _ = await work(store);

    const { code, out } = await store.type("enqueue", "flaky", "--follow", "-o", "ndjson");

    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(events.filter(({ event }) => event !== "job:enqueued")).toMatchObject([
      { event: "job:started", attempt: 1 },
      { event: "job:retrying", attempt: 1, outcome: "failed", error: { message: "not yet" } },
      { event: "job:started", attempt: 2 },
      { event: "job:completed", state: "completed", result: 2 },
    ]);
  });
});

describe("millrace jobs list", () => {
  test("shows jobs newest first, page by page", async () => {
    await using store = new TestStore();
    const ids = [];
    for (const n of [1, 2, 3]) ids.push((await store.json("enqueue", "count", `${n}`)).id);

    const first = await store.type("jobs", "list", "--limit", "2");
    const second = await type(...wordsToContinue(first.err));
    const afterJob = await store.type("jobs", "list", "--limit", "2", "--after", ids[1]);

    expect(columnOf(first.out, 0)).toEqual(["ID", ids[2], ids[1]]);
    expect(first.err).toMatch(
      /^There are more\. Continue with: millrace jobs list --limit 2 --db /,
    );
    expect(columnOf(second.out, 0)).toEqual(["ID", ids[0]]);
    expect(second.err).toBe("");
    expect(columnOf(afterJob.out, 0)).toEqual(columnOf(second.out, 0));
  });

  test("says that a search was cut short, and names the command that continues it", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "note", "--tag", "text=two words");
    await addCrowd(await store.mill);

    const words = ["jobs", "list", "--tenant", "default", "--state", "queued,failed"];
    const first = await store.type(...words);
    const second = await type(...wordsToContinue(first.err));
    const asJson = await store.json(...words);

    expect(first).toMatchObject({ code: 0, out: "" });
    expect(first.err).toContain("cut short");
    expect(first.err).not.toContain("No jobs match");
    expect(first.err).toContain("--state queued,failed --tenant default");
    expect(columnOf(second.out, 0)).toEqual(["ID", id]);
    expect(second.err).toBe("");
    expect(asJson).toMatchObject({ jobs: [], cutShort: true, next: expect.any(String) });
    expect((await store.json(...words, "--after", asJson.next)).jobs).toMatchObject([{ id }]);
  });

  test.each([
    ["--type", "b"],
    ["--tenant", "acme"],
    ["--tag", "colour=red"],
    ["--state", "scheduled"],
    ["--state", "running,scheduled"],
  ])("finds a job by %s %s alone", async (option, value) => {
    await using store = new TestStore();
    await store.type("enqueue", "a", "--tag", "colour=blue");
    const options = ["--tenant", "acme", "--tag", "colour=red", "--delay", "1h"];
    const { id } = await store.json("enqueue", "b", ...options);

    const { jobs, next } = await store.json("jobs", "list", option, value);

    expect(jobs).toMatchObject([{ id }]);
    expect(next).toBeNull();
  });

  test("knows pending, category and correlation", async () => {
    await using store = new TestStore();
    const job = defineJob({ type: "a", category: "mail" });
    const { id } = await (await store.mill).enqueue(job, undefined, { correlationId: "order-7" });
    await store.type("enqueue", "b", "--delay", "1h");

    expect((await store.json("jobs", "list", "--state", "pending")).jobs).toHaveLength(2);
    expect((await store.json("jobs", "list", "--category", "mail")).jobs).toMatchObject([{ id }]);
    expect((await store.json("jobs", "list", "--correlation", "order-7")).jobs).toMatchObject([
      { id },
    ]);
  });

  test("suggests the type that was meant, and the state", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    expect((await store.type("jobs", "list", "--type", "emial")).err).toContain("mean email?");
    const { code, err } = await store.type("jobs", "list", "--state", "faild");
    expect(code).toBe(2);
    expect(err).toContain("Did you mean failed?");
  });

  test("does not let the errors of jobs steer the terminal", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");
    await store.type("jobs", "fail", id, "--message", "\u001b[2Jcleared");

    const { out } = await store.type("jobs", "list");

    expect(out).toContain("\ufffd[2Jcleared");
    expect(out).not.toContain("\u001b");
  });

  test("does not make the store that it was asked to look at", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "typo.db");

    const { code, err } = await type("jobs", "list", "--db", `sqlite:${file}`);

    expect(code).toBe(5);
    expect(err).toContain(`There is no store at ${file}.`);
    expect(existsSync(file)).toBe(false);
  });
});

describe("millrace jobs", () => {
  test("show tells all about a job and its runs", async () => {
    await using store = new TestStore();
    const id = await deadJob(store);

    const { code, out } = await store.type("jobs", "show", id);
    const { job, attempts } = await store.json("jobs", "show", id);

    expect(code).toBe(0);
    expect(out).toMatch(/^state +failed$/m);
    expect(out).toMatch(/^1 +failed .* NonRetryableError: no way$/m);
    expect(job).toMatchObject({ id, state: "failed" });
    expect(attempts).toMatchObject([{ number: 1, outcome: "failed" }]);
  });

  test("show names the concurrency key, and what a job waits for", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const job = defineJob({ type: "publish" });
    const first = await mill.enqueue(job, undefined, { concurrencyKey: "docs/main" });
    const second = await mill.enqueue(job, undefined, { after: [first] });

    const keyed = await store.type("jobs", "show", first.id);
    const waiting = await store.type("jobs", "show", second.id);

    expect(keyed.out).toMatch(/^concurrency key +docs\/main$/m);
    expect(keyed.out).not.toMatch(/^waits /m);
    const sentence = `It runs after the job ${first.id}, which has not ended yet.`;
    expect(waiting.out).toMatch(new RegExp(`^waits +${sentence}$`, "m"));
    expect(waiting.out).not.toContain("concurrency key");
    expect((await store.json("jobs", "show", first.id)).job).toMatchObject({
      concurrencyKey: "docs/main",
    });
  });

  test("show names the job that has the concurrency key", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const job = defineJob({ type: "publish" }).run(() => (begun.resolve(), end.promise));
    const key = { concurrencyKey: "docs/main" };
    const first = await mill.enqueue(job, undefined, key);
    const worker = mill.work({ jobs: [job] });
    await begun.promise;
    const second = await mill.enqueue(job, undefined, key);

    const [running, waiting] = [
      await store.type("jobs", "show", first.id),
      await store.type("jobs", "show", second.id),
    ];
    end.resolve();
    await worker.stop();

    expect(running.out).not.toMatch(/^waits /m);
    expect(waiting.out).toMatch(new RegExp(`^waits .* docs/main is taken by job ${first.id}`, "m"));
  });

  test("explain says why a job does not run, and what to do", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");

    const { out } = await store.type("jobs", "explain", id);

    expect(out).toMatch(/^It is due, but no worker is running\.\nStart one: millrace worker .*\n$/);
    expect(await store.json("jobs", "explain", id)).toMatchObject({ reason: "no_worker" });
  });

  test("retry makes a waiting job due, and repeats a finished one once", async () => {
    await using store = new TestStore();
    const waiting = await store.json("enqueue", "email", "--delay", "1h");
    const [over] = await cancelledJob(store);

    const hurried = await store.json("jobs", "retry", waiting.id);
    const repeated = await store.type("jobs", "retry", over);
    const again = await store.type("jobs", "retry", over);

    expect(hurried).toMatchObject({ id: waiting.id, state: "queued" });
    expect(repeated.out).toMatch(new RegExp(`^\\w{26} repeats ${over}\\.\n$`));
    expect(again.out).toBe(repeated.out.replace("repeats", "repeats already"));
  });

  test("004-18 fail ends a job, or counts as a failed attempt", async () => {
    await using store = new TestStore();
    const one = await store.json("enqueue", "email");
    const two = await store.json("enqueue", "email");

    const ended = await store.json("jobs", "fail", one.id, "--message", "wrong address");
    const tried = await store.json("jobs", "fail", two.id, "--retry");

    expect(ended).toMatchObject({ state: "failed", error: { message: "wrong address" } });
    expect(tried).toMatchObject({ state: "scheduled", attempts: 1 });
  });

  test("release takes a job from a worker that is stuck with it, uncharged", async () => {
    await using store = new TestStore();
    const worker = await work(store);
    const { id } = await store.json("enqueue", "stuck");
    await started;
    await worker.quiet();

    const refused = await store.type("jobs", "release", id);
    const released = await store.json("jobs", "release", id, "--force");
    letGo();
    await worker.stop();

    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(/^RUN_HEALTHY: .*lease is alive\n.*--force/);
    expect(released).toMatchObject({ id, state: "queued", attempts: 0 });
    expect((await store.json("jobs", "show", id)).job).toMatchObject({ state: "queued" });
  });

  test.each(["show", "cancel", "retry", "fail", "release", "explain", "follow"])(
    "%s refuses what is no id, and an id that no job has",
    async (verb) => {
      await using store = new TestStore();

      expect((await store.type("jobs", verb, "x")).code).toBe(2);
      const unknown = await store.type("jobs", verb, UNKNOWN_ID);
      expect(unknown.code).toBe(1);
      expect(unknown.err).toContain("JOB_NOT_FOUND");
    },
  );

  test.each([["show"], ["follow"], ["logs"], ["logs", "--follow"]])(
    "%s %s of a job that retention has removed ends with 1 and tells the period",
    async (verb, ...options) => {
      await using store = new TestStore();
      const [id] = await cancelledJob(store);
      await removeFinished(store);

      const { code, out, err } = await store.type("jobs", verb, id, ...options);

      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(
        new RegExp(`^JOB_NOT_FOUND: there is no job ${id}; .* finished jobs are removed after 7 d`),
      );
    },
  );

  test("cancel of a finished job is refused", async () => {
    await using store = new TestStore();
    const [id] = await cancelledJob(store);

    const { code, err } = await store.type("jobs", "cancel", id);

    expect(code).toBe(1);
    expect(err).toContain("JOB_OVER");
  });
});

let letGo = (): void => {};
let hasStarted = (): void => {};
const released = new Promise<void>((resolve) => {
  letGo = resolve;
});
const started = new Promise<void>((resolve) => {
  hasStarted = resolve;
});

const JOBS = [
  defineJob({ type: "greet", payload: typed<{ name: string }>() }).run(
    ({ name }) => `Hello ${name}`,
  ),
  defineJob({ type: "doomed" }).run(() => {
    throw new NonRetryableError("no way");
  }),
  defineJob({ type: "flaky", backoff: { kind: "fixed", base: 1 } }).run((_, ctx) => {
    if (ctx.attempt === 1) throw new Error("not yet");
    return ctx.attempt;
  }),
  defineJob({ type: "stuck" }).run(async () => {
    hasStarted();
    await released;
  }),
];

async function work(store: TestStore): Promise<Worker> {
  const worker = (await store.mill).work({ jobs: JOBS, poll: "50ms" });
  await worker.ready;
  return worker;
}

async function deadJob(store: TestStore): Promise<string> {
  const { id } = await store.json("enqueue", "doomed");
  await using _ = await work(store);
  await (await store.mill).wait({ id, type: "doomed" });
  return id;
}

async function cancelledJob(store: TestStore): Promise<[string, object]> {
  const { id } = await store.json("enqueue", "unserved");
  return [id, await store.type("jobs", "cancel", id, "--reason", "no need")];
}

/** As if the time of all finished jobs were up. */
async function removeFinished(store: TestStore): Promise<void> {
  const files = makeSqliteStore({ path: store.file });
  await files.open();
  const atOnce = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
  expect(await files.prune(retention({ finishedMs: atOnce }), 10)).toMatchObject({ jobs: 1 });
  await files.close();
}

function columnOf(text: string, index: number): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/)[index] ?? "");
}

/** The arguments of the command that continues a list. */
function wordsToContinue(told: string): string[] {
  return /Continue with: millrace (.+)/.exec(told)?.[1]?.split(" ") ?? [];
}

/** More jobs of another tenant than a page reads. */
async function addCrowd(mill: Millrace): Promise<void> {
  const crowd = defineJob({ type: "crowd" });
  const all = pageChunks(50).reduce((sum, size) => sum + size, 100);
  for (let left = all; left > 0; left -= 1_000) {
    const jobs = Array.from({ length: Math.min(left, 1_000) }, () =>
      crowd.of(undefined, { tenant: "acme" }),
    );
    await mill.enqueueMany(jobs);
  }
}
