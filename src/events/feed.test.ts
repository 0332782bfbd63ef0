import { describe, expect, test } from "vitest";
import { makeTestClock } from "../testing/test-clock.ts";
import type { FeedEntry, JobStore } from "../store/store.ts";
import { Feed } from "./feed.ts";

/** A store that is nothing but its feed. */
class FeedStore {
  readonly entries: FeedEntry[] = [];
  /** How often the end of the feed cannot be told. */
  failures = 0;
  /** What a read waits for. */
  pace: Promise<void> = Promise.resolve();
  wake = (): void => {};

  append(...jobs: string[]): void {
    const position = this.entries.length + 1;
    this.entries.push({ position, kind: "job:enqueued", at: 0, jobs, details: null });
    this.wake();
  }

  readonly port: Pick<JobStore, "feed" | "feedEnd" | "watch"> = {
    feedEnd: async () => {
      if (this.failures === 0) return this.entries.length;
      this.failures -= 1;
      throw new Error("busy");
    },
    feed: async (position) => {
      await this.pace;
      return this.entries.slice(position);
    },
    watch: (listener) => {
      this.wake = () => listener("news");
      return () => {
        this.wake = () => {};
      };
    },
  };
}

function makeFeed() {
  const store = new FeedStore();
  const clock = makeTestClock();
  const errors: unknown[] = [];
  const feed = new Feed(store.port, clock, (error) => errors.push(error));
  return { store, clock, errors, feed };
}

describe("the feed", () => {
  test("whose end could not be told asks again, and hears what comes then", async () => {
    const { store, clock, errors, feed } = makeFeed();
    const heard: string[] = [];
    store.failures = 2;
    feed.listen(({ jobs }) => void heard.push(...jobs));
    await turn();

    store.append("missed");
    await turn();
    expect(errors).toHaveLength(1);
    await clock.move(1_000, turn);
    store.append("heard");
    await turn();

    expect(heard).toEqual(["heard"]);
    expect(errors).toHaveLength(1);
  });

  test("tells a new listener nothing of what an older read brings", async () => {
    const { store, feed } = makeFeed();
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: string[] = [];
    const end = feed.listen(() => {});
    await turn();
    store.pace = promise;
    store.append("before");
    await turn();
    end();

    feed.listen(({ jobs }) => void heard.push(...jobs));
    await turn();
    store.append("after");
    resolve();
    await turn();

    expect(heard).toEqual(["after"]);
  });

  test("tells an entry when everybody has heard the one before", async () => {
    const { store, feed } = makeFeed();
    const heard: string[] = [];
    feed.listen(async ({ jobs }) => {
      await turn();
      heard.push(`slow ${jobs.join()}`);
    });
    feed.listen(({ jobs }) => void heard.push(`quick ${jobs.join()}`));
    await turn();

    store.append("a");
    store.append("b");
    for (let turns = 0; turns < 5; turns += 1) await turn();

    expect(heard).toEqual(["slow a", "quick a", "slow b", "quick b"]);
  });

  test("tells again what could not be heard, and passes over what never can be", async () => {
    const { store, clock, errors, feed } = makeFeed();
    const heard: string[] = [];
    let failures = 2;
    feed.listen(async ({ jobs }) => {
      if (jobs[0] === "hopeless") throw new Error("unreadable");
      if (failures === 0) return void heard.push(...jobs);
      failures -= 1;
      throw new Error("busy");
    });
    await turn();

    store.append("a");
    store.append("hopeless");
    store.append("b");
    for (let seconds = 0; seconds < 8; seconds += 1) await clock.move(1_000, turn);

    expect(heard).toEqual(["a", "b"]);
    expect(errors.map(String)).toEqual([
      ...Array<string>(2).fill("Error: busy"),
      ...Array<string>(5).fill("Error: unreadable"),
    ]);
  });
});

/** Lets everything happen that needs no clock. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
