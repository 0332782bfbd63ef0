/** What operators see on the overview, from a store where work waits, runs and fails. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { Stage } from "./support/pages.ts";

const MINUTE = 60_000;
let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("the overview", () => {
  test("says that no job runs, and what would appear", async (context) => {
    await using watched = await stage.page(context, ["viewer"]);

    await watched.show("overview");

    await panelOf(watched.page, "Running").getByText("No job runs now").waitFor();
    expect(await panelOf(watched.page, "Running").getByText("while a worker").count()).toBe(1);
  });

  test("has backlog, work, error rate, throughput and slow jobs (000-47)", async (context) => {
    await using work = await startPublishing("The spring edition");
    await using watched = await stage.page(context, ["viewer", "operator"]);
    const { page } = watched;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));

    await watched.show("overview?range=1h");

    await seeFigures(page);
    const row = page
      .getByRole("region", { name: "Running jobs, longest first" })
      .getByRole("row")
      .filter({ hasText: work.id.slice(-6) });
    await row.getByText("2 of 4, 1 failed").waitFor();
    await row.getByText("upload", { exact: true }).waitFor();
    await row.getByText("Running", { exact: true }).waitFor();
    expect(asked.filter((path) => /\/api\/v1\/(jobs|running)\/./.test(path))).toEqual([]);

    expect(await row.getByText("Slow", { exact: true }).count()).toBe(0);
    await page.clock.setSystemTime(Date.now() + 11 * MINUTE);
    await row.getByText("Slow", { exact: true }).waitFor();
    expect(await row.locator(".state .shape").count()).toBe(1);
    await row.getByText(/^1[01] min/).waitFor();
  });

  test("leads from the running jobs to one of them, and to all of them", async (context) => {
    await using work = await startPublishing("The summer edition");
    await using watched = await stage.page(context, ["viewer"]);
    const { page } = watched;
    await watched.show("overview");

    await panelOf(page, "Running")
      .getByRole("row", { name: /act\.publish/ })
      .click();
    await page.getByRole("heading", { level: 1, name: /act\.publish/ }).waitFor();
    expect(page.url()).toContain(work.id);
    await watched.show("overview");
    await page.getByRole("link", { name: "All running jobs" }).click();

    await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
    await page
      .getByRole("row", { name: /act\.publish/ })
      .filter({ hasText: work.id.slice(-6) })
      .waitFor();
    expect(decodeURIComponent(page.url())).toContain("jobs?q=state:running");
  });

  test("moves no row under the pointer when the order changes", async (context) => {
    const { mill } = stage.scene;
    await using watched = await stage.page(context, ["viewer"]);
    const { page } = watched;
    await watched.show("overview?range=1h");
    const types = page.getByRole("region", { name: /^Types of the last/ });
    const quiet = types.getByRole("row", { name: /scene\.parent/ });
    const busy = types.getByRole("row", { name: /rush/ });
    await quiet.hover();
    const before = await quiet.boundingBox();

    const rush = defineJob({ type: "a.rush" }).run(() => {});
    const worker = mill.work({ jobs: [rush], signals: false });
    await worker.ready;
    const jobs = await mill.enqueueMany(Array.from({ length: 40 }, () => rush.of()));
    for (const job of jobs) await mill.wait(job);
    await worker.stop();
    await busy.waitFor({ timeout: 40_000 });

    expect(await quiet.boundingBox()).toEqual(before);
    expect(await types.getByRole("row").last().textContent()).toContain("a.rush");
    await page.mouse.move(0, 0);
    await expect.poll(() => types.getByRole("row").nth(1).textContent()).toContain("a.rush");
  });

  test("leads from a step of a chart to the jobs of the step", async (context) => {
    await using watched = await stage.page(context, ["viewer"]);
    const { page } = watched;
    await watched.show("overview?range=15m");
    const chart = panelOf(page, "Throughput").locator(".u-over");
    const { width, height } = (await chart.boundingBox())!;

    // The jobs of the scene were created within the last minutes.
    for (const fromRight of [2, width / 14, width / 7]) {
      await watched.show("overview?range=15m");
      await chart.click({ position: { x: width - fromRight, y: height / 2 } });
      await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
      expect(decodeURIComponent(page.url())).toMatch(/created>2.*Z.created<2.*Z/);
      await page.locator("main .skeleton").first().waitFor({ state: "detached" });
      expect(await page.getByText("The list was not read").count()).toBe(0);
      if ((await page.locator("tbody tr").count()) > 0) return;
    }
    throw new Error("no step has a job");
  });

  test("is accessible in both themes and fits into 320 pixels while jobs run", async (context) => {
    await using _ = await startPublishing("An edition with a long name ".repeat(20));
    await using watched = await stage.page(context, undefined, { reducedMotion: "reduce" });
    const { page } = watched;
    await page.clock.setSystemTime(Date.now() + 11 * MINUTE);
    await watched.show("overview");
    await panelOf(page, "Running").getByText("Slow", { exact: true }).waitFor();

    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 1440, height: 900 });
      await watched.picture(`Overview-running-${colorScheme}`);
      const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
      expect(violations.map((each) => each.id)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 800 });
      await watched.picture(`Overview-running-narrow-${colorScheme}`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    }
  });
});

function panelOf(page: Page, title: string) {
  return page.locator("section.panel").filter({ has: page.getByRole("heading", { name: title }) });
}

/** Waits for backlog, throughput and error rate, each with a number that is not 0. */
async function seeFigures(page: Page): Promise<void> {
  const counts = page.getByRole("region", { name: "Counts by state" });
  await counts.getByRole("link", { name: /^[1-9]\d* ?Queued/ }).waitFor();
  await counts.getByRole("link", { name: /^[1-9]\d* ?Running/ }).waitFor();
  const throughput = page.getByRole("table", { name: "Throughput in numbers" });
  await throughput.getByRole("row", { name: /^Ended .*[1-9].*\/min/ }).waitFor();
  await throughput.getByRole("row", { name: /^Failed .*[1-9]\d* %/ }).waitFor();
  const types = page.getByRole("region", { name: /^Types of the last/ });
  await types.getByRole("columnheader", { name: "Error rate" }).waitFor();
  await types.getByRole("row", { name: /scene\.bad.* 100 %/ }).waitFor();
}

/** A job that is in the third of its four units until the scope ends. */
async function startPublishing(title: string) {
  const { mill } = stage.scene;
  const third = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const publish = defineJob({ type: "act.publish", payload: typed<{ title: string }>() });
  const upload = async (key: string): Promise<void> => {
    if (key === "two") throw new NonRetryableError("no such page");
    if (key !== "three") return;
    third.resolve();
    await ended.promise;
  };
  const pages = ["one", "two", "three", "four"];
  const job = publish.phase("upload", (_, ctx) =>
    ctx.each(pages, (key) => key, upload, { concurrency: 1 }),
  );
  const worker = mill.work({ jobs: [job], signals: false });
  await worker.ready;
  const { id } = await mill.enqueue(job, { title });
  await third.promise;
  return {
    id,
    async [Symbol.asyncDispose]() {
      ended.resolve();
      await mill.wait({ id, type: publish.type });
      await worker.stop();
    },
  };
}
