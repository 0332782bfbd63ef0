import { relative } from "node:path";

/** A path relative to the working directory, if it is inside. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}
