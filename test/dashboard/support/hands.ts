/** What tests press on the page. */
import type { Locator, Page } from "playwright-core";

/** The dialog that an action has opened. */
export function dialogOf(page: Page): Locator {
  return page.getByRole("dialog");
}

/** Gives a reason where one is asked for, and confirms. */
export async function confirm(page: Page, verb: string, reason?: string): Promise<void> {
  const dialog = dialogOf(page);
  if (reason !== undefined) await dialog.getByLabel("Reason").fill(reason);
  await dialog.getByRole("button", { name: verb, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** Presses the first button of the screen that has this name. */
export async function button(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole("main").getByRole("button", { name }).first().click();
}
