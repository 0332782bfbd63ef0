/** Events of a job and acts of people about it, read as one history on the page of the job. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { Stage, type WatchedPage } from "./support/pages.ts";

const later = defineJob({ type: "act.later", payload: typed<{ n: number }>() });
/** How long the page may take to show what has happened. */
const WAIT = { timeout: 10_000 };
let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("the history of a job", () => {
  test("is one list of events and acts by time, as they are stored (C-28)", async (context) => {
    const { mill } = stage.scene;
    const { id } = await mill.enqueue(later, { n: 1 }, { delay: "1h" });
    await using watched = await stage.page(context, ["viewer", "operator"]);
    const { page } = watched;
    await showHistory(watched, id);
    await expect.poll(() => shown(page), WAIT).toEqual(["Event job:enqueued"]);

    await mill.jobs.setPriority(id, "high", { actor: "ada", reason: "the customer waits" });
    await mill.jobs.cancel(id, "paid twice", { actor: "bob" });

    await expect
      .poll(() => shown(page), WAIT)
      .toEqual([
        "Event job:enqueued",
        "Act job_prioritised",
        "Act job_cancel_requested",
        "Event job:cancelled",
      ]);
    const acts = page.getByRole("list", { name: "History" }).getByRole("listitem");
    expect(await acts.nth(1).textContent()).toContain("by ada: the customer waits");
    expect(await acts.nth(2).textContent()).toContain("by bob: paid twice");
    const entries = await mill.audit.list({ subject: { kind: "job", name: id } });
    expect(entries.map(({ name }) => name)).toEqual(["job_cancel_requested", "job_prioritised"]);
  });

  test("has what people did with the dead letter of the job", async (context) => {
    const { mill } = stage.scene;
    const id = await failedJob();
    await mill.deadLetters.acknowledge(id, { actor: "ada", notes: "seen" });
    await using watched = await stage.page(context, ["viewer", "operator"]);

    await showHistory(watched, id);

    await expect
      .poll(() => shown(watched.page), WAIT)
      .toEqual([
        "Event job:enqueued",
        "Event job:started",
        "Event job:failed",
        "Act job_dlq_acknowledged",
      ]);
  });

  test("shows a viewer events, and of the acts only its own", async (context) => {
    const { mill } = stage.scene;
    const { id } = await mill.enqueue(later, { n: 2 }, { delay: "1h" });
    await mill.jobs.setPriority(id, "high", { actor: "bob" });
    await mill.jobs.setPriority(id, "low", { actor: "ada" });
    await using watched = await stage.page(context, ["viewer"]);

    await showHistory(watched, id);

    await expect
      .poll(() => shown(watched.page), WAIT)
      .toEqual(["Event job:enqueued", "Act job_prioritised"]);
    await watched.page.getByText("by ada, without a reason").waitFor();
  });

  test("is accessible in both themes and fits into 320 pixels", async (context) => {
    const { mill } = stage.scene;
    const { id } = await mill.enqueue(later, { n: 3 }, { delay: "1h" });
    await mill.jobs.cancel(id, "a long reason ".repeat(100), { actor: "ada" });
    await using watched = await stage.page(context, undefined, { reducedMotion: "reduce" });
    const { page } = watched;
    await showHistory(watched, id);
    await page.getByText("job_cancel_requested").waitFor();

    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 1440, height: 900 });
      await watched.picture(`History-${colorScheme}`);
      const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
      expect(violations.map((each) => each.id)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 800 });
      await watched.picture(`History-narrow-${colorScheme}`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    }
  });
});

async function showHistory(watched: WatchedPage, id: string): Promise<void> {
  await watched.show(`jobs/${id}`);
  await watched.page.getByRole("tab", { name: "History" }).click();
}

/** The marks and names of the list. */
async function shown(page: Page): Promise<readonly string[]> {
  const items = await page
    .getByRole("list", { name: "History" })
    .getByRole("listitem")
    .locator(".tag, .event")
    .allTextContents();
  return items.flatMap((text, index) => (index % 2 === 0 ? [`${text} ${items[index + 1]}`] : []));
}

async function failedJob(): Promise<string> {
  const { mill } = stage.scene;
  const bad = defineJob({ type: "act.history", maxAttempts: 1 }).run(() => {
    throw new NonRetryableError("the ledger is closed");
  });
  await using worker = mill.work({ jobs: [bad], signals: false });
  await worker.ready;
  const job = await mill.enqueue(bad);
  await mill.wait(job);
  return job.id;
}
