import { relative } from "node:path";
import { shownUrl } from "../../lib/url-password.ts";

/**
 * A path relative to the working directory, if it is inside. A URL that was given as a path is
 * shown without its password.
 */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return shownUrl(near === "" || near.startsWith("..") ? path : near);
}
