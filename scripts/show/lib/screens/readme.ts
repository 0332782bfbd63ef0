/** The pictures of the README: three screens, of one size, the first rows alone. */
import type { Browser } from "playwright-core";
import { root } from "../../../lib/command.ts";
import type { ShownJobs } from "./operator.ts";
import { showScreen, signIn, type Look, type Shown } from "./walk.ts";

export interface ReadmePicture {
  readonly name: string;
  readonly look: Look;
  readonly address: (jobs: ShownJobs) => string;
}

/** Stacks name files of this machine; a reader has another one. */
const APPLICATION = "/app/";

export const README_PICTURES: readonly ReadmePicture[] = [
  {
    name: "overview",
    look: { theme: "light", width: 1_360, height: 930 },
    address: () => "overview",
  },
  {
    name: "job",
    look: { theme: "light", width: 1_280, height: 720 },
    address: ({ pipeline }) => `jobs/${pipeline}`,
  },
  {
    name: "dead-letter",
    look: { theme: "dark", width: 1_280, height: 720 },
    address: ({ failed }) => `letters/${failed}`,
  },
];

export async function takeReadmePicture(
  browser: Browser,
  shown: Shown,
  { look, address }: ReadmePicture,
  file: string,
): Promise<void> {
  const page = await signIn(browser, look, shown);
  await showScreen(page, address(shown.jobs));
  await page.evaluate(hidePaths(root));
  await page.screenshot({ path: file });
  await page.context().close();
}

/** Runs in the page: the folder of the repository becomes that of an application. */
function hidePaths(folder: string): string {
  return `
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { currentNode: text } = texts;
      text.data = text.data.replaceAll(${JSON.stringify(folder)}, ${JSON.stringify(APPLICATION)});
    }`;
}
