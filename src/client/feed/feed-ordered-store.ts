/**
 * The store of a client whose listeners must see the client's own events. While a new feed reads
 * its start position, writes wait: the feed uses another connection, and an event written before
 * that read would be before the position.
 */
import type { JobStore } from "../../store/store.ts";
import type { Verb } from "../../store/verbs.ts";
import { wrapStore, type VerbWrapper } from "../../store/wrap-store.ts";

/**
 * The verbs that write events. The heartbeat writes none, and must not wait. Writes in a caller's
 * transaction must not wait either: the caller may hold the connection that the feed needs.
 */
const EVENT_VERBS: ReadonlySet<Verb> = new Set<Verb>([
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

/** `beginning` is called before every write; null: there is nothing to wait for. */
export function feedOrderedStore(store: JobStore, beginning: () => Promise<void> | null): JobStore {
  const afterBeginning: VerbWrapper = (call) => {
    const begun = beginning();
    return begun === null ? call() : begun.then(call);
  };
  return wrapStore(store, (verb) => (EVENT_VERBS.has(verb) ? afterBeginning : null));
}
