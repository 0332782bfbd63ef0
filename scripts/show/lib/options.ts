/** The command lines of the campaigns: whole numbers with defaults, and `--help`. */
import { parseArgs } from "node:util";

/** Reads `--name value` for each default. Leaves with the usage when asked, or on nonsense. */
export function numbersFrom<const D extends Readonly<Record<string, number>>>(
  program: string,
  defaults: D,
): { [K in keyof D]: number } {
  const names = Object.keys(defaults);
  const usage = `${program} ${names.map((name) => `[--${name} ${defaults[name]}]`).join(" ")}`;
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      ...Object.fromEntries(names.map((name) => [name, { type: "string" } as const])),
    },
  });
  const given: Readonly<Record<string, unknown>> = values;
  if (given["help"] === true) leave(usage, 0);
  const entries = names.map((name) => {
    const number = Number(given[name] ?? defaults[name]);
    if (!Number.isSafeInteger(number) || number < 0) leave(usage, 2);
    return [name, number];
  });
  return Object.fromEntries(entries);
}

function leave(usage: string, code: number): never {
  console.log(`node --conditions=source scripts/show/${usage}`);
  process.exit(code);
}
