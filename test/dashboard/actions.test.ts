/** What a person does to jobs and dead letters on the page, followed through to the store. */
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { button, confirm, dialogOf } from "./support/hands.ts";
import { Stage, type WatchedPage } from "./support/pages.ts";

let stage: Stage;
let shared: WatchedPage | null = null;

/** One page for all tests of this file: each shows the screen that it needs. */
async function openPage(context: TestContext): Promise<WatchedPage> {
  shared ??= await stage.page(context);
  return shared;
}

const later = defineJob({ type: "act.later", payload: typed<{ n: number }>() });
const doomed = defineJob({
  type: "act.doomed",
  payload: typed<{ n: number; kept?: number }>(),
  maxAttempts: 1,
});
const worn = doomed.run(({ n }) => {
  throw new NonRetryableError(n > 0 ? "the vatId is missing" : "the iban is missing");
});

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Fails so many jobs, and returns their ids. */
async function failJobs(
  payloads: readonly { n: number; kept?: number }[],
): Promise<readonly string[]> {
  const { mill } = stage.scene;
  const jobs = await mill.enqueueMany(payloads.map((payload) => doomed.of(payload)));
  await using worker = mill.work({ jobs: [worn], signals: false });
  await worker.ready;
  for (const job of jobs) await mill.wait(job);
  return jobs.map(({ id }) => id);
}

/** Removes a finished job, as retention does. Its dead letter stays. */
async function deleteJob(id: string): Promise<void> {
  const { operations, jobs } = stage.scene.mill;
  const by = { actor: "ada", reason: "retention" };
  const { id: started } = await operations.start({ action: "delete", ids: [id] }, by);
  await operations.wait(started);
  await expect(jobs.get(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
}

describe("a job", () => {
  test("is cancelled with a reason, and repeated", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const { id } = await mill.enqueue(later, { n: 1 }, { delay: "1h" });
    await watched.show(`jobs/${id}`);

    await button(page, /^Cancel/);
    await confirm(page, "Cancel 1 job", "called off by the customer");
    await page.getByRole("main").getByText("Cancelled").first().waitFor();
    await button(page, /^Retry/);
    await page.getByText("The job is repeated as a new job").waitFor();

    expect(await mill.jobs.get(id)).toMatchObject({
      state: "cancelled",
      cancelReason: "called off by the customer",
    });
    const { jobs } = await mill.jobs.list({ type: later.type, state: "pending" });
    expect(jobs).toMatchObject([{ retryOf: id, payload: { n: 1 } }]);
    expect(watched.troubles).toEqual([]);
    await watched.answered("cancelJob", "retryJob");
  });

  test("that waits is run now, and gets another priority", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const { id } = await mill.enqueue(later, { n: 2 }, { delay: "1h" });
    await watched.show(`jobs/${id}`);

    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: "Change the priority…" }).click();
    await dialogOf(page).getByLabel("Priority").selectOption("critical");
    await dialogOf(page).getByRole("button", { name: /1 job/ }).click();
    await dialogOf(page).waitFor({ state: "detached" });
    await button(page, /^Run now/);

    await expect.poll(async () => (await mill.jobs.get(id)).state).toBe("queued");
    expect((await mill.jobs.get(id)).priority).toBeLessThan(100);
    await watched.answered("setJobPriority", "retryJob");
  });

  test("whose dedup key is taken is not repeated, and leads to the holder", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const options = { dedupKey: "act.taken", delay: "1h" } as const;
    const { id } = await mill.enqueue(later, { n: 3 }, options);
    await mill.jobs.cancel(id);
    const holder = await mill.enqueue(later, { n: 4 }, options);
    await watched.show(`jobs/${id}`);

    await button(page, /^Retry/);
    await page.getByText("The job was not retried").waitFor();
    await page.getByRole("link", { name: "Show the holder" }).click();

    await expect.poll(() => page.url()).toContain(`#/jobs/${holder.id}`);
  });

  test("is enqueued by the form of its type", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    await watched.show("lanes/type/scene.good");

    await page.getByRole("textbox", { name: "Payload" }).fill('{"text":"by hand"}');
    await button(page, "Run a job");
    await page.getByText("The job was enqueued").waitFor();

    const { jobs } = await mill.jobs.list({ type: "scene.good", text: "by hand" });
    expect(jobs).toHaveLength(1);
    await watched.answered("enqueueJob");
  });

  test("is chosen with others by key, and cancelled with them", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const type = "act.many";
    const many = defineJob({ type, payload: typed<{ n: number }>() });
    await mill.enqueueMany([1, 2, 3].map((n) => many.of({ n }, { delay: "1h" })));
    await watched.show(`jobs?q=type:${type}`);
    await expect.poll(() => page.locator("tbody tr").count()).toBe(3);

    for (const key of ["j", "x", "j", "j", "X", "c"]) await page.keyboard.press(key);
    await confirm(page, "Cancel 3 jobs", "all of them");

    await expect
      .poll(() => mill.jobs.count({ type, state: "cancelled" }))
      .toMatchObject({
        count: 3,
      });
  });
});

