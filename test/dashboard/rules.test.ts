/** What a person sets for types, tenants, schedules and causes, followed through to the store. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { button, confirm, dialogOf } from "./support/hands.ts";
import { Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a tenant", () => {
  test("gets a quota, which is removed again", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show("tenants/umbra");

    await button(page, "Set quota…");
    await dialogOf(page).getByLabel("Jobs that wait at the same time").fill("700");
    await confirm(page, "Set quota", "the contract");
    await watched.answered("setQuota");
    expect((await mill.tenants.get("umbra")).quota).toMatchObject({ waiting: 700 });
    await button(page, "Remove…");
    await confirm(page, "Remove 1 quota", "a new contract");

    await watched.answered("removeQuota");
    expect((await mill.tenants.get("umbra")).quota).toBeNull();
  });

  test("has its intake closed and opened", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show("tenants/umbra");

    await button(page, "Close intake…");
    await confirm(page, "Close 1 intake", "they move out");
    await watched.answered("closeIntake");
    expect((await mill.tenants.get("umbra")).intake).toMatchObject({ reason: "they move out" });
    await button(page, "Open intake…");
    await confirm(page, "Open 1 intake");

    await watched.answered("openIntake");
    expect((await mill.tenants.get("umbra")).intake).toBeNull();
  });
});

describe("a type", () => {
  test("gets other settings than its code, and those of its code again", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    const override = async () =>
      (await mill.types.list()).find(({ type }) => type === "scene.good")?.override ?? null;
    await watched.show("lanes/type/scene.good");

    await button(page, "Override…");
    await dialogOf(page).getByLabel("Attempts").fill("9");
    await confirm(page, "Override");
    await watched.answered("overrideType");
    expect(await override()).toMatchObject({ settings: ["maxAttempts"], setBy: "ada" });
    await button(page, "Override…");
    await confirm(page, "Use what the code says");

    await watched.answered("resetType");
    expect(await override()).toBeNull();
  });
});

describe("a payload rule", () => {
  test("is set for a type, and removed with a reason", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show("settings");

    await button(page, "New rule…");
    await dialogOf(page).getByLabel("Name").fill("act.ruled");
    await dialogOf(page).locator("textarea").fill('{"hardBytes": 2000}');
    await confirm(page, "Set 1 rule", "small payloads");
    await watched.answered("setPayloadRule");
    expect(await mill.payloadRules.list()).toMatchObject([
      { scope: "type", name: "act.ruled", rule: { hardBytes: 2_000 } },
    ]);
    await page
      .getByRole("row", { name: /act.ruled/ })
      .getByText("Remove…")
      .click();
    await confirm(page, "Remove 1 rule", "they may grow");

    await watched.answered("removePayloadRule");
    expect(await mill.payloadRules.list()).toEqual([]);
  });
});

describe("a schedule", () => {
  test("is created, changed and removed", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    const cron = async () =>
      (await mill.schedules.list()).find(({ name }) => name === "by-hand")?.cron ?? null;
    await watched.show("schedules");

    await button(page, "New schedule…");
    await dialogOf(page).getByLabel("Name").fill("by-hand");
    await dialogOf(page).getByLabel("Type").fill("scene.good");
    await dialogOf(page).getByLabel("Expression").fill("15 4 * * *");
    await confirm(page, "Create schedule", "the nightly report");
    await watched.answered("createSchedule");
    expect(await cron()).toBe("15 4 * * *");
    await button(page, "Change by-hand");
    await dialogOf(page).getByLabel("Expression").fill("45 5 * * *");
    await confirm(page, "Change schedule", "too early");
    await watched.answered("updateSchedule");
    expect(await cron()).toBe("45 5 * * *");
    await button(page, "Remove by-hand");
    await confirm(page, "Remove schedule", "nothing reads the report");

    await watched.answered("removeSchedule");
    expect(await cron()).toBeNull();
    expect(await mill.audit.list({ subject: { kind: "schedule", name: "by-hand" } })).toMatchObject(
      [
        { name: "schedule_removed", reason: "nothing reads the report" },
        { name: "schedule_updated", reason: "too early" },
        { name: "schedule_created", reason: "the nightly report" },
      ],
    );
  });
});

describe("a saved view", () => {
  test("is removed for everyone", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context);
    const { page } = watched;
    await mill.views.save({ name: "Old ones", screen: "jobs", query: "age>1d" }, { actor: "ada" });
    await watched.show("jobs?q=age>1d");

    await button(page, /Remove.*Old ones/);
    await confirm(page, "Remove view");

    await watched.answered("removeView");
    expect(await mill.views.list()).toEqual([]);
  });
});

describe("a cause of failures", () => {
  const doomed = defineJob({ type: "act.doomed", payload: typed<{}>(), maxAttempts: 1 });

  test("is acknowledged, snoozed and discarded", async (context) => {
    const { mill } = stage.scene;
    const job = await mill.enqueue(doomed, {});
    await using worker = mill.work({
      jobs: [
        doomed.run(() => {
          throw new NonRetryableError("the ledger is closed");
        }),
      ],
      signals: false,
    });
    await worker.ready;
    await mill.wait(job);
    const { cause } = await mill.deadLetters.get(job.id);
    const status = async () => (await mill.failures.get(cause)).status;
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show(`failures/${cause}`);

    await button(page, /^Acknowledge/);
    await confirm(page, "Acknowledge");
    await watched.answered("acknowledgeFailure");
    expect(await status()).toBe("acknowledged");
    await button(page, /^Snooze/);
    await confirm(page, "Snooze");
    await watched.answered("snoozeFailure");
    expect(await status()).toBe("snoozed");
    await button(page, /^Discard/);
    await confirm(page, "Discard 1 letter", "written by hand");

    await watched.answered("discardFailure");
    expect((await mill.deadLetters.get(job.id)).status).toBe("discarded");
  });
});
