/** A real Chromium, from npm and without a download of its own. */
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

/** The first two let pages do what browsers of users do not; with the last, a context ends all. */
const UNWANTED = new Set([
  "--disable-web-security",
  "--allow-running-insecure-content",
  "--single-process",
]);
const START_MS_MAX = 30_000;

/** The browser, or the reason why it cannot start on this machine. */
export async function startBrowser(): Promise<Browser | string> {
  try {
    return await playwright.launch({
      executablePath: await chromium.executablePath(),
      args: chromium.args.filter((argument) => !UNWANTED.has(argument)),
      headless: true,
      timeout: START_MS_MAX,
    });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
