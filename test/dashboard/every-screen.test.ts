/** What holds on every screen: accessibility, both themes, 320 pixels, hostile text. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTILE } from "./scene.ts";
import { screensOf, Stage } from "./pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
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
    const { page } = watched;
    const found: string[] = [];

    for (const [name, path] of Object.entries(screensOf(stage.scene))) {
      await watched.show(path);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        await watched.picture(`${name}-${theme}`);
        for (const { id, nodes } of await violationsOf(page, theme)) {
          const places = nodes.map(({ target }) => target.join(" ")).join(", ");
          found.push(`${name}, ${theme}: ${id}: ${places}`);
        }
      }
    }

    expect(found).toEqual([]);
    expect(watched.troubles).toEqual([]);
  });

  test("fits into 320 pixels without a sideways scroll", async (context) => {
    await using watched = await stage.page(context, undefined, {
      viewport: { width: 320, height: 800 },
    });
    const wide: string[] = [];

    for (const [name, path] of Object.entries(screensOf(stage.scene))) {
      await watched.show(path);
      await watched.picture(`${name}-narrow`);
      const width: number = await watched.page.evaluate("document.documentElement.scrollWidth");
      if (width > 320) wide.push(`${name}: ${width}`);
    }

    expect(wide).toEqual([]);
  });

  test("shows hostile text as text, and runs none of it", async (context) => {
    await using watched = await stage.page(context);
    let shown = "";

    for (const path of Object.values(screensOf(stage.scene))) {
      await watched.show(path);
      shown += await watched.page.evaluate("document.body.textContent");
      expect(await watched.isPwned()).toBe(false);
      expect(await watched.page.locator("img, iframe, a[href^=javascript]").count()).toBe(0);
    }

    for (const text of HOSTILE) expect(shown).toContain(text);
    expect(watched.troubles).toEqual([]);
  });
});

async function violationsOf(page: Page, theme: (typeof THEMES)[number]) {
  // The page has no frames of other origins, for which axe would open another page each time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  const { violations } = await (theme === "light" ? axe : axe.withRules(COLOUR_RULES)).analyze();
  return violations;
}
