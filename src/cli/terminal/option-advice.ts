/** Suggests the option that an unknown option was meant to be. */
import type { Command, CommanderError } from "commander";
import { plain } from "../../lib/plain-text.ts";

/** Other names of the option --db. */
const DATABASE_WORDS: ReadonlySet<string> = new Set([
  "--database",
  "--database-url",
  "--file",
  "--path",
  "--sqlite",
  "--store",
  "--url",
]);

/** One line of advice, or `null`. */
export function optionAdvice(
  error: CommanderError,
  program: Command,
  args: readonly string[],
): string | null {
  if (error.code !== "commander.unknownOption") return null;
  const [flag = ""] = /--?[\w-]+/.exec(error.message) ?? [];
  const { command, path } = commandAt(program, args);
  // A group of commands takes no options itself; its commands do.
  const verb = command.commands.find((each) => hasOption(each, flag));
  if (verb !== undefined) return `Did you mean: ${path} ${verb.name()} ${plain(flag)} …`;
  if (!DATABASE_WORDS.has(flag)) return null;
  return "Did you mean --db? It takes the URL of the database, such as --db sqlite:./millrace.db";
}

/** The innermost command that the arguments name. */
function commandAt(program: Command, args: readonly string[]): { command: Command; path: string } {
  let command = program;
  let path = program.name();
  for (const word of args) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    path += ` ${next.name()}`;
  }
  return { command, path };
}

function hasOption(command: Command, flag: string): boolean {
  return command.options.some(({ long, short }) => long === flag || short === flag);
}
