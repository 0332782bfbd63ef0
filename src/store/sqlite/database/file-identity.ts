/**
 * Detects that the database file was deleted or replaced. SQLite would continue to write into the
 * deleted file, and every write acknowledged since would be lost.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";

const CHECK_MS = 1_000;

/** Answers a function that throws once the file at `path` is not the same file as now. */
export function identityCheck(path: string, clock: Pick<Clock, "monotonic">): () => void {
  if (path === ":memory:") return () => {};
  // The process may change its working directory.
  const file = resolve(path);
  const opened = identity(file);
  let checkedAt = clock.monotonic();
  let isGone = false;
  return () => {
    const now = clock.monotonic();
    if (!isGone && now - checkedAt < CHECK_MS) return;
    checkedAt = now;
    isGone = identity(file) !== opened;
    if (isGone) {
      const message = `${path} was deleted or replaced while it was open: nothing is written`;
      throw new MillraceError("STORE_FAILED", message, { details: { path } });
    }
  };
}

/** Identifies the file at a path by device and inode; null if there is no file. */
export function identity(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}.${stat.ino}`;
}
