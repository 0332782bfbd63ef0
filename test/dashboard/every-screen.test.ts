/** What holds on every screen: accessibility, both themes, 320 pixels, hostile text. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dialogOf } from "./support/hands.ts";
import { writeHostileFields } from "./support/hostile.ts";
import { HOSTILE } from "./support/scene.ts";
import { detailsOf, dialogsOf, screensOf, Stage, type WatchedPage } from "./support/pages.ts";

let stage: Stage;
/** Name and address. */
let screens: readonly (readonly [string, string])[];

beforeAll(async () => {
  stage = await Stage.open();
  screens = Object.entries({ ...screensOf(stage.scene), ...(await detailsOf(stage.scene)) });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const THEMES = ["light", "dark"] as const;
/** A theme changes colours and no markup: what else holds in the first one holds in the other. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

describe("every screen", () => {
  test("is accessible in both themes", async (context) => {
    await using watched = await stage.page(context, undefined, {
      viewport: { width: 1440, height: 900 },
      reducedMotion: "reduce",
    });
    const found: string[] = [];

    for (const [name, path] of screens) {
      await watched.show(path);
      found.push(...(await violationsIn(watched, name)));
    }

    expect(found).toEqual([]);
    expect(watched.troubles).toEqual([]);
  });

  test("is accessible in both themes with each dialog, and at the sign-in", async (context) => {
    await using watched = await stage.page(context, undefined, {
      viewport: { width: 1440, height: 900 },
      reducedMotion: "reduce",
    });
    const found: string[] = [];

    for (const { name, path, open } of dialogsOf(stage.scene)) {
      await watched.show(path);
      await open(watched.page);
      await dialogOf(watched.page).waitFor();
      found.push(...(await violationsIn(watched, name)));
      await watched.page.reload();
    }
    await watched.page.getByRole("button", { name: "Sign out" }).click();
    await watched.page.getByLabel("Token").waitFor();
    found.push(...(await violationsIn(watched, "Sign-in")));

    expect(found).toEqual([]);
    expect(watched.troubles).toEqual([]);
  });

  test("fits into 320 pixels without a sideways scroll", async (context) => {
    await using watched = await stage.page(context, undefined, {
      viewport: { width: 320, height: 800 },
    });
    const wide: string[] = [];

    for (const [name, path] of screens) {
      await watched.show(path);
      wide.push(...(await tooWide(watched, name)));
    }
    for (const { name, path, open } of dialogsOf(stage.scene)) {
      await watched.show(path);
      await open(watched.page);
      await dialogOf(watched.page).waitFor();
      wide.push(...(await tooWide(watched, name)));
      await watched.page.reload();
    }

    expect(wide).toEqual([]);
  });

  test("shows hostile text as text, and runs none of it", async (context) => {
    await using watched = await stage.page(context);
    let shown = "";

    for (const [, path] of screens) {
      await watched.show(path);
      shown += await watched.page.evaluate("document.body.textContent");
      expect(await watched.isPwned()).toBe(false);
      expect(await watched.page.locator("img, iframe, a[href^=javascript]").count()).toBe(0);
    }

    for (const text of HOSTILE) expect(shown).toContain(text);
    expect(watched.troubles).toEqual([]);
  });

  test("shows markup in every written field as text, and runs none", async (context) => {
    const { screens: written, texts } = await writeHostileFields(stage.scene);
    await using watched = await stage.page(context);
    const { page } = watched;
    let shown = "";
    const read = async (): Promise<void> => {
      shown += await page.evaluate("document.documentElement.textContent");
      shown += await page.evaluate(NAMES_AND_TITLES);
      expect(await watched.isPwned()).toBe(false);
      expect(await page.locator("img, iframe, [onmouseover], main script").count()).toBe(0);
    };

    for (const path of written) {
      await watched.show(path);
      await read();
      for (const tab of await page.getByRole("tab").all()) {
        await tab.click();
        await watched.loaded();
        await read();
      }
    }

    // Payloads and results are shown as JSON, in which a quote has a backslash.
    const isShown = (text: string): boolean =>
      shown.includes(text) || shown.includes(JSON.stringify(text).slice(1, -1));
    const missing = [...texts].filter(([, text]) => !isShown(text));
    expect(missing.map(([field]) => field)).toEqual(NOT_SHOWN);
    expect(texts.size).toBeGreaterThanOrEqual(40);
    expect(watched.troubles).toEqual([]);
  });
});

/** The page has no place for the results of single units and for payloads of schedules. */
const NOT_SHOWN = ["unit result", "schedule payload name", "schedule payload"];

/** What is not in the text: values of fields, titles, and names for readers of screens. */
const NAMES_AND_TITLES = `[...document.querySelectorAll("*")].flatMap((each) =>
  [each.title, each.value, each.ariaLabel].filter((text) => typeof text === "string")).join(" ")`;

/** Where it is wider than the window. */
async function tooWide(watched: WatchedPage, name: string): Promise<readonly string[]> {
  await watched.picture(`${name}-narrow`);
  const width: number = await watched.page.evaluate("document.documentElement.scrollWidth");
  return width > 320 ? [`${name}: ${width}`] : [];
}

async function violationsIn(watched: WatchedPage, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const theme of THEMES) {
    await watched.page.emulateMedia({ colorScheme: theme });
    await watched.picture(`${name}-${theme}`);
    for (const { id, nodes } of await violationsOf(watched.page, theme)) {
      const places = nodes.map(({ target }) => target.join(" ")).join(", ");
      found.push(`${name}, ${theme}: ${id}: ${places}`);
    }
  }
  return found;
}

async function violationsOf(page: Page, theme: (typeof THEMES)[number]) {
  // The page has no frames of other origins, for which axe would open another page each time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (theme === "light" ? axe : axe.withRules(COLOUR_RULES)).analyze();
  return violations;
}
