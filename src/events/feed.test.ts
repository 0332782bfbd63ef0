import { describe, expect, test } from "vitest";
import { jobFacts } from "../../test/support/factories.ts";
import { makeTestClock } from "../testing/test-clock.ts";
import type { EventKind, FeedEntry } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { Feed } from "./feed.ts";

const FACTS = jobFacts("job");

/** A store that is nothing but its feed. */
class FeedStore {
  readonly entries: FeedEntry[] = [];
  /** How often the end of the feed cannot be told. */
  failures = 0;
  /** What a read waits for, and what the end of the feed does. */
  pace: Promise<void> = Promise.resolve();
  endPace: Promise<void> = Promise.resolve();
  /** The kinds that each read asked about. */
  readonly asked: ReadonlySet<EventKind>[] = [];
  /** A job whose facts cannot be read. */
  unreadable: string | null = null;
  isAway = false;
  wake = (): void => {};

  append(...jobs: string[]): void {
    const position = this.entries.length + 1;
    const places = [...jobs.keys()];
    this.entries.push({ position, kind: "job:enqueued", at: 0, jobs, places, details: null });
    this.wake();
  }

  readonly port: Pick<JobStore, "feed" | "feedEnd" | "watch"> = {
    feedEnd: async () => {
      await this.endPace;
      if (this.failures === 0) return this.entries.length;
      this.failures -= 1;
      throw new Error("busy");
    },
    feed: async (position, limit, about = new Set()) => {
      this.asked.push(about);
      await this.pace;
      if (this.isAway) throw new Error("away");
      const page = this.entries.slice(position, position + limit);
      if (!about.has("job:enqueued")) return page;
      if (page.some(({ jobs }) => jobs.includes(this.unreadable ?? ""))) {
        throw new Error("unreadable");
      }
      return page.map((entry) => ({ ...entry, facts: entry.jobs.map(() => FACTS) }));
    },
    watch: (listener) => {
      this.wake = () => listener("events");
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
    expect(errors).toHaveLength(2);
    await clock.move(1_000, turn);
    store.append("heard");
    await turn();

    expect(heard).toEqual(["heard"]);
    expect(errors).toHaveLength(2);
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

  test("tells an entry when every listener has heard the one before", async () => {
    const { store, feed } = makeFeed();
    const heard: string[] = [];
    feed.listen(({ jobs }) => void heard.push(`first ${jobs.join()}`));
    feed.listen(({ jobs }) => void heard.push(`second ${jobs.join()}`));
    await turn();

    store.append("a", "b");
    store.append("c");
    await turn();

    expect(heard).toEqual(["first a,b", "second a,b", "first c", "second c"]);
  });

  test("asks the store about the kinds that listeners ask about, and no others", async () => {
    const { store, feed } = makeFeed();
    const end = feed.listen(() => {});
    await turn();
    store.append("a");
    await turn();
    end();
    expect(store.asked.flatMap((kinds) => [...kinds])).toEqual([]);

    feed.listen(() => {});
    feed.listen(() => {}, "job:enqueued");
    await turn();
    store.append("b");
    await turn();

    expect(store.asked.map((kinds) => [...kinds]).slice(-2)).toEqual([
      ["job:enqueued"],
      ["job:enqueued"],
    ]);
  });

  test("reads a page again for a listener that comes meanwhile and asks about it", async () => {
    const { store, feed } = makeFeed();
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: unknown[] = [];
    feed.listen(({ jobs }) => void heard.push(jobs));
    await turn();
    store.pace = promise;
    store.append("a");
    await turn();

    feed.listen(({ facts }) => void heard.push(facts), "job:enqueued");
    resolve();
    await turn();

    expect(heard).toEqual([["a"], [FACTS]]);
  });

  test("tells what could not be read again, and without facts what never can be", async () => {
    const { store, clock, errors, feed } = makeFeed();
    const heard: unknown[] = [];
    feed.listen(({ jobs, facts }) => void heard.push([...jobs, facts?.length]), "job:enqueued");
    await turn();

    store.unreadable = "hopeless";
    store.append("a");
    store.append("hopeless");
    store.append("b");
    for (let seconds = 0; seconds < 8; seconds += 1) await clock.move(1_000, turn);

    expect(heard).toEqual([
      ["a", 1],
      ["hopeless", undefined],
      ["b", 1],
    ]);
    expect(new Set(errors.map(String))).toEqual(new Set(["Error: unreadable"]));
  });

  test("tells nothing without facts because the store was away for long", async () => {
    const { store, clock, feed } = makeFeed();
    const heard: unknown[] = [];
    feed.listen(({ jobs, facts }) => void heard.push([...jobs, facts?.length]), "job:enqueued");
    await turn();

    store.isAway = true;
    store.append("a");
    await clock.move(20_000, turn);
    expect(heard).toEqual([]);
    store.isAway = false;
    await clock.move(1_000, turn);

    expect(heard).toEqual([["a", 1]]);
  });
});

describe("the beginning of the feed", () => {
  test("is over when the store has said where it ends", async () => {
    const { store, feed } = makeFeed();
    const { promise, resolve } = Promise.withResolvers<void>();
    expect(feed.beginning).toBe(null);
    store.endPace = promise;
    feed.listen(() => {});
    await turn();
    expect(feed.beginning).not.toBe(null);

    resolve();
    await turn();

    expect(feed.beginning).toBe(null);
    feed.listen(() => {});
    expect(feed.beginning).toBe(null);
  });

  test("goes on until a store that could not say it does, and says so", async () => {
    const { store, clock, errors, feed } = makeFeed();
    store.failures = 1;

    feed.listen(() => {});
    await turn();
    expect(feed.beginning).not.toBe(null);
    expect(errors).toHaveLength(1);
    await clock.move(200, turn);

    expect(feed.beginning).toBe(null);
  });

  test("is over after five seconds, even if the store does not answer", async () => {
    const { store, clock, feed } = makeFeed();
    store.endPace = new Promise(() => {});
    feed.listen(() => {});

    await clock.move(4_999, turn);
    expect(feed.beginning).not.toBe(null);
    await clock.move(1, turn);

    expect(feed.beginning).toBe(null);
  });
});

/** Lets everything happen that needs no clock. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
