/** Wraps the verbs of a store in functions that may delay, count, refuse or fail a call. */
import type { JobStore } from "./store.ts";
import { VERBS, type Verb } from "./verbs.ts";

/** Wraps one verb. It may call the store now, later or not at all; its answer is the answer. */
export type VerbWrapper = (call: () => Promise<any>, args: readonly any[]) => Promise<unknown>;

type Other = Partial<Pick<JobStore, "thread" | "watch" | "onWarning">>;

/**
 * The same store with each verb wrapped in `wrapperOf(verb)`; null leaves a verb unwrapped.
 * `other` replaces members that are not verbs.
 */
export function wrapStore(
  store: JobStore,
  wrapperOf: (verb: Verb) => VerbWrapper | null,
  other: Other = {},
): JobStore {
  const members: JobStore = {
    ...store,
    watch: (listener) => store.watch(listener),
    onWarning: (listener) => store.onWarning?.(listener),
    ...other,
  };
  for (const verb of VERBS)
    Object.assign(members, { [verb]: wrapped(store, verb, wrapperOf(verb)) });
  return members;
}

function wrapped(
  store: JobStore,
  verb: Verb,
  wrapper: VerbWrapper | null,
): (...args: readonly unknown[]) => Promise<unknown> {
  // Read at each call, because a test may replace a verb of the store.
  const call = (args: readonly unknown[]): Promise<unknown> =>
    Reflect.apply(store[verb], store, args);
  if (wrapper === null) return (...args) => call(args);
  return (...args) => wrapper(() => call(args), args);
}
