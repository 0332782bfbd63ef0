/**
 * One store per address and process, so that a hot reload does not open forty. Everybody who opens
 * it has a view of its own: closing that ends the view, and the last one to close ends the store.
 *
 * The list hangs on `globalThis`, because a module that is evaluated twice must find what it made
 * the first time. Another version of the library may speak otherwise to its stores, so the version
 * is part of the name.
 */
import { isDeepStrictEqual } from "node:util";
import { MillraceError } from "../core/errors.ts";
import type { Preset } from "../core/presets.ts";
import type { JobStore } from "../store/store.ts";
import { wrapStore, type VerbWrapper } from "../store/wrap-store.ts";

/** What holds for everybody who opens the same store. */
export interface Terms {
  readonly tenant: string;
  readonly preset: Preset;
}

export interface SharedRequest {
  /** The version of the library, and the address. */
  readonly name: string;
  readonly make: () => Promise<JobStore>;
  /** What this opener asks for. Another wish than that of the first one is refused. */
  readonly wishes: { readonly [Name in keyof Terms]?: Terms[Name] | undefined };
  /** For the first one, where it does not say. */
  readonly otherwise: Terms;
}

interface Shared {
  readonly opened: Promise<JobStore>;
  readonly terms: Terms;
  /** Who has opened it and not closed it yet. */
  users: number;
}

const KEY = Symbol.for("millrace.instances");

export async function openShared(
  request: SharedRequest,
): Promise<{ readonly store: JobStore; readonly terms: Terms }> {
  const { name, make, wishes, otherwise } = request;
  const all = instances();
  const found = all.get(name);
  if (found !== undefined) checkWishes(found.terms, wishes);
  const shared: Shared = found ?? {
    opened: make(),
    terms: { tenant: wishes.tenant ?? otherwise.tenant, preset: wishes.preset ?? otherwise.preset },
    users: 0,
  };
  all.set(name, shared);
  shared.users += 1;
  const forget = (): void => {
    if (all.get(name) === shared) all.delete(name);
  };
  try {
    const store = await shared.opened;
    const letGo = async (): Promise<void> => {
      shared.users -= 1;
      if (shared.users > 0) return;
      forget();
      await store.close();
    };
    return { store: viewOf(store, letGo), terms: shared.terms };
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

/** Two presets are the same when their numbers are: a module that is evaluated anew has its own. */
function checkWishes(terms: Terms, wishes: SharedRequest["wishes"]): void {
  const names: readonly (keyof Terms)[] = ["tenant", "preset"];
  const other = names.find(
    (name) => wishes[name] !== undefined && !isDeepStrictEqual(wishes[name], terms[name]),
  );
  if (other === undefined) return;
  throw new MillraceError(
    "OPTION_INVALID",
    `${other}: this process has opened the same database with another ${other}; ` +
      "give the same, leave it out, or close the first one before",
    { details: { option: other } },
  );
}

/** The store as one opener sees it: open until that one closes it. */
function viewOf(store: JobStore, letGo: () => Promise<void>): JobStore {
  let closing: Promise<void> | null = null;
  const whileOpen: VerbWrapper = (call) => (closing === null ? call() : refuse());
  return wrapStore(store, (verb) => (verb === "close" ? () => (closing ??= letGo()) : whileOpen));
}

function refuse(): Promise<never> {
  return Promise.reject(new MillraceError("STORE_CLOSED", "this mill is closed"));
}
