/**
 * One store per address and process, so that hot reloads do not open more and more stores. Each
 * caller gets its own view of the store. Closing a view closes only the view; the store is closed
 * with its last view.
 *
 * The registry is a property of `globalThis`, because a hot reload evaluates this module again. The
 * version of the library is part of the name, because versions do not share stores.
 */
import { isDeepStrictEqual } from "node:util";
import { MillraceError } from "../core/errors.ts";
import type { Preset } from "../core/presets.ts";
import type { JobStore } from "../store/store.ts";
import { wrapStore, type VerbWrapper } from "../store/wrap-store.ts";

/** The options that all callers who share a store have in common. */
export interface SharedOptions {
  readonly tenant: string;
  readonly preset: Preset;
}

export interface SharedRequest {
  /** The version of the library, and the address. */
  readonly name: string;
  readonly make: () => Promise<JobStore>;
  /** The options of this caller. They must not differ from those of the first caller. */
  readonly options: { readonly [Name in keyof SharedOptions]?: SharedOptions[Name] | undefined };
  /** Defaults for the options of the first caller. */
  readonly defaults: SharedOptions;
}

interface Shared {
  readonly opened: Promise<JobStore>;
  readonly options: SharedOptions;
  /** The number of open views. */
  users: number;
}

const KEY = Symbol.for("millrace.instances");

export async function openShared(
  request: SharedRequest,
): Promise<{ readonly store: JobStore; readonly options: SharedOptions }> {
  const { name, make, options, defaults } = request;
  const all = instances();
  const found = all.get(name);
  if (found !== undefined) checkOptions(found.options, options);
  const shared: Shared = found ?? {
    opened: make(),
    options: {
      tenant: options.tenant ?? defaults.tenant,
      preset: options.preset ?? defaults.preset,
    },
    users: 0,
  };
  all.set(name, shared);
  shared.users += 1;
  const forget = (): void => {
    if (all.get(name) === shared) all.delete(name);
  };
  try {
    const store = await shared.opened;
    const release = async (): Promise<void> => {
      shared.users -= 1;
      if (shared.users > 0) return;
      forget();
      await store.close();
    };
    return { store: viewOf(store, release), options: shared.options };
  } catch (error) {
    forget();
    throw error;
  }
}

function instances(): Map<string, Shared> {
  const found: unknown = Reflect.get(globalThis, KEY);
  if (found instanceof Map) return found;
  const made = new Map<string, Shared>();
  Reflect.set(globalThis, KEY, made);
  return made;
}

/** Presets are compared by value, because a hot reload makes new objects. */
function checkOptions(shared: SharedOptions, options: SharedRequest["options"]): void {
  const names: readonly (keyof SharedOptions)[] = ["tenant", "preset"];
  const other = names.find(
    (name) => options[name] !== undefined && !isDeepStrictEqual(options[name], shared[name]),
  );
  if (other === undefined) return;
  throw new MillraceError(
    "OPTION_INVALID",
    `${other}: this process has opened the same database with another ${other}; ` +
      "give the same, leave it out, or close the other mill first",
    { details: { option: other } },
  );
}

/** The store as one caller sees it: open until the caller closes it. */
function viewOf(store: JobStore, release: () => Promise<void>): JobStore {
  let closing: Promise<void> | null = null;
  const whileOpen: VerbWrapper = (call) => (closing === null ? call() : refuse());
  return wrapStore(store, (verb) => (verb === "close" ? () => (closing ??= release()) : whileOpen));
}

function refuse(): Promise<never> {
  return Promise.reject(new MillraceError("STORE_CLOSED", "this mill is closed"));
}
