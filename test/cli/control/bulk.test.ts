/** Actions on many jobs or dead letters, from the command line. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { runCommandLine } from "../../../src/cli/program.ts";
import { TestStore, type Typed } from "../command-line.ts";

const email = defineJob({ type: "email", payload: typed<number>() });
const WHERE = ["--where", "--type", "email"];
const WHY = ["--reason", "wrong list"];

async function withJobs(count: number): Promise<TestStore> {
  const store = new TestStore();
  const mill = await store.mill;
  await mill.enqueueMany(Array.from({ length: count }, (_, n) => email.of(n)));
  return store;
}

/** Runs a command for a person who answers questions. */
async function typeWith(answer: string, store: TestStore, ...args: string[]): Promise<Typed> {
  let [out, err] = ["", ""];
  await store.mill;
  const code = await runCommandLine([...args, "--db", `sqlite:${store.file}`], {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    ask: async (question) => {
      err += question;
      return answer;
    },
  });
  return { code, out, err };
}

async function stateCounts(store: TestStore, state: "queued" | "cancelled"): Promise<number> {
  return (await (await store.mill).jobs.count({ state })).count;
}

describe("millrace jobs cancel --where", () => {
  test("shows what it would change, and changes nothing with --dry-run", async () => {
    await using store = await withJobs(3);

    const { code, out } = await store.type("jobs", "cancel", ...WHERE, "--dry-run");

    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/change 3 jobs\./) });
    expect(await stateCounts(store, "queued")).toBe(3);
    const preview = await store.json("jobs", "cancel", ...WHERE, "--dry-run");
    expect(preview).toMatchObject({ count: 3, atLeast: false });
  });

  test("needs --yes without a terminal, and a reason", async () => {
    await using store = await withJobs(2);

    const asked = await store.type("jobs", "cancel", ...WHERE, ...WHY);
    const bare = await store.type("jobs", "cancel", ...WHERE, "--yes");
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    expect(bare).toMatchObject({ code: 2, err: expect.stringContaining("--reason") });
    expect(await stateCounts(store, "queued")).toBe(2);

    const done = await store.json("jobs", "cancel", ...WHERE, ...WHY, "--yes");
    expect(done).toMatchObject({ status: "completed", done: 2, reason: "wrong list" });
    expect(await stateCounts(store, "cancelled")).toBe(2);
  });

  test("asks a person, and begins after a yes", async () => {
    await using store = await withJobs(2);

    const no = await typeWith("", store, "jobs", "cancel", ...WHERE, ...WHY);
    expect(no).toMatchObject({ code: 4, err: expect.stringContaining("Nothing was changed.") });
    expect(await stateCounts(store, "queued")).toBe(2);
    const yes = await typeWith("y", store, "jobs", "cancel", ...WHERE, ...WHY);

    expect(yes).toMatchObject({ code: 0, out: expect.stringContaining("completed: 2 done.") });
    expect(await stateCounts(store, "cancelled")).toBe(2);
  });

  test("wants the count typed above 1,000 items", async () => {
    await using store = await withJobs(1_001);

    const no = await typeWith("y", store, "jobs", "cancel", ...WHERE, ...WHY);
    expect(no).toMatchObject({ code: 4, err: expect.stringContaining("Type the count, 1001") });
    const yes = await typeWith("1,001", store, "jobs", "cancel", ...WHERE, ...WHY);

    expect(yes).toMatchObject({ code: 0, out: expect.stringContaining("1001 done") });
  });

  test.each([
    [["--type", "email"], "--type goes with --where"],
    [["--yes"], "--yes goes with --where"],
    [[], "Give the id of a job"],
    [["--where", "01JCR5M4X2E8T9V6B3N7K0QWAZ"], "either an id or --where"],
    [["--where", "--yes", ...WHY], "at least one condition"],
  ])("refuses %j", async (args, words) => {
    await using store = await withJobs(1);

    const answer = await store.type("jobs", "cancel", ...args);

    expect(answer).toMatchObject({ code: 2, err: expect.stringContaining(words) });
    expect(await stateCounts(store, "queued")).toBe(1);
  });
});

