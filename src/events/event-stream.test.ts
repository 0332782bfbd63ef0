import { describe, expect, test } from "vitest";
import { virtualClock } from "../../test/support/virtual-clock.ts";
import type { FeedEntry } from "../store/types/records.ts";
import { eventStream } from "./event-stream.ts";
import { FeedPages } from "./feed-pages.ts";

type FeedStore = ConstructorParameters<typeof FeedPages>[0];

const ENTRIES = 20_000;

describe("a stream of events", () => {
  test("says how far it has come when its filter matches nothing for long", async () => {
    const stream = streamOf(storeWith(ENTRIES), "0");
    const reader = stream.getReader();

    const { value } = await reader.read();
    await reader.cancel();

    expect(value?.type).toBe("ping");
    expect(Number(value?.id)).toBeGreaterThan(1_000);
    expect(Number(value?.id)).toBeLessThan(ENTRIES);
  });

  test("leaves nothing behind when the store fails", async () => {
    let watchers = 0;
    const store = {
      ...storeWith(1),
      feedEnd: () => Promise.reject(new Error("lost")),
      watch: () => {
        watchers += 1;
        return () => (watchers -= 1);
      },
    };

    await expect(streamOf(store, null).getReader().read()).rejects.toThrow("lost");

    expect(watchers).toBe(0);
  });
});

function streamOf(store: FeedStore, after: "0" | null): ReturnType<typeof eventStream> {
  return eventStream({
    pages: new FeedPages(store, virtualClock(), () => {}),
    pingMs: 15_000,
    after: after === null ? null : { position: 0, index: Infinity, place: 0 },
    snapshot: null,
    matches: () => false,
    closing: new AbortController().signal,
  });
}

function storeWith(count: number): FeedStore {
  return {
    feed: async (position, limit) =>
      Array.from({ length: Math.min(limit, count - position) }, (_, index) =>
        entryAt(position + index + 1),
      ),
    feedEnd: async () => count,
    feedStart: async () => 0,
    watch: () => () => {},
  };
}

function entryAt(position: number): FeedEntry {
  const jobs = [`job ${position}`];
  return { position, kind: "job:stale", at: 0, jobs, places: [0], details: null };
}
