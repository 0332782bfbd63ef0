/** The commands that continue what a command about jobs has begun. */
import type { Command } from "commander";
import { shellWord } from "../../../lib/shell-word.ts";
import { shownUrl } from "../../../lib/url-password.ts";

/** The commands that follow a job again, and explain why it does not run, on the same store. */
export function followCommands(id: string, command: Command): { again: string; explain: string } {
  return {
    again: jobsAgain(`follow ${id}`, command),
    explain: jobsAgain(`explain ${id}`, command),
  };
}

/** A command of `millrace jobs`, on the same store or server. */
export function jobsAgain(words: string, command: Command): string {
  const flags = ["server", "db"].filter((name) => command.getOptionValueSource(name) === "cli");
  const places = flags.map(
    (name) => ` --${name} ${shellWord(shownUrl(String(command.getOptionValue(name))))}`,
  );
  return `millrace jobs ${words}${places.join("")}`;
}
