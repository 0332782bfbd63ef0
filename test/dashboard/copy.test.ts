/** Copies over plain HTTP, where browsers have no clipboard. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { button, dialogOf } from "./support/hands.ts";
import { Stage } from "./support/pages.ts";

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** As over plain HTTP; what the browser copies is kept for the test. */
const WITHOUT_CLIPBOARD = `
  Object.defineProperty(navigator, "clipboard", { value: undefined });
  document.addEventListener("copy", () => (window.copied = getSelection().toString() ||
    document.activeElement.value));
`;

describe("without a clipboard", () => {
  test("the secret of a token is copied out of its dialog", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await page.evaluate(WITHOUT_CLIPBOARD);
    await watched.show("settings");
    await button(page, "New token…");
    await dialogOf(page).getByLabel("Name").fill("plain");
    await dialogOf(page).getByRole("button", { name: "Make 1 token" }).click();
    const secret = await dialogOf(page).locator("code, pre").first().textContent();

    await dialogOf(page).getByRole("button", { name: /^Copy/ }).first().click();

    expect(secret).toMatch(/^mr_/);
    expect(await page.evaluate("window.copied")).toBe(secret?.trim());
    expect(await page.locator("textarea.sr").count()).toBe(0);
  });

  test("an id is copied on a page without a dialog", async (context) => {
    await using watched = await stage.page(context);
    const { page } = watched;
    await page.evaluate(WITHOUT_CLIPBOARD);
    await watched.show(`jobs/${stage.scene.failedId}`);

    await page.keyboard.press("y");

    await page.getByText("Copied the id").waitFor();
    expect(await page.evaluate("window.copied")).toBe(stage.scene.failedId);
  });
});
