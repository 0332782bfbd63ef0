/**
 * The store of a client, heard by its own listeners: what it writes waits while a feed that has
 * just begun asks for its place. Another connection would ask, so a write that overtook it would
 * lie before that place.
 */
import type { JobStore } from "../store/store.ts";
import type { Verb } from "../store/verbs.ts";
import { wrapStore, type VerbWrapper } from "../store/wrap-store.ts";

/**
 * Whatever adds to the feed. The heartbeat does not, and must not wait; nor must what is written in
 * a caller's transaction, which may have the connection that the feed needs to find its place.
 */
const TOLD: ReadonlySet<Verb> = new Set<Verb>([
  "enqueue",
  "claim",
  "startPrefetched",
  "settle",
  "record",
  "rescue",
  "cancel",
  "hurry",
  "intervene",
  "resolveDependencies",
  "reprocess",
  "prune",
  "markStale",
  "remove",
]);

/** `beginning` answers null, or what to wait for. It is asked at every call. */
export function feedOrderedStore(store: JobStore, beginning: () => Promise<void> | null): JobStore {
  const afterBeginning: VerbWrapper = (call) => {
    const begun = beginning();
    return begun === null ? call() : begun.then(call);
  };
  return wrapStore(store, (verb) => (TOLD.has(verb) ? afterBeginning : null));
}
