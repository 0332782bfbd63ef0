/** What a person controls on the page, followed through to the store. */
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { defineJob, typed, type Worker } from "../../src/index.ts";
import { button, confirm, dialogOf } from "./support/hands.ts";
import { Stage, type WatchedPage } from "./support/pages.ts";

let stage: Stage;
let shared: WatchedPage | null = null;

/** One page for all tests of this file: each shows the screen that it needs. */
async function openPage(context: TestContext): Promise<WatchedPage> {
  shared ??= await stage.page(context);
  return shared;
}

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("what runs", () => {
  test("a lane is paused and resumed", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const pauses = async () => (await mill.pauses()).map(({ kind, name }) => `${kind} ${name}`);
    await watched.show("lanes");

    await button(page, "Pause lane general");
    await confirm(page, "Pause lane", "maintenance");
    await expect.poll(pauses).toContain("lane general");
    await button(page, "Resume lane general");
    await expect.poll(pauses).not.toContain("lane general");
    await watched.answered("pause", "resume");
  });

  test("a limit is set and removed", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const limit = async () =>
      (await mill.limits.list()).find(({ name }) => name === "umbra")?.concurrency ?? null;
    await watched.show("lanes");

    await button(page, "Set a limit…");
    await dialogOf(page).locator("select").selectOption("tenant");
    await dialogOf(page).getByLabel("Name").fill("umbra");
    await dialogOf(page).getByLabel("Jobs at the same time").fill("3");
    await confirm(page, "Set limit", "the plan");

    await expect.poll(limit).toBe(3);
    await button(page, "Remove the limit of tenant umbra");
    await confirm(page, "Remove limit", "the plan has ended");
    await expect.poll(limit).toBeNull();
    expect(await mill.audit.list({ subject: { kind: "tenant", name: "umbra" } })).toMatchObject([
      { name: "limit_removed", reason: "the plan has ended" },
      { name: "limit_set", reason: "the plan" },
    ]);
    await watched.answered("setLimit", "removeLimit");
  });

  test("a breaker is reset, and opened again with a reason", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const state = async () => (await mill.breakers.list())[0]?.state;
    await watched.show("breakers");

    await button(page, "Reset…");
    await confirm(page, "Reset breaker");
    expect(await state()).toBe("closed");
    await button(page, "Force open…");
    await confirm(page, "Force open", "the bank asked for it");

    expect((await mill.breakers.list())[0]).toMatchObject({
      state: "open",
      reason: "the bank asked for it",
      changedBy: "ada",
    });
    await watched.answered("resetBreaker", "openBreaker");
  });

  test("a schedule runs now, pauses and resumes", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    await watched.show("schedules");
    const before = (await mill.jobs.count({ type: "scene.good" })).count;

    const row = page.getByRole("row", { name: /stored/ });
    await row.getByRole("button", { name: "Run now" }).click();
    await page.getByText("stored runs now").waitFor();
    await button(page, "Pause stored");
    await confirm(page, "Pause schedule", "holidays");
    expect((await mill.schedules.get("stored")).pauseReason).toBe("holidays");
    await button(page, "Resume stored");

    await expect.poll(async () => (await mill.schedules.get("stored")).pausedAt).toBeNull();
    expect((await mill.jobs.count({ type: "scene.good" })).count).toBe(before + 1);
    await watched.answered("runSchedule", "pauseSchedule", "resumeSchedule");
  });

  test("a worker is made quiet, and resumed", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const idle = defineJob({ type: "act.idle" }).run(() => {});
    await using worker: Worker = mill.work({ jobs: [idle], signals: false });
    await worker.ready;
    await watched.show("workers");

    await button(page, "Quiet…");
    await confirm(page, "Make it quiet");

    await expect
      .poll(async () => (await mill.workers.list()).some(({ isQuiet }) => isQuiet))
      .toBe(true);
    await button(page, "Resume");

    await expect
      .poll(async () => (await mill.workers.list()).some(({ isQuiet }) => isQuiet))
      .toBe(false);
    await watched.answered("quietWorker", "resumeWorker");
  });
});

