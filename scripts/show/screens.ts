/**
 * Pictures of the dashboard: every screen, light and dark, wide and narrow, with the jobs of the
 * demo. Three of them are for the README.
 *
 *     node --conditions=source scripts/show/screens.ts [--minutes 70] [--live 40]
 *     node --conditions=source scripts/show/screens.ts --readme 1
 *
 * `--minutes` of the demo are made in virtual time, about a second each; then the demo runs for
 * `--live` seconds. Pictures are written to `coverage/screens/`; with `--readme 1` those of the
 * README alone, to `docs/pictures/`. `npm run build` comes first.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { openMillrace, type Millrace } from "millrace";
import { startBrowser } from "../../test/http/browser.ts";
import { root } from "../lib/command.ts";
import { freePort, startServer } from "./lib/http/server-process.ts";
import { numbersFrom } from "./lib/options.ts";
import { writeHistory } from "./lib/screens/history.ts";
import { actAsOperator } from "./lib/screens/operator.ts";
import { README_PICTURES, takeReadmePicture } from "./lib/screens/readme.ts";
import { LOOKS, screensOf, signIn, takePicture, type Shown } from "./lib/screens/walk.ts";

const options = numbersFrom("screens.ts", { minutes: 70, live: 40, readme: 0, seed: 7 });
/** The memory of the machine, where there is such a folder: each commit waits for the disk. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const PICTURES = join(root, "coverage", "screens");
const README_FOLDER = join(root, "docs", "pictures");
/** The share of the time before the last release. */
const BEFORE = 0.65;

const folder = mkdtempSync(join(FOLDER, "millrace-screens-"));
try {
  await main(join(folder, "demo.db"));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(path: string): Promise<void> {
  const earlier = Math.round(options.minutes * BEFORE);
  const releases = [
    ["2026.11.3", earlier],
    ["2026.11.4", options.minutes - earlier],
  ] as const;
  await writeHistory(path, releases, options.seed);
  const url = `sqlite:${path}`;
  await using mill = await openMillrace(url);
  const jobs = await actAsOperator(mill);
  await using server = await startServer({ url, port: await freePort(), demo: true });
  await sleep(options.live * 1_000);
  const browser = await startBrowser();
  if (typeof browser === "string") throw new Error(`Chromium cannot start: ${browser}`);
  const worker = (await mill.workers.list())[0]?.id ?? "";
  const shown: Shown = { origin: server.origin, secret: await secretOf(mill), jobs, worker };
  try {
    if (options.readme > 0) await takeForReadme(browser, shown);
    else await takeAll(browser, shown);
  } finally {
    await browser.close();
  }
}

async function secretOf(mill: Millrace): Promise<string> {
  const roles = ["viewer", "operator", "manager", "admin"] as const;
  return (await mill.tokens.create({ kind: "person", name: "ada", roles })).secret;
}

async function takeAll(browser: Browser, shown: Shown): Promise<void> {
  for (const look of LOOKS) {
    const page = await signIn(browser, look, shown);
    for (const [name, address] of screensOf(shown)) {
      const file = join(PICTURES, `${name}-${look.theme}-${look.width}.png`);
      await takePicture(page, address, file);
    }
    await page.context().close();
    console.log(`${look.theme}, ${look.width} pixels: ${PICTURES}`);
  }
}

async function takeForReadme(browser: Browser, shown: Shown): Promise<void> {
  mkdirSync(README_FOLDER, { recursive: true });
  for (const picture of README_PICTURES) {
    const file = join(README_FOLDER, `${picture.name}.png`);
    await takeReadmePicture(browser, shown, picture, file);
    console.log(`${file}: ${Math.round(statSync(file).size / 1_000)} kB`);
  }
}
