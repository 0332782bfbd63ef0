/** The CDN, in one function: from its cache, else from where the edition points. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Docs } from "./docs.ts";
import { buildFolder, cacheFolder, editionFolder } from "./folders.ts";
import { putFile } from "./object-store.ts";
import { pointerOf } from "./pointer-mode.ts";
import { getBuild, type Project } from "./records.ts";

/** What a reader of an edition gets. Throws for a page that is not there. */
export async function readPage(
  docs: Docs,
  project: Project,
  place: { readonly slug: string; readonly key: string },
): Promise<string> {
  const { slug, key } = place;
  const cached = join(cacheFolder(docs.folders, project, slug), key);
  const known = await readFile(cached, "utf8").catch(() => null);
  if (known !== null) return known;
  const page = await readFile(join(await originOf(docs, project, slug), key), "utf8");
  await putFile(docs.folders, cached, page);
  return page;
}

async function originOf(docs: Docs, project: Project, slug: string): Promise<string> {
  if (project.org.editionMode === "copy") return editionFolder(docs.folders, project, slug);
  const build = await pointerOf(docs, project, slug);
  if (build === null) throw new Error(`${slug} points to no build`);
  return buildFolder(docs.folders, getBuild(docs.db, build));
}