describe("dead letters", () => {
  test("of removed jobs are reprocessed with an edit that keeps every digit", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const { rawJSON }: any = JSON;
    const [id = ""] = await failJobs([{ n: 7, kept: rawJSON("9007199254740995") }]);
    await deleteJob(id);
    await watched.show(`letters/${id}`);
    await page.getByRole("main").getByText("9007199254740995").waitFor();

    await button(page, "Edit");
    await page
      .getByLabel("Edited payload")
      .fill('{"n": 9007199254740993, "kept": 9007199254740995}');
    await button(page, "Changes");
    await page.getByRole("main").getByText("9007199254740993").waitFor();
    await button(page, /^Reprocess/);
    await confirm(page, "Reprocess 1 letter", "the real number");

    const letter = await mill.deadLetters.get(id);
    expect(letter.status).toBe("reprocessed");
    const { payload } = await mill.jobs.texts(letter.successorId ?? "");
    expect(payload).toBe('{"n":9007199254740993,"kept":9007199254740995}');
    await watched.answered("reprocessDeadLetter");
  });

  test("are acknowledged, assigned, noted and discarded", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const [id = ""] = await failJobs([{ n: 8 }]);
    await watched.show(`letters/${id}`);

    await button(page, "Take it");
    await page.getByText("Assigned to ada").waitFor();
    await page.getByLabel("Add a note").fill("asked the customer");
    await button(page, "Add note");
    await page.getByRole("main").getByText("asked the customer").first().waitFor();
    await button(page, "Acknowledge");
    await expect.poll(async () => (await mill.deadLetters.get(id)).status).toBe("acknowledged");
    await button(page, "Discard…");
    await confirm(page, "Discard 1 letter", "paid by hand");

    const letter = await mill.deadLetters.get(id);
    expect(letter).toMatchObject({ status: "discarded", assignedTo: "ada" });
    expect(letter.reviews.map(({ act }) => act)).toEqual(
      expect.arrayContaining(["assigned", "noted", "acknowledged", "discarded"]),
    );
    await watched.answered(
      "assignDeadLetter",
      "noteDeadLetter",
      "acknowledgeDeadLetter",
      "discardDeadLetter",
    );
  });

  test("of one cause are retried, and the others stay", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const [kept = "", ...ids] = await failJobs([{ n: -1 }, { n: 1 }, { n: 2 }]);
    const { cause } = await mill.deadLetters.get(ids[0] ?? "");
    await watched.show(`failures/${cause}`);

    await button(page, /^Retry \d/);
    const verb = await dialogOf(page)
      .getByRole("button", { name: /^Retry/ })
      .textContent();
    await confirm(page, verb ?? "", "the vatId is there again");

    for (const id of ids) expect((await mill.deadLetters.get(id)).status).toBe("reprocessed");
    expect((await mill.deadLetters.get(kept)).status).toBe("pending_review");
    await watched.answered("retryFailure");
  });
});
