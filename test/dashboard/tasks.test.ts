/** Tasks of a person at the page, from the overview to the store, in as few steps as they take. */
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { liveLastNight, SLOWEST } from "./support/night.ts";
import { Stage, type WatchedPage } from "./support/pages.ts";
import {
  correctALetter,
  failJobs,
  findTheSlowest,
  findWhyItWaits,
  retryOneCause,
  seeOneAction,
  stopARunaway,
} from "./support/tasks.ts";

let stage: Stage;
let shared: WatchedPage | null = null;

/** One page for all tests of this file. */
async function openPage(context: TestContext): Promise<WatchedPage> {
  shared ??= await stage.page(context);
  await shared.show("overview");
  return shared;
}

beforeAll(async () => {
  stage = await Stage.open(liveLastNight);
});

afterAll(async () => {
  await shared?.[Symbol.asyncDispose]();
  await stage[Symbol.asyncDispose]();
});

describe("a job that waits", () => {
  test("leads from the count of held jobs to its breaker, which is reset", async (context) => {
    const { mill, waitingId } = stage.scene;
    const { page } = await openPage(context);
    expect((await mill.jobs.explain(waitingId)).reason).toBe("breaker");

    await findWhyItWaits.perform(page, stage.scene);

    expect((await mill.jobs.explain(waitingId)).reason).not.toBe("breaker");
  });
});

describe("the action of a customer", () => {
  test("is shown by its correlation id, pasted into the palette", async (context) => {
    const { page } = await openPage(context);

    await seeOneAction.perform(page, stage.scene);

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
    await stopARunaway.prepare(stage.scene);
    const { page } = await openPage(context);

    await stopARunaway.perform(page, stage.scene);

    const button = page.getByRole("button", { name: `Resume type ${type}` });
    const box = await button.boundingBox();
    expect((box?.x ?? Infinity) + (box?.width ?? 0)).toBeLessThan(1_280);
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
    await retryOneCause.prepare(stage.scene);
    const { page } = await openPage(context);

    await retryOneCause.perform(page, stage.scene);

    const { jobs } = await mill.jobs.list({ type, state: "pending" });
    expect(jobs.map(({ payload }) => payload)).toHaveLength(3);
    expect(await mill.deadLetters.count({ type, status: "reprocessed" })).toMatchObject({
      count: 3,
    });
    await failJobs(mill, type, ["zoe"]);
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
    await correctALetter.prepare(stage.scene);
    const { jobs: failed } = await mill.jobs.list({ type, state: "failed" });
    const { page } = await openPage(context);

    await correctALetter.perform(page, stage.scene);

    const { jobs } = await mill.jobs.list({ type, state: "pending" });
    expect(jobs).toMatchObject([{ retryOf: failed[0]?.id, payload: { customer: "grace" } }]);
    expect(page.url()).toContain(jobs[0]?.id);
  });

  test("are found, opened, copied and retried with the keyboard alone", async (context) => {
    const type = "task.keyboard";
    const { mill } = stage.scene;
    const [id = ""] = await failJobs(mill, type, ["ada"]);
    await failJobs(mill, "task.newer", ["bob"]);
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

describe("the types that ran last night", () => {
  test("are ordered by their run time, and the slowest is opened", async (context) => {
    const { page } = await openPage(context);

    await findTheSlowest.perform(page, stage.scene);

    expect(page.url()).toContain(SLOWEST);
    await page.goBack();
    expect(decodeURIComponent(page.url())).toContain("overview?range=night&sort=-run");
    const types = page.getByRole("region", { name: /^Types of last night/ });
    await expect
      .poll(() => types.locator("tbody tr th").allTextContents())
      .toEqual([SLOWEST, "night.mail"]);
  });

  test("are ordered on the screen of types as well, and in any direction", async (context) => {
    const { page } = await openPage(context);

    await page.goto(`${stage.server.origin}/#/lanes?range=night`);
    const types = page.getByRole("region", { name: "Types", exact: true });
    const head = types.getByRole("columnheader", { name: /^Run p50/ });
    const names = (): Promise<string[]> => types.locator("tbody tr th").allTextContents();
    await head.getByRole("button").click();
    await expect.poll(names).toMatchObject({ 0: expect.stringContaining(SLOWEST) });
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    await head.getByRole("button").click();

    await expect.poll(names).toMatchObject({ 0: "night.mailNo worker" });
    expect(await head.getAttribute("aria-sort")).toBe("ascending");
    expect(page.url()).toContain("sort=run");
  });
});
