import { expect, test } from "vitest";
import type { EventKind, FeedEntry, JobStore } from "../store/store.ts";
import { Feed } from "../events/feed.ts";
import { systemClock } from "../lib/system.ts";
import { eventsFrom } from "./events.ts";

test("mill.on tells in its order what happened to a job, across events as well", async () => {
  const kinds: readonly EventKind[] = ["job:enqueued", "job:started", "job:completed"];
  const entries = kinds.map((kind, index): FeedEntry => {
    return { position: index + 1, kind, at: 0, jobs: ["job"], details: null };
  });
  let wake = (): void => {};
  const { promise, resolve } = Promise.withResolvers<void>();
  const store: Pick<JobStore, "feed" | "feedEnd" | "watch" | "get"> = {
    feedEnd: () => Promise.resolve(0),
    // All in one read, as of a job that another process has run.
    feed: (position) => Promise.resolve(entries.slice(position)),
    watch: (listener) => {
      wake = () => listener("news");
      return () => {};
    },
    // What an event says is looked up, and that takes its time.
    get: () => new Promise((found) => setImmediate(() => found(null))),
  };
  const feed = new Feed(store, systemClock, () => {});
  const heard: string[] = [];
  for (const kind of ["job:completed", "job:started", "job:enqueued"] as const) {
    eventsFrom(
      feed,
      store,
      kind,
      () => {
        heard.push(kind);
        if (heard.length === kinds.length) resolve();
      },
      () => {},
    );
  }

  wake();
  await promise;
  feed.close();

  expect(heard).toEqual(kinds);
});
