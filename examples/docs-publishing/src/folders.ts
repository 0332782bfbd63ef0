/** Where things lie: the object store, the KV store, the cache of the CDN, and templates. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Build, Project } from "./records.ts";

export interface Folders {
  readonly objects: string;
  readonly kv: string;
  readonly cache: string;
  /** `<org>/<project>/dashboard.html` before `<org>/dashboard.html` before our own. */
  readonly templates: string;
  /** Files are written here, then renamed into place: no reader ever gets half of one. */
  readonly scratch: string;
}

export function makeFolders(root: string): Folders {
  const folders = {
    objects: join(root, "objects"),
    kv: join(root, "kv"),
    cache: join(root, "cache"),
    templates: join(root, "templates"),
    scratch: join(root, "scratch"),
  };
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  return folders;
}

/** What the world sees of a project: its dashboard, and below it builds and editions. */
export function siteFolder({ objects }: Folders, { org, slug }: Project): string {
  return join(objects, org.slug, slug);
}

export function buildFolder(folders: Folders, { id, project }: Build): string {
  return join(siteFolder(folders, project), "builds", String(id));
}

/** Only in copy mode. */
export function editionFolder(folders: Folders, project: Project, edition: string): string {
  return join(siteFolder(folders, project), "editions", edition);
}

/** Only in pointer mode. */
export function pointerFile({ kv }: Folders, { org, slug }: Project, edition: string): string {
  return join(kv, org.slug, slug, `${edition}.json`);
}

export function cacheFolder({ cache }: Folders, { org, slug }: Project, edition: string): string {
  return join(cache, org.slug, slug, edition);
}
