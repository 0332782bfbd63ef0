/** `millrace dashboard`: without `--write` no button that the server would refuse is shown. */
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { freePort, startServer } from "../../scripts/show/lib/http/server-process.ts";
import { screensOf, Stage, WatchedPage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** What buttons that change something begin with, in their text or in their label. */
const VERBS = new RegExp(
  "^(" +
    "Acknowledge|Add|Assign|Cancel|Change the|Close intake|Create|Delete|Discard|Drain|" +
    "Edit|Fail|Force|New|Note|Open intake|Override|Pause|Priority|Quiet|Release|Remove|" +
    "Reprocess|Reset|Resume|Retry|Revoke|Run|Save|Set|Snooze|Stop|Take" +
    ")(\\b|…)(?! \\d)",
);

/**
 * The names of all buttons of the screen, without the keys that are drawn on them. Those in the
 * head of a table sort it.
 */
const BUTTON_TEXTS = `[
  ...document.querySelectorAll("main button, main a.btn"),
].filter((button) => button.closest("th") === null).map((button) => {
  const parts = [...button.childNodes].filter(({ nodeName }) => nodeName !== "KBD");
  const text = parts.map(({ textContent }) => textContent).join("").trim();
  return button.getAttribute("aria-label") ?? text;
})`;

/** The page of `millrace dashboard`, opened by the link that the command prints. */
async function openDashboard(context: TestContext, ...flags: readonly string[]) {
  const server = await startServer({
    url: stage.url,
    port: await freePort(),
    token: null,
    command: ["dashboard", ...flags],
  });
  const browser = await stage.browserOf(context).newContext({ locale: "en-GB" });
  const page = await browser.newPage();
  await page.goto(server.link);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const watched = new WatchedPage(page, server.origin);
  return {
    watched,
    [Symbol.asyncDispose]: async () => {
      await watched[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The buttons of all screens that change something, by screen. */
async function verbsOf(watched: WatchedPage): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const [name, path] of Object.entries(screensOf(stage.scene))) {
    // The sheet shows parts, and none of them acts.
    if (name === "Sheet") continue;
    await watched.show(path);
    const texts: readonly string[] = await watched.page.evaluate(BUTTON_TEXTS);
    for (const text of texts) if (VERBS.test(text)) found.add(`${name}: ${text}`);
  }
  return [...found];
}

describe("millrace dashboard", () => {
  test("shows no button that changes something, and refuses what changes", async (context) => {
    await using opened = await openDashboard(context);
    const { watched } = opened;
    const { page, origin } = watched;

    const verbs = await verbsOf(watched);
    const status: number = await page.evaluate(
      `fetch("${origin}/api/v1/jobs/${stage.scene.waitingId}/cancel", {
        method: "POST", headers: { "content-type": "application/json" }, body: "{}",
      }).then(({ status }) => status)`,
    );

    expect(verbs).toEqual([]);
    expect(await page.getByRole("navigation", { name: "Screens" }).textContent()).toContain(
      "Read only",
    );
    expect(status).toBe(404);
    expect((await stage.scene.mill.jobs.get(stage.scene.waitingId)).state).not.toBe("cancelled");
    expect(watched.troubles).toEqual([]);
  });

  test("has the buttons with --write", async (context) => {
    await using opened = await openDashboard(context, "--write");

    const verbs = await verbsOf(opened.watched);

    expect(verbs).toEqual(
      expect.arrayContaining([
        expect.stringMatching("Job that waits: Cancel"),
        expect.stringMatching("Job that failed: Retry"),
        expect.stringMatching("Failures: Discard"),
        expect.stringMatching("Dead letter: Reprocess"),
        expect.stringMatching("Schedules: Run now"),
        expect.stringMatching("Breakers: Reset"),
        expect.stringMatching("Settings: "),
      ]),
    );
  });
});
