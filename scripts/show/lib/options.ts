/** The command lines of the campaigns: whole numbers with defaults, a store, and `--help`. */
import { parseArgs } from "node:util";

export type StoreKind = "sqlite" | "postgres";

const STORES: readonly StoreKind[] = ["sqlite", "postgres"];

type Numbers<D> = { [K in keyof D]: number };

/** Reads `--name value` for each default. Leaves with the usage when asked, or on nonsense. */
export function numbersFrom<const D extends Readonly<Record<string, number>>>(
  program: string,
  defaults: D,
): Numbers<D> {
  return numbersIn(argumentsOf(program, defaults), defaults);
}

/** The same, with `--store sqlite` or `--store postgres`; without it, one after the other. */
export function numbersAndStores<const D extends Readonly<Record<string, number>>>(
  program: string,
  defaults: D,
): Numbers<D> & { readonly stores: readonly StoreKind[] } {
  const given = argumentsOf(`${program} [--store sqlite|postgres]`, defaults, ["store"]);
  const store = given.values["store"];
  const stores = STORES.filter((kind) => store === undefined || store === kind);
  if (stores.length === 0) leave(given.usage, 2);
  return { ...numbersIn(given, defaults), stores };
}

interface Arguments {
  readonly usage: string;
  readonly values: Readonly<Record<string, unknown>>;
}

function argumentsOf(
  program: string,
  defaults: Readonly<Record<string, number>>,
  words: readonly string[] = [],
): Arguments {
  const names = Object.keys(defaults);
  const usage = [program, ...names.map((name) => `[--${name} ${defaults[name]}]`)].join(" ");
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      ...Object.fromEntries(
        [...names, ...words].map((name) => [name, { type: "string" } as const]),
      ),
    },
  });
  const given: Arguments["values"] = values;
  if (given["help"] === true) leave(usage, 0);
  return { usage, values: given };
}

function numbersIn<const D extends Readonly<Record<string, number>>>(
  { usage, values }: Arguments,
  defaults: D,
): Numbers<D> {
  const entries = Object.keys(defaults).map((name) => {
    const number = Number(values[name] ?? defaults[name]);
    if (!Number.isSafeInteger(number) || number < 0) leave(usage, 2);
    return [name, number];
  });
  return Object.fromEntries(entries);
}

function leave(usage: string, code: number): never {
  console.log(`node --conditions=source scripts/show/${usage}`);
  process.exit(code);
}
