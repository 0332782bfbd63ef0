/** What the lists of the command line select, on real stores. */
import { describe, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { TestStore, type } from "./command-line.ts";

const UNKNOWN_ID = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

describe("millrace jobs list --parent", () => {
  test("shows the children of a job, and the command that continues the list", async () => {
    await using store = new TestStore();
    const { parent, children } = await addFamily(store);

    const page = await store.type("jobs", "list", "--parent", parent, "--limit", "1");
    const rest = await type(...wordsToContinue(page.err));

    expect(idsIn(page.out)).toEqual([children[1]]);
    expect(page.err).toContain(`--parent ${parent} --limit 1`);
    expect(idsIn(rest.out)).toEqual([children[0]]);
    expect((await store.json("jobs", "list", "--parent", parent)).jobs).toHaveLength(2);
  });

  test("refuses a text that is no id, and finds nothing below an unknown job", async () => {
    await using store = new TestStore();

    const wrong = await store.type("jobs", "list", "--parent", "mother");
    const unknown = await store.type("jobs", "list", "--parent", UNKNOWN_ID);

    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toContain("is not the id of a job");
    expect(unknown).toMatchObject({ code: 0, out: "", err: "No jobs match.\n" });
  });
});

describe("millrace jobs list --since --until", () => {
  test("refuses a range in which no job can be", async () => {
    await using store = new TestStore();

    const empty = await store.type("jobs", "list", "--since", "1h", "--until", "2h");
    const range = await store.type("jobs", "list", "--since", "2h", "--until", "1h");

    expect(empty).toMatchObject({ code: 2, out: "" });
    expect(empty.err).toMatch(/^--since \S+Z is not before --until \S+Z/);
    expect(empty.err).toContain("Give the earlier time to --since");
    expect(range).toMatchObject({ code: 0, err: "No jobs match.\n" });
  });
});

describe("the attempts of a running job", () => {
  test("include the attempt that is running, in a list and in show", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const started = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const slow = defineJob({ type: "slow", maxAttempts: 5 }).run(() => {
      started.resolve();
      return over.promise;
    });
    const { id } = await mill.enqueue(slow);
    const waiting = await store.type("jobs", "list");
    await using _ = mill.work({ jobs: [slow] });
    await started.promise;

    const { out } = await store.type("jobs", "list");
    const sheet = await store.type("jobs", "show", id);
    const facts = await store.json("jobs", "show", id);
    over.resolve();

    expect(waiting.out).toMatch(new RegExp(`^${id} +slow +queued +0/5 `, "m"));
    expect(out).toMatch(new RegExp(`^${id} +slow +running +1/5 `, "m"));
    expect(sheet.out).toMatch(/^attempts +1 of 5$/m);
    expect(facts.job).toMatchObject({ state: "running", attempts: 0 });
  });
});

describe("millrace jobs list --running-longer-than", () => {
  test("shows jobs that may be stuck, and wants no other state (004-31)", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const started = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const slow = defineJob({ type: "slow" }).run(() => {
      started.resolve();
      return over.promise;
    });
    const { id } = await mill.enqueue(slow);
    await using _ = mill.work({ jobs: [slow] });
    await started.promise;

    const [now, later] = [
      await store.json("jobs", "list", "--running-longer-than", "0ms"),
      await store.json("jobs", "list", "--running-longer-than", "1h"),
    ];
    const wrong = await store.type(
      "jobs",
      "list",
      "--running-longer-than",
      "1h",
      "--state",
      "failed",
    );
    over.resolve();

    expect(now.jobs).toMatchObject([{ id, state: "running" }]);
    expect(later.jobs).toEqual([]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("OPTION_INVALID: runningLongerThan lists running jobs");
  });
});

