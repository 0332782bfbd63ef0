/** Pointer mode: a KV entry says which build an edition shows, and the CDN reads it. */
import { readFile, rm } from "node:fs/promises";
import type { Docs } from "./docs.ts";
import { cacheFolder, pointerFile } from "./folders.ts";
import { putFile } from "./object-store.ts";
import type { Build, Project } from "./records.ts";

/** One edition on its way to a build, in either mode. */
export interface Move {
  readonly slug: string;
  readonly build: Build;
  /** The database says that it was there already: only what is missing has to be done. */
  readonly isRecorded: boolean;
  readonly signal: AbortSignal;
}

/** Answers how much was written. */
export async function pointToBuild(docs: Docs, move: Move): Promise<number> {
  const { slug, build, isRecorded, signal } = move;
  const { project, id } = build;
  if (isRecorded && (await pointerOf(docs, project, slug)) === id) return 0;
  await docs.pace(`${slug} → build ${id}`);
  signal.throwIfAborted();
  await putFile(
    docs.folders,
    pointerFile(docs.folders, project, slug),
    JSON.stringify({ build: id }),
  );
  await purge(docs, project, slug);
  return 1;
}

/** The build that the KV store names; null: none. */
export async function pointerOf(
  { folders }: Pick<Docs, "folders">,
  project: Project,
  slug: string,
): Promise<number | null> {
  try {
    const { build }: { build: number } = JSON.parse(
      await readFile(pointerFile(folders, project, slug), "utf8"),
    );
    return build;
  } catch {
    return null;
  }
}

/** The CDN forgets the edition, and asks anew. */
export async function purge({ folders }: Docs, project: Project, slug: string): Promise<void> {
  await rm(cacheFolder(folders, project, slug), { recursive: true, force: true });
}
