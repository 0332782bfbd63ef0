/** What surrounds the screens: a hidden tab, a path of an application, the licences. */
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHandler, toNodeHandler } from "millrace/http";
import { root } from "../cli/programs.ts";
import { Stage, WatchedPage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a hidden tab", () => {
  test("closes its stream, reads nothing, and goes on when it is shown again", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await page.addInitScript(COUNT_STREAMS);
    await page.reload();
    const isLive = page.getByText("Live", { exact: true }).first();
    await isLive.waitFor();
    expect(await page.evaluate("window.streams")).toEqual({ opened: 1, closed: 0 });

    await setHidden(page, true);
    await page.waitForFunction("window.streams.closed === 1");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    const { mill } = stage.scene;
    await mill.pause({ lane: "hidden" }, "while no person looks");
    await mill.resume({ lane: "hidden" });
    await setHidden(page, false);
    await isLive.waitFor();

    expect(await page.evaluate("window.streams")).toEqual({ opened: 2, closed: 1 });
    expect(asked[0]).toBe("/api/v1/changes");
  });
});

describe("the page under a path of an application", () => {
  test("finds its files, its calls and its streams there", async (context) => {
    const { mill } = stage.scene;
    const handler = createHandler({ mill, basePath: "/jobs", dashboard: true });
    const stray: string[] = [];
    const listener = toNodeHandler(handler);
    const server = createServer((request, response) => {
      if (/^[/]jobs(?:[/?]|$)/.test(request.url ?? "")) return listener(request, response);
      stray.push(request.url ?? "");
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It listens on a port.
    const { port } = server.address() as AddressInfo;
    const origin = `http://127.0.0.1:${port}`;
    const { secret } = await mill.tokens.create({ kind: "person", name: "eve", roles: ["viewer"] });
    const page = await (await stage.browserOf(context).newContext({ locale: "en-GB" })).newPage();
    await using watched = new WatchedPage(page, origin);

    await page.goto(`${origin}/jobs`);
    await page.getByLabel("Token").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("link", { name: /^Jobs/ }).first().click();
    await page.locator("main tbody tr").first().waitFor();
    await page.getByText("Live", { exact: true }).first().waitFor();

    expect(page.url()).toMatch(/^http:[/][/][^/]+[/]jobs[/]#[/]jobs/);
    expect(stray.filter((path) => path !== "/favicon.ico")).toEqual([]);
    expect(watched.troubles).toEqual([]);
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
});

describe("the licences", () => {
  test("of all libraries in the page are in one file, which the settings link", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await watched.show("settings");

    await page.getByRole("link", { name: "Licences of its parts" }).click();
    await page.getByText("The app bundles dependencies").waitFor();
    const shown: string = await page.evaluate("document.body.textContent");

    const unlicensed = bundledLibraries().filter((name) => {
      const at = shown.indexOf(`## ${name} - `);
      return at < 0 || !/Copyright/.test(shown.slice(at, at + 600));
    });
    expect(unlicensed).toEqual([]);
  });
});

/** Tests import the first two; the last is in commands that a person copies. */
const NOT_BUNDLED = new Set(["node", "vitest", "millrace"]);

/** The libraries that the sources of the page import, and those that these bring along. */
function bundledLibraries(): readonly string[] {
  const folder = join(root, "dashboard", "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => /(?<![.]test)[.]tsx?$/.test(file));
  const names = sources.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(/from "((?:@[\w-]+[/])?[a-z][\w-]*)/g),
    ].map(([, name]) => name ?? ""),
  );
  const own = new Set(names.filter((name) => !NOT_BUNDLED.has(name)));
  return [...own, "@preact/signals-core"];
}

const COUNT_STREAMS = `
  window.streams = { opened: 0, closed: 0 };
  window.EventSource = class extends EventSource {
    constructor(...how) {
      super(...how);
      window.streams.opened += 1;
    }
    close() {
      super.close();
      window.streams.closed += 1;
    }
  };`;

/** As a browser tells a tab that another one is in front. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
    document.dispatchEvent(new Event("visibilitychange"));`);
}
