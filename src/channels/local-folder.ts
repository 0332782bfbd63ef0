/** Deletes files of one folder, and no others. */
import { lstat, realpath, unlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { NonRetryableError } from "../core/errors.ts";
import { propertyOf } from "../core/fault.ts";
import { shown } from "../core/text.ts";

/** There is no such file: its folder is missing, or is a file. */
const MISSING: readonly unknown[] = ["ENOENT", "ENOTDIR"];
/** No file can have this path, now or later. */
const UNUSABLE: readonly unknown[] = ["ENAMETOOLONG", "ELOOP"];

/**
 * Deletes the file at a path within the folder. Answers false if there is no such file. The folder
 * of the file is checked by its real path, and a symbolic link is never deleted nor followed.
 */
export async function deleteInFolder(folder: string, path: string): Promise<boolean> {
  const wrong = problemOf(path);
  if (wrong !== null) throw new NonRetryableError(`the path ${shown(path)} ${wrong}`);
  const root = await realpath(folder);
  try {
    const parent = await realpath(dirname(join(root, path)));
    if (!isWithin(root, parent)) {
      throw new NonRetryableError(`the path ${shown(path)} leads out of the folder`);
    }
    const file = join(parent, basename(path));
    if (!(await lstat(file)).isFile()) {
      throw new NonRetryableError(`the path ${shown(path)} is no file`);
    }
    await unlink(file);
    return true;
  } catch (error) {
    const code = propertyOf(error, "code");
    if (MISSING.includes(code)) return false;
    if (!UNUSABLE.includes(code)) throw error;
    const problem = code === "ELOOP" ? "leads in a circle" : "is longer than a path can be";
    throw new NonRetryableError(`the path ${shown(path)} ${problem}`, { cause: error });
  }
}

/** What the text of a path shows by itself; null: nothing. */
function problemOf(path: string): string | null {
  if (path === "" || path.includes("\0")) return "cannot be read";
  if (isAbsolute(path) || /^[A-Za-z]:|\\/.test(path)) return "is not relative, with / in between";
  const parts = path.split("/");
  return parts.some((part) => part === ".." || part === "." || part === "")
    ? "has an empty part, . or .."
    : null;
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (!isAbsolute(way) && way !== ".." && !way.startsWith(`..${sep}`));
}
