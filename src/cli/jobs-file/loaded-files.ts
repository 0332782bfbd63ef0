/** Which files of a user's project are loaded, whoever imports them. */
import { registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The library itself, from source or built. */
const OWN_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Calls `tell` once with the path of every file that is loaded from now on, before it is read, so
 * that a file with a mistake in it is told as well. What is installed does not count.
 */
export function tellLoadedFiles(tell: (path: string) => void): void {
  const told = new Set<string>();
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith("file:") ? fileURLToPath(url) : null;
      if (path !== null && isOfUser(path) && !told.has(path)) {
        told.add(path);
        tell(path);
      }
      return nextLoad(url, context);
    },
  });
}

function isOfUser(path: string): boolean {
  return !path.startsWith(OWN_FOLDER) && !path.includes(`${sep}node_modules${sep}`);
}
