/** Tasks of a person at the page, from the overview to the store, in as few steps as they take. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { Stage, type WatchedPage } from "./pages.ts";

let stage: Stage;
let shared: WatchedPage | null = null;

/** One page for all tests of this file. */
async function openPage(context: TestContext): Promise<WatchedPage> {
  shared ??= await stage.page(context);
  await shared.show("overview");
  return shared;
}

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

/** Jobs of this type that have failed, one for each customer. Their ids. */
async function failJobs(type: string, customers: readonly string[]): Promise<readonly string[]> {
  const { mill } = stage.scene;
  const failing = defineJob({ type, payload: typed<{ customer: string }>(), maxAttempts: 1 });
  const jobs = await mill.enqueueMany(customers.map((customer) => failing.of({ customer })));
  const handler = failing.run(() => {
    throw new NonRetryableError(`the account is closed for ${type}`);
  });
  await using worker = mill.work({ jobs: [handler], signals: false });
  await worker.ready;
  for (const job of jobs) await mill.wait(job);
  return jobs.map(({ id }) => id);
}

/** Types the reason into the dialog, which has the focus in it, and sends it. */
async function confirm(page: Page, reason: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.keyboard.type(reason);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
}

describe("a job that waits", () => {
  test("leads from the count of held jobs to its breaker, which is reset", async (context) => {
    const { mill, waitingId } = stage.scene;
    const { page } = await openPage(context);
    expect((await mill.jobs.explain(waitingId)).reason).toBe("breaker");

    await page.getByRole("link", { name: /Held/ }).click();
    await page.getByRole("row", { name: /scene\.calling/ }).click();
    await page.getByRole("region", { name: "Why is it not running?" }).waitFor();
    expect(page.url()).toContain(waitingId);
    expect(await page.getByRole("button", { name: /^Run now/ }).count()).toBe(0);
    await page.getByRole("link", { name: "Show the breaker" }).click();
    await page.getByRole("button", { name: /^Reset/ }).click();
    await confirm(page, "the bank is up again");

    expect((await mill.jobs.explain(waitingId)).reason).not.toBe("breaker");
  });
});

describe("the action of a customer", () => {
  test("is shown by its correlation id, pasted into the palette", async (context) => {
    const { mill, pipelineId } = stage.scene;
    const { correlationId } = await mill.jobs.get(pipelineId);
    const { page } = await openPage(context);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(correlationId);
    await page.keyboard.press("Enter");

    await page.getByRole("row", { name: /scene\.pipeline/ }).waitFor();
    expect(page.url()).toContain("#/correlation");
  });

  test("is not hidden by the search when its type has the name", async (context) => {
    const { page } = await openPage(context);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("scene.pipeline");
    await page.getByRole("option", { name: "scene.pipeline jobs of type" }).waitFor();
    await page.keyboard.press("Enter");

    await expect.poll(() => page.url()).toContain("type%3Ascene.pipeline");
  });
});

describe("a type that runs away", () => {
  test("is paused from its row, and its jobs lead to where it is resumed", async (context) => {
    const type = "task.runaway";
    const { mill } = stage.scene;
    const runaway = defineJob({ type, payload: typed<{ n: number }>() });
    await using worker = mill.work({ jobs: [runaway.run(async () => {})], signals: false });
    await worker.ready;
    const { page } = await openPage(context);

    await page.getByRole("link", { name: /^Lanes and types/ }).click();
    const pause = page.getByRole("button", { name: `Pause type ${type}` });
    await pause.waitFor();
    const box = await pause.boundingBox();
    expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThan(1_280);
    await pause.click();
    await confirm(page, "too many");
    await page.getByText("Paused by ada").waitFor();
    const paused = { kind: "type", name: type, reason: "too many" };
    expect(await mill.pauses()).toContainEqual(expect.objectContaining(paused));
    const job = await mill.enqueue(runaway, { n: 1 });

    await page.goto(`${stage.server.origin}/#/jobs/${job.id}`);
    await page.getByText("The type task.runaway is paused by ada: too many.").waitFor();
    await page.getByRole("link", { name: "Show the pause" }).click();
    await page.getByText(/^Held\s*1$/).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();

    await mill.wait(job);
    expect(await mill.pauses()).not.toContainEqual(expect.objectContaining({ name: type }));
  });
});

describe("failed jobs", () => {
  test("of one cause are retried together, and no longer shown with it", async (context) => {
    const type = "task.cause";
    const { mill } = stage.scene;
    await failJobs(type, ["ada", "bob", "eve"]);
    const { page } = await openPage(context);

    await page.getByRole("link", { name: /^Failures/ }).click();
    await page.getByRole("link", { name: /the account is closed for task\.cause/ }).click();
    await page.getByRole("button", { name: "Retry 3…" }).click();
    await confirm(page, "the account is open again");
    await page.getByText("3 new jobs enqueued").waitFor();

    const { jobs } = await mill.jobs.list({ type, state: "pending" });
    expect(jobs.map(({ payload }) => payload)).toHaveLength(3);
    expect(await mill.deadLetters.count({ type, status: "reprocessed" })).toMatchObject({
      count: 3,
    });
    await failJobs(type, ["zoe"]);
    await expect
      .poll(() => mill.deadLetters.count({ type, status: "pending_review" }))
      .toMatchObject({ count: 4 });
    await page.reload();
    const rows = page.getByRole("region", { name: "Newest letters of this cause" });
    await rows.waitFor();
    expect(await rows.locator("tbody tr").count()).toBe(4);
  });

  test("have a letter whose payload is corrected, shown and sent", async (context) => {
    const type = "task.letter";
    const { mill } = stage.scene;
    const [id = ""] = await failJobs(type, ["grase"]);
    const { page } = await openPage(context);

    await page.getByRole("link", { name: /^Dead letters/ }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const draft = page.getByRole("main").locator("textarea").first();
    await draft.fill((await draft.inputValue()).replace("grase", "grace"));
    await page.getByRole("button", { name: /^Reprocess with 1 change/ }).click();
    await page.getByRole("dialog").getByText(`"grace"`).waitFor();
    await confirm(page, "a typing error");
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByRole("heading", { level: 1, name: /task\.letter/ }).waitFor();

    const { jobs } = await mill.jobs.list({ type, state: "pending" });
    expect(jobs).toMatchObject([{ retryOf: id, payload: { customer: "grace" } }]);
    expect(page.url()).toContain(jobs[0]?.id);
  });

  test("are found, opened, copied and retried with the keyboard alone", async (context) => {
    const type = "task.keyboard";
    const { mill } = stage.scene;
    const [id = ""] = await failJobs(type, ["ada"]);
    await failJobs("task.newer", ["bob"]);
    const { page, troubles } = await openPage(context);
    // The screen of jobs has to be loaded again, so the bar is not there at once.
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    for (const key of `gj/type:${type}`) await page.keyboard.press(key);
    await page.getByRole("combobox", { name: "Filter jobs" }).waitFor();
    await page.keyboard.type(" state:failed");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`type%3A${type}+state%3Afailed`);
    await page.getByRole("row", { name: /task\.newer/ }).waitFor({ state: "detached" });
    await page.getByRole("row", { name: /task\.keyboard/ }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /task\.keyboard/ }).waitFor();
    await page.keyboard.press("y");
    await page.getByText("Copied the id").waitFor();
    await page.keyboard.press("r");
    await page.getByText("The job is repeated as a new job").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: "Filter jobs" }).waitFor();

    const { jobs } = await mill.jobs.list({ type, state: "pending" });
    expect(jobs).toMatchObject([{ retryOf: id }]);
    expect(troubles).toEqual([]);
  });
});
