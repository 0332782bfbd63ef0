/**
 * Six tasks of an operator, performed with the page alone in Chromium: clicks, keys and seconds.
 *
 *     npm run build && node --conditions=source scripts/show/tasks.ts
 *
 * Each task begins on the overview. A click on a link or a button counts once, and so does a key;
 * keys that only modify another one do not count, and a text that is pasted is one key. The
 * seconds are those of the page and of the machine: a person also reads.
 */
import type { Page } from "playwright-core";
import { liveLastNight } from "../../test/dashboard/support/night.ts";
import { Stage } from "../../test/dashboard/support/pages.ts";
import { TASKS } from "../../test/dashboard/support/tasks.ts";
import { table } from "../lib/table.ts";

/** Runs in the page, before its own scripts. */
const COUNT = `
  const isModifier = (key) => ["Control", "Shift", "Alt", "Meta"].includes(key);
  addEventListener("click", (event) => event.detail > 0 && counted("clicks"), true);
  addEventListener("keydown", ({ key }) => isModifier(key) || counted("keys"), true);
  addEventListener("input", ({ data }) => (data ?? "").length > 1 && counted("keys"), true);`;

type Counts = Record<"clicks" | "keys", number>;

await using stage = await Stage.open(liveLastNight);
const { page } = await stage.page({
  skip(reason?: string | boolean): never {
    throw new Error(String(reason));
  },
});
const counts = await countIn(page);
const lines: string[][] = [];
for (const { name, prepare, perform } of TASKS) {
  await prepare(stage.scene);
  await page.goto(`${stage.server.origin}/#/overview`);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  counts.clicks = counts.keys = 0;
  const begin = performance.now();
  await perform(page, stage.scene);
  const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
  lines.push([name, String(counts.clicks), String(counts.keys), seconds]);
}
for (const line of table(["task", "clicks", "keys", "seconds"], lines)) console.log(line);

async function countIn(watched: Page): Promise<Counts> {
  const counted: Counts = { clicks: 0, keys: 0 };
  await watched.exposeFunction("counted", (kind: keyof Counts) => (counted[kind] += 1));
  await watched.addInitScript(COUNT);
  return counted;
}
