import { relative } from "node:path";

/** A path as people write it: from the folder in which they are, if it is in there. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}
