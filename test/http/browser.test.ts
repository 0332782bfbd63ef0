/** The server in a real browser: the one-time link, and EventSource across a restart. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import {
  freePort,
  startServer,
  type ServerProcess,
} from "../../scripts/show/lib/http/server-process.ts";
import { until } from "../../scripts/show/lib/until.ts";
import { defineJob, openMillrace } from "../../src/index.ts";
import { temporaryFolder } from "../cli/programs.ts";
import { startBrowser } from "./browser.ts";

const ARRIVAL_MS_MAX = 20_000;

/** What the page has heard, in the order of arrival. */
interface Heard {
  readonly id: string;
  readonly percent: number;
}

let started: Browser | string = "not started";

beforeAll(async () => {
  started = await startBrowser();
});

afterAll(async () => {
  if (typeof started !== "string") await started.close();
});

describe("a browser", () => {
  test("follows a job by EventSource across a restart, without gap or repeat", async (context) => {
    const browser = browserOf(context);
    using folder = temporaryFolder();
    const url = `sqlite:${folder.path}/jobs.db`;
    const port = await freePort();
    let server = await startServer({ url, port, token: null });
    await using mill = await openMillrace(url);
    const steps = steppedJob();
    await using worker = mill.work({ jobs: [steps.job], signals: false });
    await worker.ready;
    const { id } = await mill.enqueue(steps.job);
    const page = await signedIn(browser, server);
    await followJob(page, id);
    await until("the page is connected", ARRIVAL_MS_MAX, async () => (await stateOf(page)) === 1);

    await steps.upTo(3);
    await heardUpTo(page, 3);
    server = await restartedBetween(server, { url, port }, () => steps.upTo(6));
    await heardUpTo(page, 6);
    await steps.upTo(8);
    await heardUpTo(page, 8);
    steps.end();
    await until("the page has the end", ARRIVAL_MS_MAX, () => page.evaluate("window.isDone"));

    const heard = await heardBy(page);
    const opens: number = await page.evaluate("window.opens");
    await page.context().close();
    server.kill("SIGKILL");
    await server.ended;
    // The last one is derived from the end of the job.
    expect(heard.map(({ percent }) => percent)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 100]);
    expect(new Set(heard.map((one) => one.id)).size).toBe(heard.length);
    expect(opens).toBe(2);
  });
});

/** Skips the test, and prints the reason, only where no browser can start. */
function browserOf(context: TestContext): Browser {
  if (typeof started === "string") return context.skip(`Chromium cannot start: ${started}`);
  return started;
}

/** A job that reports progress when the test says so. */
function steppedJob() {
  let wanted = 0;
  let done = 0;
  const ending = new AbortController();
  const job = defineJob({ type: "stepped" }).run(async (_, ctx) => {
    while (!ending.signal.aborted) {
      if (done < wanted) await ctx.progress((done += 1) * 10);
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
  });
  return {
    job,
    upTo: async (step: number) => {
      wanted = step;
      await until(`step ${step} is done`, ARRIVAL_MS_MAX, () => done === step);
    },
    end: () => ending.abort(),
  };
}

/** Longer than the time in which progress events are combined. */
const STEP_MS = 300;

async function signedIn(browser: Browser, server: ServerProcess): Promise<Page> {
  const page = await (await browser.newContext({ locale: "en-GB" })).newPage();
  await page.goto(server.link);
  await page.locator('h1:has-text("Overview")').waitFor();
  return page;
}

/** The page gets a stream token with its session, and opens an EventSource with it. */
async function followJob(page: Page, id: string): Promise<void> {
  await page.evaluate(`(async () => {
    const response = await fetch("api/v1/jobs/${id}/stream-token", { method: "POST" });
    const { path } = await response.json();
    window.heard = [];
    window.opens = 0;
    window.isDone = false;
    window.events = new EventSource(path);
    window.events.onopen = () => { window.opens += 1; };
    window.events.addEventListener("job:progress", ({ data, lastEventId }) => {
      window.heard.push({ id: lastEventId, percent: JSON.parse(data).data.percent });
    });
    window.events.addEventListener("job:completed", () => { window.isDone = true; });
  })()`);
}

async function stateOf(page: Page): Promise<number> {
  return page.evaluate("window.events.readyState");
}

async function heardBy(page: Page): Promise<readonly Heard[]> {
  return page.evaluate("window.heard");
}

async function heardUpTo(page: Page, step: number): Promise<void> {
  await until(`the page hears step ${step}`, ARRIVAL_MS_MAX, async () =>
    (await heardBy(page)).some(({ percent }) => percent === step * 10),
  );
}

/** Kills the server, and starts another one on the same port. */
async function restartedBetween(
  server: ServerProcess,
  { url, port }: { readonly url: string; readonly port: number },
  meanwhile: () => Promise<void>,
): Promise<ServerProcess> {
  server.kill("SIGKILL");
  await server.ended;
  await meanwhile();
  return startServer({ url, port, token: null });
}
