/** A browser, a server and a scene, shared by the tests of one file. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { vi, type TestContext } from "vitest";
import { PLACES } from "../../../dashboard/src/api/operations.gen.ts";
import {
  freePort,
  startServer,
  type ServerProcess,
} from "../../../scripts/show/lib/http/server-process.ts";
import type { PersonRole } from "../../../src/api/tokens.ts";
import { defineJob } from "../../../src/index.ts";
import { root, temporaryFolder } from "../../cli/programs.ts";
import { startBrowser } from "../../http/browser.ts";
import { makeScene, type Scene } from "./scene.ts";

/** How long an action may take on a busy machine. */
const ANSWER_MS = 10_000;
/** Screenshots of a run, as artefacts. */
const PICTURES = join(root, "coverage", "dashboard");

/** Every screen with its address. */
export function screensOf(scene: Scene): Readonly<Record<string, string>> {
  return {
    Overview: "overview",
    "Overview of last night": "overview?range=night&sort=-run",
    Jobs: "jobs",
    "Job that failed": `jobs/${scene.failedId}`,
    "Job with units": `jobs/${scene.pipelineId}`,
    "Job that waits": `jobs/${scene.waitingId}`,
    Failures: "failures",
    "Dead letters": "letters",
    "Dead letter": `letters/${scene.failedId}`,
    "Lanes and types": "lanes",
    Type: "lanes/type/scene.good",
    "Type with a form": "lanes/type/scene.form",
    Schedules: "schedules",
    Workers: "workers",
    Breakers: "breakers",
    Correlation: `correlation?id=${encodeURIComponent(scene.correlationId)}`,
    Operations: "operations",
    Tenants: "tenants",
    Audit: "audit",
    Settings: "settings",
    Sheet: "sheet",
  };
}

/** The pages of single things, made for them: a cause, an operation, a worker and so on. */
export async function detailsOf({ mill }: Scene): Promise<Readonly<Record<string, string>>> {
  const [cause] = await mill.failures.list();
  const [breaker] = await mill.breakers.list();
  const worker = mill.work({ jobs: [defineJob({ type: "scene.idle" }).run(() => {})] });
  await worker.ready;
  const [living] = await mill.workers.list();
  const { id } = await mill.operations.start(
    { action: "acknowledge", deadLetters: { type: "scene.bad" } },
    { actor: "ada", reason: "looked at", rate: "1/m", chunk: 1 },
  );
  return {
    Cause: `failures/${cause?.cause}`,
    Operation: `operations/${id}`,
    Tenant: "tenants/acme",
    Schedule: "schedules/stored",
    Worker: `workers/${living?.id}`,
    Breaker: `breakers/${encodeURIComponent(breaker?.service ?? "")}`,
  };
}

/** What opens over a screen: where, and what a person presses. */
export interface Opening {
  readonly name: string;
  readonly path: string;
  readonly open: (page: Page) => Promise<void>;
}

export function dialogsOf(scene: Scene): readonly Opening[] {
  const press = (name: string | RegExp) => (page: Page) =>
    page.getByRole("main").getByRole("button", { name }).first().click();
  return [
    { name: "Help", path: "jobs", open: (page) => page.keyboard.press("?") },
    { name: "Palette", path: "jobs", open: (page) => page.keyboard.press("Control+k") },
    { name: "New schedule", path: "schedules", open: press("New schedule…") },
    { name: "Pause a lane", path: "lanes", open: press("Pause lane general") },
    { name: "Set a limit", path: "lanes", open: press("Set a limit…") },
    { name: "Override", path: "lanes/type/scene.good", open: press("Override…") },
    { name: "New token", path: "settings", open: press("New token…") },
    { name: "Save view", path: "jobs?q=type:scene.bad", open: press("Save view") },
    {
      name: "Bulk preview",
      path: "jobs?q=type:scene.bad",
      async open(page) {
        await page.locator("main tbody input[type=checkbox]").first().check();
        await page.getByRole("button", { name: /matching$/ }).click();
        await page.getByRole("button", { name: /^Retry…/ }).click();
      },
    },
    {
      name: "Edit and reprocess",
      path: `letters/${scene.failedId}`,
      async open(page) {
        await press("Edit")(page);
        await page.getByRole("main").locator("textarea").first().fill(`{"text":"right"}`);
        await press(/^Reprocess with 1 change/)(page);
      },
    },
  ];
}

export class Stage implements AsyncDisposable {
  readonly scene: Scene;
  readonly url: string;
  server: ServerProcess;
  readonly #browser: Browser | string;
  readonly #folder: { readonly path: string; [Symbol.dispose](): void };

