/** What all services need; handlers read it as `ctx.deps`. */
import type { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { openDatabase } from "./database.ts";
import { makeFolders, type Folders } from "./folders.ts";

export interface Docs extends Disposable {
  readonly db: DatabaseSync;
  readonly folders: Folders;
  /** Called before each write that the world can see, with what will be written. */
  readonly pace: (what: string) => void | Promise<void>;
}

export function openDocs(root: string, pace: Docs["pace"] = () => {}): Docs {
  const folders = makeFolders(root);
  const db = openDatabase(join(root, "docs.db"));
  return { db, folders, pace, [Symbol.dispose]: () => db.close() };
}
