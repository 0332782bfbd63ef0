/** What holds on every screen: accessibility, both themes, 320 pixels, hostile text. */
import { AxeBuilder } from "@axe-core/playwright";
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

describe("every screen", () => {
  test.for(["light", "dark"] as const)("is accessible in the %s theme", async (theme, context) => {
    await using watched = await stage.page(context, undefined, {
      colorScheme: theme,
      viewport: { width: 1440, height: 900 },
      reducedMotion: "reduce",
    });
    const found: string[] = [];

    for (const [name, path] of Object.entries(screensOf(stage.scene))) {
      await watched.show(path);
      await watched.picture(`${name}-${theme}`);
      const { violations } = await new AxeBuilder({ page: watched.page }).analyze();
      for (const { id, nodes } of violations) {
        found.push(`${name}: ${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
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
