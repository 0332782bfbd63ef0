/** Imports a file of the user's: its jobs, or its configuration. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { EXIT, Failure } from "./exit-codes.ts";
import { loadFailure } from "./load-failure.ts";
import { shownPath } from "./shown-path.ts";

/**
 * Answers what the file exports. With `edition`, a number that has not been used before, the file
 * is read again although Node has it in its cache.
 */
export async function importUserModule(
  file: string,
  edition = 0,
): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Failure(`There is no file ${shownPath(path)}.`, {
      hint: "Check its name, and the folder in which you are.",
      exitCode: EXIT.usage,
    });
  }
  const url = pathToFileURL(path);
  if (edition > 0) url.search = `edition=${edition}`;
  try {
    const exported: Record<string, unknown> = await import(url.href);
    return exported;
  } catch (error) {
    throw loadFailure(error, path);
  }
}
