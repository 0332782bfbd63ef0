/**
 * Copy mode: an edition is a folder of its own, brought up to date by difference, in an order in
 * which no page ever asks for something that is not there:
 *
 * 1. what pages need is copied, then the pages,
 * 2. pages that the build no longer has are removed, then what only they needed,
 * 3. the CDN forgets the edition.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { rowsOf } from "./database.ts";
import type { Docs } from "./docs.ts";
import { buildFolder, editionFolder } from "./folders.ts";
import { copyObject, listKeys, readObject } from "./object-store.ts";
import { purge, type Move } from "./pointer-mode.ts";

interface Difference {
  readonly toCopy: readonly string[];
  readonly toRemove: readonly string[];
}

/** Answers how many objects were copied or removed. */
export async function copyBuild(docs: Docs, move: Move): Promise<number> {
  const { slug, build, isRecorded, signal } = move;
  const from = buildFolder(docs.folders, build);
  const to = editionFolder(docs.folders, build.project, slug);
  const { toCopy, toRemove } = await differenceOf(docs, build.id, to);
  const writes = toCopy.length + toRemove.length;
  if (writes === 0 && isRecorded) return 0;
  for (const key of toCopy.toSorted(pagesLast)) {
    await docs.pace(`${slug} + ${key}`);
    signal.throwIfAborted();
    await copyObject(docs.folders, join(from, key), join(to, key));
  }
  for (const key of toRemove.toSorted(pagesLast).toReversed()) {
    await docs.pace(`${slug} − ${key}`);
    signal.throwIfAborted();
    await rm(join(to, key), { force: true });
  }
  await purge(docs, build.project, slug);
  return writes;
}

/** The inventory of the build against what really lies in the folder of the edition. */
async function differenceOf(docs: Docs, buildId: number, folder: string): Promise<Difference> {
  const wanted = new Map(
    rowsOf<{ key: string; hash: string }>(
      docs.db,
      "SELECT key, content_hash AS hash FROM BuildObject WHERE build_id = ?",
      buildId,
    ).map(({ key, hash }) => [key, hash]),
  );
  const toCopy = new Set(wanted.keys());
  const toRemove: string[] = [];
  for (const key of await keysIn(folder)) {
    const { contentHash } = await readObject(folder, key);
    if (!wanted.has(key)) toRemove.push(key);
    if (wanted.get(key) === contentHash) toCopy.delete(key);
  }
  return { toCopy: [...toCopy], toRemove };
}

/** An edition that has never been copied has no folder. */
async function keysIn(folder: string): Promise<string[]> {
  try {
    return await listKeys(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function pagesLast(left: string, right: string): number {
  return Number(isPage(left)) - Number(isPage(right)) || (left < right ? -1 : 1);
}

function isPage(key: string): boolean {
  return key.endsWith(".html");
}
