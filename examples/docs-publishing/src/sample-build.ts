/** A build as a client uploads it: pages, a style sheet, and one object that is always the same. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Docs } from "./docs.ts";
import { buildFolder } from "./folders.ts";
import { getBuild } from "./records.ts";
import { addBuild } from "./registration.ts";
import { escapeHtml } from "./template.ts";

export async function uploadBuild(
  docs: Docs,
  projectId: number,
  build: { readonly gitRef: string; readonly pages?: number },
): Promise<number> {
  const { gitRef, pages = 3 } = build;
  const id = addBuild(docs.db, projectId, gitRef);
  const folder = buildFolder(docs.folders, getBuild(docs.db, id));
  for (const [key, content] of Object.entries(objectsOf(id, gitRef, pages))) {
    await mkdir(dirname(join(folder, key)), { recursive: true });
    await writeFile(join(folder, key), content);
  }
  return id;
}

function objectsOf(id: number, gitRef: string, pages: number): Record<string, string> {
  const numbers = Array.from({ length: pages }, (_, index) => index + 1);
  const links = numbers.map((n) => `<li><a href="guide/${n}.html">Chapter ${n}</a></li>`);
  const objects: Record<string, string> = {
    "index.html": page("", `Build ${id} of ${gitRef}`, `<ul>${links.join("")}</ul>`),
    "assets/style.css": `body { font-family: sans-serif } /* build ${id} */\n`,
    "assets/logo.svg": '<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>\n',
  };
  for (const n of numbers) {
    objects[`guide/${n}.html`] = page("../", `Chapter ${n}`, `<p>As of ${escapeHtml(gitRef)}.</p>`);
  }
  return objects;
}

function page(up: string, title: string, body: string): string {
  const head = `<meta charset="utf-8"><link rel="stylesheet" href="${up}assets/style.css">`;
  const name = escapeHtml(title);
  return `<!doctype html><title>${name}</title>${head}<h1>${name}</h1>${body}\n`;
}
