/** The dashboard and the 404 page of a project, from what the database says of its editions. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Docs } from "./docs.ts";
import { siteFolder } from "./folders.ts";
import { putFile } from "./object-store.ts";
import { listEditions, type Edition, type Project } from "./records.ts";
import { fill, type Values } from "./template.ts";

const OUR_TEMPLATES = join(import.meta.dirname, "templates");
const PAGES = { "index.html": "dashboard.html", "404.html": "404.html" };

/** Answers how many editions it shows: those that have a build. */
export async function renderDashboard(docs: Docs, project: Project): Promise<{ editions: number }> {
  const editions = listEditions(docs.db, project.id).flatMap((each) => shown(project, each));
  const values = {
    title: project.title,
    org: project.org.slug,
    project: project.slug,
    count: String(editions.length),
  };
  for (const [page, template] of Object.entries(PAGES)) {
    const html = fill(await resolveTemplate(docs, project, template), {
      values,
      lists: { editions },
    });
    await putFile(docs.folders, join(siteFolder(docs.folders, project), page), html);
  }
  return { editions: editions.length };
}

function shown({ org }: Project, edition: Edition): Values[] {
  const { slug, build } = edition;
  if (build === null) return [];
  const folder = org.editionMode === "copy" ? `editions/${slug}` : `builds/${build.id}`;
  return [
    {
      slug,
      href: `${encodeURI(folder)}/index.html`,
      tracks: `${edition.trackingMode} ${edition.trackedRef}`,
      build: String(build.id),
      gitRef: build.gitRef,
      updated: edition.dateUpdated ?? "",
    },
  ];
}

/** The project's own template, else that of its organisation, else ours. */
async function resolveTemplate(
  { folders }: Docs,
  { org, slug }: Project,
  name: string,
): Promise<string> {
  const theirs = join(folders.templates, org.slug);
  const places = [join(theirs, slug, name), join(theirs, name), join(OUR_TEMPLATES, name)];
  for (const file of places) {
    const template = await readFile(file, "utf8").catch(() => null);
    if (template !== null) return template;
  }
  throw new Error(`there is no template ${name}`);
}
