/** Imports a file of the user: its jobs, or its configuration. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { loadFailure } from "./load-failure.ts";
import { shownPath } from "../terminal/shown-path.ts";

/** Returns the exports of the file. */
export async function importUserModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new CommandFailure(`There is no file ${shownPath(path)}.`, {
      hint: "Check the name of the file and the working directory.",
      exitCode: EXIT.usage,
    });
  }
  try {
    const exported: Record<string, unknown> = await import(pathToFileURL(path).href);
    return exported;
  } catch (error) {
    throw loadFailure(error, path);
  }
}