test("millrace jobs priority, reschedule and delete change many jobs, or one", async () => {
  await using store = await withJobs(2);
  const yes = [...WHY, "--yes"];

  const high = await store.json("jobs", "priority", ...WHERE, "--to", "high", ...yes);
  expect(high).toMatchObject({ action: "priority", done: 2 });
  const later = await store.json("jobs", "reschedule", ...WHERE, "--delay", "2h", ...yes);
  expect(later).toMatchObject({ done: 2 });
  await store.json("jobs", "cancel", ...WHERE, ...yes);
  const [one] = (await (await store.mill).jobs.list({ limit: 1 })).jobs;
  expect(await store.json("jobs", "delete", one!.id)).toMatchObject({ done: 1, ids: 1 });
  expect(await store.json("jobs", "delete", ...WHERE, ...yes)).toMatchObject({ done: 1 });
});

test("millrace dlq reprocess --where repeats open dead letters", async () => {
  await using store = await withJobs(2);
  const mill = await store.mill;
  for (const { id } of (await mill.jobs.list()).jobs) await mill.jobs.fail(id, "broken");

  const args = ["--where", "--status", "pending_review", "--notes", "fixed", "--yes"];
  const done = await store.json("dlq", "reprocess", ...args);

  expect(done).toMatchObject({ target: "deadLetters", done: 2 });
  expect(await stateCounts(store, "queued")).toBe(2);
});

test("millrace dlq discard --where takes the filters of dlq list", async () => {
  await using store = await withJobs(2);
  const mill = await store.mill;
  await mill.enqueue(defineJob({ type: "scan", category: "documents" }));
  for (const { id } of (await mill.jobs.list()).jobs) await mill.jobs.fail(id, "broken");
  const [{ cause, error }] = await store.json("dlq", "list", "--category", "documents");
  const filters = [
    ["--category", "documents"],
    ["--category", "documents", "--cause", cause, "--error-class", error.class],
    ["--category", "documents", "--since", "1h"],
  ];
  const args = ["--where", "--category", "documents", "--cause", cause, "--yes"];

  for (const filter of filters) {
    const listed = await store.json("dlq", "list", ...filter);
    expect({ filter, ids: listed.length }).toEqual({ filter, ids: 1 });
  }
  for (const none of [
    ["--correlation", "x"],
    ["--assigned-to", "eve"],
    ["--until", "1h"],
  ]) {
    const done = await store.json("dlq", "discard", "--where", ...none, "--notes", "n", "--yes");
    expect(done).toMatchObject({ count: 0 });
  }
  const done = await store.json("dlq", "discard", ...args, "--notes", "a scan is repeated");
  expect(done).toMatchObject({ action: "discard", target: "deadLetters", done: 1 });
  expect(await store.json("dlq", "list", "--status", "pending_review")).toHaveLength(2);
  const id = (await store.json("dlq", "list"))[0].id;
  const stray = await store.type("dlq", "discard", id, "--error-class", "retryable");
  expect(stray.err).toContain("--error-class goes with --where");
});

test("millrace operations lists, shows and stops operations", async () => {
  await using store = await withJobs(2);
  const { id } = await store.json("jobs", "cancel", ...WHERE, ...WHY, "--yes");

  expect((await store.type("operations", "list")).out).toContain(id);
  expect((await store.type("operations", "show", id)).out).toMatch(/^reason +wrong list$/m);
  const items = await store.json("operations", "items", id, "--limit", "1");
  expect(items).toMatchObject({ items: [{ n: 1, outcome: "done" }], next: 1 });
  expect(await store.type("operations", "watch", id)).toMatchObject({ code: 0 });
  expect((await store.type("operations", "stop", id)).out).toContain("is completed");
  const none = await store.type("operations", "show", "01JCR5M4X2E8T9V6B3N7K0QWAZ");
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("OPERATION_NOT_FOUND") });
});