  private constructor(parts: {
    scene: Scene;
    url: string;
    server: ServerProcess;
    browser: Browser | string;
    folder: { readonly path: string; [Symbol.dispose](): void };
  }) {
    this.scene = parts.scene;
    this.url = parts.url;
    this.server = parts.server;
    this.#browser = parts.browser;
    this.#folder = parts.folder;
  }

  /** `before` may write to the file what was there before the scene. */
  static async open(before?: (path: string) => Promise<void>): Promise<Stage> {
    const folder = temporaryFolder();
    const path = `${folder.path}/jobs.db`;
    await before?.(path);
    const url = `sqlite:${path}`;
    const scene = await makeScene(url);
    const server = await startServer({ url, port: await freePort(), token: null });
    return new Stage({ scene, url, server, browser: await startBrowser(), folder });
  }

  /** The browser. Skips the test, and prints the reason, only where no browser can start. */
  browserOf(context: Pick<TestContext, "skip">): Browser {
    if (typeof this.#browser === "string") {
      return context.skip(`Chromium cannot start: ${this.#browser}`);
    }
    return this.#browser;
  }

  /** A page that a person with these roles has signed in to. */
  async page(
    context: Pick<TestContext, "skip">,
    roles: readonly PersonRole[] = ["viewer", "operator", "manager", "admin"],
    options: BrowserContextOptions & { readonly tenant?: string } = {},
  ): Promise<WatchedPage> {
    const { tenant, ...how } = options;
    const { secret } = await this.scene.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles,
      ...(tenant === undefined ? {} : { tenant }),
    });
    const page = await (
      await this.browserOf(context).newContext({ locale: "en-GB", ...how })
    ).newPage();
    const watched = new WatchedPage(page, this.server.origin);
    await page.goto(this.server.origin);
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    return watched;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (typeof this.#browser !== "string") await this.#browser.close();
    await this.server[Symbol.asyncDispose]();
    await this.scene.mill.close();
    this.#folder[Symbol.dispose]();
  }
}

/** A page, and what it did that it must not do. */
export class WatchedPage implements AsyncDisposable {
  readonly page: Page;
  readonly origin: string;
  /** Errors of scripts, refusals by the content security policy, requests to other origins. */
  readonly troubles: string[] = [];
  /** The names of calls that change something and were answered well. */
  readonly #done = new Set<string>();

  constructor(page: Page, origin: string) {
    this.page = page;
    this.origin = origin;
    page.on("pageerror", (error) => this.troubles.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) {
        this.troubles.push(message.text());
      }
    });
    page.on("dialog", (dialog) => {
      this.troubles.push(`a dialog of the browser: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (response.ok()) this.#note(response.request().method(), pathname);
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(origin)) this.troubles.push(`asked for ${request.url()}`);
    });
  }

  #note(method: string, pathname: string): void {
    for (const [name, place] of Object.entries(PLACES)) {
      const pattern = new RegExp(`^${place.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      if (method !== "GET" && method === place.method && pattern.test(pathname)) {
        this.#done.add(name);
      }
    }
  }

  /**
   * Waits until the server has done these calls for the page. Each counts once. The test of all
   * actions looks for the names in the files of the tests.
   */
  async answered(...names: readonly (keyof typeof PLACES)[]): Promise<void> {
    await vi.waitFor(() => {
      const missing = names.filter((name) => !this.#done.has(name));
      if (missing.length > 0) throw new Error(`the server has not done ${missing.join(", ")}`);
    }, ANSWER_MS);
    for (const name of names) this.#done.delete(name);
  }

  /** Shows a screen, and waits until its numbers are there. */
  async show(path: string): Promise<void> {
    await this.page.goto(`${this.origin}/#/${path}`);
    await this.page.locator("main h1").first().waitFor();
    // The sheet shows a skeleton as a part.
    if (path !== "sheet") await this.loaded();
  }

  /** Waits until nothing that is shown is being read. */
  async loaded(): Promise<void> {
    await this.page.locator("main .skeleton").first().waitFor({ state: "detached" });
  }

  async picture(name: string): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    const file = `${name.replaceAll(/\W+/g, "-").toLowerCase()}.png`;
    await this.page.screenshot({ path: join(PICTURES, file), fullPage: true });
  }

  /** Whether a hostile text has run. */
  async isPwned(): Promise<boolean> {
    return this.page.evaluate("window.pwned !== undefined");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}
