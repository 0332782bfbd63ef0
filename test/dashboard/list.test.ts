/** What the list of jobs tells about each row, from one read of the list. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { Stage } from "./support/pages.ts";

const good = defineJob({ type: "scene.good", payload: typed<{ text: string }>() });
let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

test("a held job is told apart from a queued one, with what holds it back", async (context) => {
  await using watched = await stage.page(context);
  const { page } = watched;
  const { mill, waitingId } = stage.scene;
  await mill.pause({ tenant: "acme" }, "unpaid");
  const later = await mill.enqueue(good, { text: "later" }, { tenant: "acme" });
  const perRow: string[] = [];
  page.on("request", (request) => {
    if (/\/api\/v1\/jobs\/\w/.test(request.url())) perRow.push(request.url());
  });

  await watched.show("jobs?q=state:queued");
  const rowOf = (id: string) => page.getByRole("row").filter({ hasText: id.slice(-6) });
  for (const [id, reason] of [
    [waitingId, /service bank .* is paused, or its breaker is open/],
    [later.id, "Held: tenant acme is paused"],
  ] as const) {
    await rowOf(id).getByText("Held", { exact: true }).waitFor();
    expect(await rowOf(id).locator(".state .shape.st-held").count()).toBe(1);
    await rowOf(id).getByText(reason).waitFor();
  }
  const queued = page.getByRole("row").filter({ hasText: "Queued" });
  expect(await queued.locator(".state .shape.st-queued").count()).toBe(1);
  expect(perRow).toEqual([]);
});

test.for([
  ["overview", "main .lane"],
  ["jobs", "main tbody tr"],
])("a cold page of %s is a few files, of 120 kB in all", async ([screen, sign], context) => {
  await using watched = await stage.page(context);
  const page = await watched.page.context().newPage();
  const files: Promise<number>[] = [];
  const calls: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.includes("/api/")) calls.push(pathname);
    else files.push(response.body().then((body) => gzipSync(body).length));
  });

  await page.goto(`${watched.origin}/#/${screen}`);
  await page
    .locator(sign ?? "")
    .first()
    .waitFor();
  const sizes = await Promise.all(files);

  // Document, style, frame, icon, the screen, and what screens share; the overview has charts.
  expect(sizes.length).toBeLessThanOrEqual(screen === "jobs" ? 6 : 7);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
  expect(calls.length).toBeLessThanOrEqual(screen === "jobs" ? 10 : 16);
});

test("columns with a path of the payload are chosen, kept and shared", async (context) => {
  const { mill } = stage.scene;
  const nested = defineJob({ type: "list.nested", payload: typed<{ order: { total: number } }>() });
  await mill.enqueue(nested, { order: { total: 4_711 } }, { delay: "1h" });
  await using watched = await stage.page(context);
  const { page } = watched;
  const heads = (): Promise<string[]> => page.locator("main thead th").allTextContents();
  await watched.show("jobs?q=type:list.nested");
  const usual = await heads();

  await page.getByText("Columns", { exact: false }).first().click();
  await page.getByLabel("Add a path of the payload").fill("payload.order.total");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Move payload.order.total forward" }).click();
  await page.getByRole("row").getByText("4711").waitFor();

  const chosen = await heads();
  expect(chosen).toHaveLength(usual.length + 1);
  expect(chosen.at(-2)).toContain("order.total");
  const address = page.url();
  await page.reload();
  await page.getByRole("row").getByText("4711").waitFor();
  expect(await heads()).toEqual(chosen);
  // The address alone carries the columns to another person, whose browser has kept nothing.
  await using other = await stage.page(context);
  await other.page.goto(address);
  await other.page.getByRole("row").getByText("4711").waitFor();
  expect(await other.page.locator("main thead th").allTextContents()).toEqual(chosen);
});
