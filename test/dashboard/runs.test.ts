/** What a person does to jobs in the hands of workers, through to the store. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { button, confirm, dialogOf } from "./support/hands.ts";
import { Stage } from "./support/pages.ts";

const later = defineJob({ type: "act.later", payload: typed<{ n: number }>() });
let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a job", () => {
  test("that waits gets another time, and is ended as failed", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    const { id } = await mill.enqueue(later, { n: 1 }, { delay: "1h" });
    await watched.show(`jobs/${id}`);

    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: /run time/ }).click();
    await dialogOf(page).getByLabel("Run at").fill("2099-01-02T03:04");
    await dialogOf(page).locator("button[type=submit]").click();
    await dialogOf(page).waitFor({ state: "detached" });
    await watched.answered("rescheduleJob");
    expect((await mill.jobs.get(id)).runAt?.getFullYear()).toBe(2099);
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: /^Fail|as failed/ }).click();
    await confirm(page, "Fail the job", "the customer has left");

    await watched.answered("failJob");
    expect(await mill.jobs.get(id)).toMatchObject({
      state: "failed",
      error: { message: "the customer has left" },
    });
  });

  test("that runs is released from its worker", async (context) => {
    const { mill } = stage.scene;
    const started = Promise.withResolvers<void>();
    const slow = defineJob({ type: "act.slow" }).run(async (_, ctx) => {
      started.resolve();
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    });
    await using worker = mill.work({ jobs: [slow], signals: false });
    await worker.ready;
    const { id } = await mill.enqueue(slow);
    await started.promise;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show(`jobs/${id}`);
    await mill.pause({ type: "act.slow" }, "so that it stays in the queue");

    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: /^Release/ }).click();
    await confirm(page, "Release the job", "the worker hangs");

    await watched.answered("releaseJob");
    expect(await mill.jobs.get(id)).toMatchObject({ state: "queued", attempts: 0 });
  });
});

describe("a worker", () => {
  test("is stopped", async (context) => {
    const { mill } = stage.scene;
    await using worker = mill.work({ jobs: [defineJob({ type: "act.idle" }).run(() => {})] });
    await worker.ready;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show("workers");

    await button(page, "Stop…");
    await confirm(page, "Stop worker");

    await watched.answered("stopWorker");
    await expect
      .poll(async () => (await mill.workers.list()).every(({ isStopping }) => isStopping))
      .toBe(true);
  });
});

describe("an operation", () => {
  test("is stopped, and leaves out the rest", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    await mill.enqueueMany([1, 2, 3].map((n) => later.of({ n }, { delay: "1h" })));
    const { id } = await mill.operations.start(
      { action: "cancel", jobs: { type: later.type } },
      { actor: "ada", reason: "a try", rate: 1 / 60, chunk: 1 },
    );
    await watched.show(`operations/${id}`);

    await button(page, /^Stop/);
    await dialogOf(page)
      .getByRole("button", { name: /^Leave out/ })
      .click();

    await watched.answered("stopOperation");
    await expect.poll(async () => (await mill.operations.get(id)).status).toBe("stopped");
  });
});

describe("a session", () => {
  test("begins with a token, and ends with its cookie", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.answered("openSession");

    await page.getByRole("button", { name: "Sign out" }).click();

    await watched.answered("closeSession");
    await page.getByLabel("Token").waitFor();
    expect((await page.context().cookies()).map(({ value }) => value).join("")).toBe("");
  });
});
