/**
 * The store of a client, heard by its own listeners: what it writes waits while a feed that has
 * just begun asks for its place. Another connection would ask, so a write that overtook it would
 * lie before that place.
 */
import type { JobStore } from "../store/store.ts";

/**
 * Whatever adds to the feed. The heartbeat does not, and must not wait; nor must what is written in
 * a caller's transaction, which may have the connection that the feed needs to find its place.
 */
const TOLD: ReadonlySet<PropertyKey> = new Set<keyof JobStore>([
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
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      const place = TOLD.has(name) ? beginning() : null;
      if (place === null) return member.bind(target);
      return async (...args: readonly unknown[]): Promise<unknown> => {
        await place;
        return Reflect.apply(member, target, args);
      };
    },
  });
}
