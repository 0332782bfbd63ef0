/** Walks the screens of a dashboard in a browser, and takes a picture of each. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { ShownJobs } from "./operator.ts";

export interface Look {
  readonly theme: "light" | "dark";
  readonly width: number;
  readonly height: number;
}

/** A server with the jobs of the demo, and the secret of a person who may do everything. */
export interface Shown {
  readonly origin: string;
  readonly secret: string;
  readonly jobs: ShownJobs;
  /** The id of the worker that is alive. */
  readonly worker: string;
}

export const LOOKS: readonly Look[] = [
  { theme: "light", width: 1440, height: 900 },
  { theme: "dark", width: 1440, height: 900 },
  { theme: "light", width: 320, height: 720 },
  { theme: "dark", width: 320, height: 720 },
];

/** Numbers and charts come after the frame of the page. */
const SETTLED_MS = 1_200;

/** Every screen, by the name of its picture. */
export function screensOf({ jobs, worker }: Shown): ReadonlyMap<string, string> {
  return new Map([
    ["overview", "overview"],
    ["overview-yesterday", "overview?range=yesterday&sort=-run"],
    ["jobs", "jobs"],
    ["jobs-failed", "jobs?q=state:failed"],
    ["job-failed", `jobs/${jobs.failed}`],
    ["job-pipeline", `jobs/${jobs.pipeline}`],
    ["job-waiting", `jobs/${jobs.waiting}`],
    ["failures", "failures"],
    ["cause", `failures/${jobs.cause}`],
    ["letters", "letters"],
    ["letter", `letters/${jobs.failed}`],
    ["lanes", "lanes"],
    ["types-by-run", "lanes?range=24h&sort=-run"],
    ["type", "lanes/type/demo.thumbnail"],
    ["schedules", "schedules"],
    ["schedule", "schedules/demo%20digest"],
    ["workers", "workers"],
    ["worker", `workers/${worker}`],
    ["breakers", "breakers"],
    ["breaker", "breakers/ledger"],
    ["correlation", `correlation?id=${encodeURIComponent(jobs.correlation)}`],
    ["operations", "operations"],
    ["operation", `operations/${jobs.operation}`],
    ["tenants", "tenants"],
    ["tenant", "tenants/acme"],
    ["audit", "audit"],
    ["settings", "settings"],
    ["sheet", "sheet"],
  ]);
}

/** Opens a page in this look and signs it in. */
export async function signIn(
  browser: Browser,
  look: Look,
  server: Pick<Shown, "origin" | "secret">,
): Promise<Page> {
  const { theme, width, height } = look;
  const context = await browser.newContext({
    locale: "en-GB",
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(server.origin);
  await page.getByLabel("Token").fill(server.secret);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  return page;
}

/** The whole screen: the window grows, so that bars at its edges stay there. */
export async function takePicture(page: Page, address: string, file: string): Promise<void> {
  const before = page.viewportSize() ?? { width: 1440, height: 900 };
  await showScreen(page, address);
  const height: number = await page.evaluate("document.documentElement.scrollHeight");
  await page.setViewportSize({ ...before, height: Math.max(before.height, height) });
  mkdirSync(join(file, ".."), { recursive: true });
  await page.screenshot({ path: file });
  await page.setViewportSize(before);
}

export async function showScreen(page: Page, address: string): Promise<void> {
  await page.goto(`${new URL(page.url()).origin}/#/${address}`);
  await page.locator("main h1").first().waitFor();
  // No row is under the pointer.
  await page.mouse.move(0, 0);
  await page.waitForTimeout(SETTLED_MS);
}
