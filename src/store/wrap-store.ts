/** A store whose verbs go through a function of the caller: it waits, counts, refuses or fails. */
import type { JobStore } from "./store.ts";
import { VERBS, type Verb } from "./verbs.ts";

/** Stands around one verb: calls the store, now, later or not at all, and answers for the verb. */
export type Around = (call: () => Promise<any>, args: readonly any[]) => Promise<unknown>;

type Other = Partial<Pick<JobStore, "thread" | "watch" | "onWarning">>;

/**
 * The same store with `aroundOf(verb)` around each verb. Null leaves a verb as it is. `other`
 * replaces members that are no verbs.
 */
export function wrapStore(
  store: JobStore,
  aroundOf: (verb: Verb) => Around | null,
  other: Other = {},
): JobStore {
  const members: JobStore = {
    ...store,
    watch: (listener) => store.watch(listener),
    onWarning: (listener) => store.onWarning?.(listener),
    ...other,
  };
  for (const verb of VERBS)
    Object.assign(members, { [verb]: wrapped(store, verb, aroundOf(verb)) });
  return members;
}

function wrapped(
  store: JobStore,
  verb: Verb,
  around: Around | null,
): (...args: readonly unknown[]) => Promise<unknown> {
  // The verb is looked up at each call: a test may have replaced it in the store.
  const call = (args: readonly unknown[]): Promise<unknown> =>
    Reflect.apply(store[verb], store, args);
  if (around === null) return (...args) => call(args);
  return (...args) => around(() => call(args), args);
}
