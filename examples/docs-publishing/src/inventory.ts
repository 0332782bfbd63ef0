/** Catalogs the objects of a build: key, content hash, content type, size. */
import { inTransaction } from "./database.ts";
import type { Docs } from "./docs.ts";
import { buildFolder } from "./folders.ts";
import { listKeys, readObject, type StoredObject } from "./object-store.ts";
import type { Build } from "./records.ts";

const STRIDE = 100;

export interface CatalogOptions {
  readonly signal?: AbortSignal;
  /** How far it has come, at the start and after each hundred. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Answers how many there are. A second time it finds the same and changes nothing. */
export async function catalogBuild(
  { db, folders }: Docs,
  build: Build,
  { signal, onProgress }: CatalogOptions = {},
): Promise<{ objects: number; bytes: number }> {
  const folder = buildFolder(folders, build);
  const keys = await listKeys(folder);
  const objects: StoredObject[] = [];
  for (const key of keys) {
    signal?.throwIfAborted();
    if (objects.length % STRIDE === 0) onProgress?.(objects.length, keys.length);
    objects.push(await readObject(folder, key));
  }
  inTransaction(db, () => upsert(db, build.id, objects));
  return { objects: objects.length, bytes: objects.reduce((sum, { size }) => sum + size, 0) };
}

function upsert(db: Docs["db"], buildId: number, objects: readonly StoredObject[]): void {
  const write = db.prepare(
    `INSERT INTO BuildObject (build_id, key, content_hash, content_type, size)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (build_id, key) DO UPDATE SET content_hash = excluded.content_hash,
       content_type = excluded.content_type, size = excluded.size`,
  );
  for (const { key, contentHash, contentType, size } of objects) {
    write.run(buildId, key, contentHash, contentType, size);
  }
  const keys = JSON.stringify(objects.map(({ key }) => key));
  db.prepare(
    "DELETE FROM BuildObject WHERE build_id = ? AND key NOT IN (SELECT value FROM json_each(?))",
  ).run(buildId, keys);
}
