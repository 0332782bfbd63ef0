/** Notices a part of a campaign whose filter matches no test: it would pass for ever. */
import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";

const SOME_PASSED = /^\s*Tests\s.*\b[1-9]\d* passed/m;

/** `said`: the end of what the command printed, with the summary of Vitest. */
export function ranNoTest(command: readonly string[], said: string): boolean {
  // A command may begin with `env` and its variables.
  const isVitest = command.some((word) => basename(word) === "vitest");
  return isVitest && !SOME_PASSED.test(stripVTControlCharacters(said));
}
