import { describe, expect, test } from "vitest";
import type { JobStore } from "../../store/store.ts";
import { feedOrderedStore } from "./feed-ordered-store.ts";

/** A store that notes which verbs are asked of it. */
function makeStore(): { store: JobStore; asked: PropertyKey[] } {
  const asked: PropertyKey[] = [];
  const store: any = new Proxy(
    {},
    {
      get: (_, verb) => async (): Promise<void> => {
        asked.push(verb);
      },
    },
  );
  return { store, asked };
}

const MAKES_EVENTS: readonly (keyof JobStore)[] = [
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
];

describe("the store of a client whose feed begins", () => {
  test.each(MAKES_EVENTS)("lets %s wait until the feed knows its place", async (verb) => {
    const { store, asked } = makeStore();
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: any = feedOrderedStore(store, () => promise);

    const call = heard[verb]();
    await turn();
    expect(asked).toEqual([]);
    resolve();
    await call;

    expect(asked).toEqual([verb]);
  });

  test("keeps the order of what waits", async () => {
    const { store, asked } = makeStore();
    const { promise, resolve } = Promise.withResolvers<void>();
    let beginning: Promise<void> | null = promise;
    void promise.then(() => (beginning = null));
    const heard: any = feedOrderedStore(store, () => beginning);

    const calls = [heard.enqueue(), heard.cancel()];
    resolve();
    await turn();
    await Promise.all([...calls, heard.settle()]);

    expect(asked).toEqual(["enqueue", "cancel", "settle"]);
  });

  const AT_ONCE = ["get", "feed", "feedEnd", "feedStart", "renew", "close", "enqueueInTransaction"];
  test.each(AT_ONCE)("asks %s at once", async (verb) => {
    const { store, asked } = makeStore();
    const heard: any = feedOrderedStore(store, () => new Promise(() => {}));

    await heard[verb]();

    expect(asked).toEqual([verb]);
  });
});

/** Lets everything happen that needs no clock. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
