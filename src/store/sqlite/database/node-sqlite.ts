/**
 * SQLite of Node, loaded when this module runs. A static import would fail on an old Node before
 * any module could name the releases that will do.
 */
import { createRequire } from "node:module";
import type * as sqlite from "node:sqlite";

const loaded: typeof sqlite = createRequire(import.meta.url)("node:sqlite");

export const DatabaseSync: typeof sqlite.DatabaseSync = loaded.DatabaseSync;
export const backup: typeof sqlite.backup = loaded.backup;
export type DatabaseSync = sqlite.DatabaseSync;