describe("millrace jobs list by lane, error and payload", () => {
  test("finds the jobs, and the next page has the same filter", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const payload = typed<{ user: { id: number } }>();
    const greet = defineJob({ type: "greet", lane: "slow", payload });
    const [first, second] = await mill.enqueueMany([
      greet.of({ user: { id: 42 } }),
      greet.of({ user: { id: 42 } }),
      greet.of({ user: { id: 43 } }),
      defineJob({ type: "other" }).of(),
    ]);
    await mill.jobs.fail(first.id, "Disk is full");
    const filters = ["--lane", "slow", "--payload", "user.id=42", "--text", "user"];

    const page = await store.type("jobs", "list", ...filters, "--limit", "1");
    const rest = await type(...wordsToContinue(page.err));
    const failed = await store.json("jobs", "list", "--error", "disk IS");
    const none = await store.json("jobs", "list", "--payload", "user.id=");
    const wrong = await store.type("jobs", "list", "--payload", "user.id");
    const short = await store.type("jobs", "list", "--text", "ab");

    expect(idsIn(page.out)).toEqual([second.id]);
    expect(idsIn(rest.out)).toEqual([first.id]);
    expect(failed.jobs).toMatchObject([{ id: first.id }]);
    expect(none.jobs).toEqual([]);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain("user.id=42");
    expect(short).toMatchObject({ code: 2 });
  });

  test("selects the jobs of --where", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const greet = defineJob({ type: "greet", payload: typed<{ to: string }>() });
    const [first, second] = await mill.enqueueMany([greet.of({ to: "a" }), greet.of({ to: "b" })]);

    const words = ["--where", "--payload", "to=a", "--reason", "test", "--yes"];
    const done = await store.type("jobs", "cancel", ...words);

    expect(done.code).toBe(0);
    expect((await mill.jobs.get(first.id)).state).toBe("cancelled");
    expect((await mill.jobs.get(second.id)).state).toBe("queued");
  });
});

describe("millrace jobs list --since and --until", () => {
  test("select by the time of creation, and the next page has the same range", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const child = defineJob({ type: "child" });
    const [first, second] = await mill.enqueueMany([child.of(), child.of()]);
    const created = (await mill.jobs.get(first.id)).createdAt.toISOString();

    const since = await store.type("jobs", "list", "--since", "1h", "--limit", "1");
    const rest = await type(...wordsToContinue(since.err));
    const fromThen = await store.type("jobs", "list", "--since", created);
    const before = await store.type("jobs", "list", "--until", created);
    const longAgo = await store.type("jobs", "list", "--until", "1h");

    expect(idsIn(since.out)).toEqual([second.id]);
    expect(since.err).toMatch(/--since \d{4}-\d\d-\d\dT[\d:.]+Z --limit 1 /);
    expect(idsIn(rest.out)).toEqual([first.id]);
    expect(idsIn(fromThen.out)).toEqual([second.id, first.id]);
    expect(before).toMatchObject({ code: 0, out: "", err: "No jobs match.\n" });
    expect(longAgo).toMatchObject({ code: 0, out: "", err: "No jobs match.\n" });
  });

  test.each(["yesterday", "5", "2026-02-30", "2026-11-15T10:00"])("refuse %s", async (time) => {
    await using store = new TestStore();

    const refused = await store.type("jobs", "list", "--since", time);

    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("--since");
  });
});

/** A job with two children, and a job without. */
async function addFamily(store: TestStore): Promise<{ parent: string; children: string[] }> {
  const mill = await store.mill;
  const child = defineJob({ type: "child" });
  const children: string[] = [];
  const mother = defineJob({ type: "mother" }).run(async (_, ctx) => {
    for (let n = 0; n < 2; n += 1) children.push((await ctx.enqueue(child)).id);
  });
  const job = await mill.enqueue(mother);
  await mill.enqueue(child);
  await using _ = mill.work({ jobs: [mother] });
  await mill.wait(job);
  return { parent: job.id, children };
}

/** The ids in the first column of a table. */
function idsIn(text: string): string[] {
  return [...text.matchAll(/^(\w{26}) /gm)].flatMap(([, id]) => id ?? []);
}

/** The arguments of the command that continues a list. */
function wordsToContinue(told: string): string[] {
  return /Continue with: millrace (.+)/.exec(told)?.[1]?.split(" ") ?? [];
}
