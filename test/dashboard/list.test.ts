/** What the list of jobs tells about each row, from one read of the list. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineJob, typed } from "../../src/index.ts";
import { Stage } from "./pages.ts";

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

test("the first page of jobs is a few files, of 120 kB in all", async (context) => {
  await using watched = await stage.page(context);
  const page = await watched.page.context().newPage();
  const files: Promise<number>[] = [];
  const calls: string[] = [];
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.includes("/api/")) calls.push(pathname);
    else files.push(response.body().then((body) => gzipSync(body).length));
  });

  await page.goto(`${watched.origin}/#/jobs`);
  await page.locator("main tbody tr").first().waitFor();
  const sizes = await Promise.all(files);

  // The document, its style and frame, the icon, the screen, and what screens share.
  expect(sizes.length).toBeLessThanOrEqual(6);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120_000);
  expect(calls.length).toBeLessThanOrEqual(10);
});
