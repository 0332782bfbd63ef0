import { describe, expect, test } from "vitest";
import { Feed } from "../events/feed.ts";
import type { EventKind, FeedEntry, JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { makeTestClock } from "../testing/test-clock.ts";
import { notFound, type NotFound } from "../jobs/views.ts";
import { untilFinal } from "./waiting.ts";

describe("wait", () => {
  test("finds a job that ends before the feed knows its position", async () => {
    const clock = makeTestClock();
    const { promise, resolve } = Promise.withResolvers<number>();
    const ports: Pick<JobStore, "feed" | "feedEnd" | "watch"> = {
      feedEnd: () => promise,
      feed: async () => [],
      watch: () => () => {},
    };
    let state = "running";
    const store: any = { get: async () => ({ id: "job", state }) };
    const feed = new Feed(ports, clock, () => {});
    const closing = new AbortController().signal;
    const final = untilFinal({ store, feed, clock, closing, notFound: missing }, "job");
    await turn();

    // The feed starts after this.
    state = "completed";
    resolve(7);

    const job: JobRecord = await final;
    expect(job.state).toBe("completed");
  });

  test("reads the job only before its events and at the final one", async () => {
    const walk: readonly EventKind[] = [
      "job:enqueued",
      "job:started",
      "job:progress",
      "job:phase:completed",
      "job:retrying",
      "job:started",
      "job:completed",
    ];
    const clock = makeTestClock();
    const entries: FeedEntry[] = [];
    let wake = (): void => {};
    const feedStore: Pick<JobStore, "feed" | "feedEnd" | "watch"> = {
      feedEnd: async () => 0,
      feed: async (after) => entries.filter(({ position }) => position > after),
      watch: (listener) => {
        wake = () => listener("events");
        return () => {};
      },
    };
    let reads = 0;
    const isOver = (): boolean => entries.at(-1)?.kind === "job:completed";
    const get = async (): Promise<object> => {
      reads += 1;
      return { id: "job", state: isOver() ? "completed" : "running" };
    };
    const store: any = { get };
    const feed = new Feed(feedStore, clock, () => {});
    const closing = new AbortController().signal;
    const final = untilFinal({ store, feed, clock, closing, notFound: missing }, "job");
    await turn();

    for (const [index, kind] of walk.entries()) {
      entries.push({ position: index + 1, kind, at: 0, jobs: ["job"], details: null });
      wake();
      await turn();
    }

    expect((await final).state).toBe("completed");
    expect(reads).toBe(2);
  });
});

const missing: NotFound = (id) => notFound(id, []);

/** Lets everything happen that needs no clock. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