describe("many jobs", () => {
  test("are cancelled as an operation, once their number is typed", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const type = "act.thousand";
    const many = defineJob({ type, payload: typed<{ n: number }>() });
    const numbers = Array.from({ length: 1_001 }, (_, n) => n);
    await mill.enqueueMany(numbers.map((n) => many.of({ n }, { delay: "1h" })));
    await watched.show(`jobs?q=type:${type}`);

    await page.getByLabel("Select all rows shown").check();
    await page.getByRole("button", { name: /^All .* matching$/ }).click();
    await page.getByRole("region", { name: "Selection" }).getByText("Cancel…").click();
    const dialog = dialogOf(page);
    const verb = dialog.getByRole("button", { name: "Cancel 1,001 jobs" });
    await dialog.getByLabel("Reason").fill("a runaway");
    expect(await verb.isDisabled()).toBe(true);
    await dialog.getByLabel("Type 1,001 to confirm").fill("1001");
    await verb.click();
    await page.getByText("The operation has started").waitFor();

    await expect
      .poll(() => mill.operations.list().then(([newest]) => newest?.status), { timeout: 30_000 })
      .toBe("completed");
    const [operation] = await mill.operations.list();
    expect(operation).toMatchObject({ action: "cancel", done: 1_001, actor: "ada" });
    expect(await mill.jobs.count({ type, state: "cancelled" })).toMatchObject({ count: 1_001 });
    await watched.answered("previewOperation", "startOperation");
  });

  test("are found again by a saved view", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    await watched.show("jobs?q=type:scene.bad state:failed");

    await button(page, /Save view/);
    await dialogOf(page).getByLabel("Name").fill("Bad ones");
    await dialogOf(page).getByRole("button", { name: "Save view" }).click();
    await page.getByRole("link", { name: "Bad ones" }).waitFor();

    expect(await mill.views.list()).toMatchObject([
      { name: "Bad ones", query: "type:scene.bad state:failed", savedBy: "ada" },
    ]);
    await watched.answered("saveView");
  });

  test("are found again with the columns that a person has chosen", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const cols = "job,state,payload.text";
    await watched.show(`jobs?q=type:scene.bad&cols=${cols}`);
    await page.getByRole("columnheader", { name: "…text" }).waitFor();

    await button(page, /Save view/);
    await dialogOf(page).getByLabel("Name").fill("Texts");
    await dialogOf(page).getByRole("button", { name: "Save view" }).click();
    await page.getByRole("link", { name: "Texts" }).waitFor();
    await page.getByRole("link", { name: "Retrying", exact: true }).click();
    await page.getByRole("columnheader", { name: "…text" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Texts" }).click();
    await page.getByRole("columnheader", { name: "…text" }).waitFor();

    expect(await page.getByRole("columnheader").allTextContents()).toHaveLength(4);
    expect((await mill.views.list()).find(({ name }) => name === "Texts")?.query).toBe(
      `?${new URLSearchParams({ q: "type:scene.bad", cols }).toString()}`,
    );
    await watched.answered("saveView");
  });
});

describe("the installation", () => {
  test("a tenant is paused with a reason", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    await watched.show("tenants/umbra");

    await button(page, "Pause…");
    await confirm(page, "Pause 1 tenant", "unpaid");

    expect((await mill.tenants.get("umbra")).pause).toMatchObject({
      reason: "unpaid",
      pausedBy: "ada",
    });
  });

  test("a token is made, shown once, and revoked", async (context) => {
    const { mill } = stage.scene;
    const watched = await openPage(context);
    const { page } = watched;
    const names = async () => (await mill.tokens.list()).map(({ name }) => name);
    await watched.show("settings");

    await button(page, "New token…");
    await dialogOf(page).getByLabel("Name").fill("night shift");
    await dialogOf(page).getByRole("button", { name: "Make 1 token" }).click();
    const secret = await dialogOf(page).locator("code, pre").first().textContent();
    expect((await mill.tokens.verify(secret?.trim() ?? ""))?.name).toBe("night shift");
    await page.keyboard.press("Escape");
    const row = page.getByRole("row", { name: /night shift/ });
    await row.getByRole("button", { name: /Revoke/ }).click();
    await dialogOf(page)
      .getByRole("button", { name: /^Revoke/ })
      .click();

    await expect.poll(names).not.toContain("night shift");
    await watched.answered("createToken", "revokeToken");
  });
});
