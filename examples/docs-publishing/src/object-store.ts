/** A folder as an object store: keys are paths below it, and a write is all or nothing. */
import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, extname, join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Folders } from "./folders.ts";

export interface StoredObject {
  readonly key: string;
  readonly contentHash: string;
  readonly contentType: string;
  readonly size: number;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
};

/** Sorted. Throws if the folder is not there. */
export async function listKeys(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/"))
    .toSorted();
}

export async function readObject(folder: string, key: string): Promise<StoredObject> {
  const file = join(folder, key);
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return {
    key,
    contentHash: hash.digest("hex"),
    contentType: CONTENT_TYPES[extname(key)] ?? "application/octet-stream",
    size: (await stat(file)).size,
  };
}

export async function putFile({ scratch }: Folders, file: string, text: string): Promise<void> {
  await intoPlace(scratch, file, (draft) => writeFile(draft, text));
}

export async function copyObject({ scratch }: Folders, from: string, to: string): Promise<void> {
  await intoPlace(scratch, to, (draft) => copyFile(from, draft));
}

async function intoPlace(
  scratch: string,
  file: string,
  write: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = join(scratch, randomUUID());
  try {
    await write(draft);
    await mkdir(dirname(file), { recursive: true });
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
