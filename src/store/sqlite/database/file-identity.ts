/**
 * OperatorWarnings that the database file was deleted or replaced. SQLite goes on writing into the
 * file that nobody can open any more: everything acknowledged since would be lost.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "../../../core/clock.ts";
import { MillraceError } from "../../../core/errors.ts";

const CHECK_MS = 1_000;

/** Answers a check that throws once the file at `path` is no longer the one that is there now. */
export function identityCheck(path: string, clock: Pick<Clock, "monotonic">): () => void {
  if (path === ":memory:") return () => {};
  // The process may change its folder.
  const file = resolve(path);
  const opened = identity(file);
  let lookedAt = clock.monotonic();
  let isGone = false;
  return () => {
    const now = clock.monotonic();
    if (!isGone && now - lookedAt < CHECK_MS) return;
    lookedAt = now;
    isGone = identity(file) !== opened;
    if (isGone) {
      const message = `${path} was deleted or replaced while it was open: nothing is written`;
      throw new MillraceError("STORE_FAILED", message, { details: { path } });
    }
  };
}

/** Which file lies at a path, whatever it is called; null when there is none. */
export function identity(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}.${stat.ino}`;
}
