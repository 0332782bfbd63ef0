import { describe, expect, test } from "vitest";
import { Feed } from "../events/feed.ts";
import type { JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { makeTestClock } from "../testing/test-clock.ts";
import { notFound, type NotFound } from "../jobs/views.ts";
import { untilFinal } from "./waiting.ts";

describe("wait", () => {
  test("misses no end that comes while the feed does not know its place yet", async () => {
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
    const missing: NotFound = (id) => notFound(id, []);
    const final = untilFinal({ store, feed, clock, closing, notFound: missing }, "job");
    await turn();

    // The feed begins behind this.
    state = "completed";
    resolve(7);

    const job: JobRecord = await final;
    expect(job.state).toBe("completed");
  });
});

/** Lets everything happen that needs no clock. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
