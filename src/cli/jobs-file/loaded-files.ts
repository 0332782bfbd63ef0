/** Reports the files of a user's project that are loaded. */
import { registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The library itself, from source or built. */
const OWN_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Calls `report` once with the path of every file that is loaded from now on, before the file is
 * read, so that a file with a mistake is reported too. Files in node_modules are left out.
 */
export function reportLoadedFiles(report: (path: string) => void): void {
  const reported = new Set<string>();
  registerHooks({
    load(url, context, nextLoad) {
      const path = url.startsWith("file:") ? fileURLToPath(url) : null;
      if (path !== null && isOfUser(path) && !reported.has(path)) {
        reported.add(path);
        report(path);
      }
      return nextLoad(url, context);
    },
  });
}

function isOfUser(path: string): boolean {
  return !path.startsWith(OWN_FOLDER) && !path.includes(`${sep}node_modules${sep}`);
}
