import { describe, expect, test } from "vitest";
import { jobFacts } from "../../../test/support/factories.ts";
import type { EventKind, FeedEntry } from "../../store/types/records.ts";
import type { JobStore } from "../../store/store.ts";
import { Feed } from "../../events/feed.ts";
import { systemClock } from "../../lib/system.ts";
import { eventsFrom } from "./events.ts";

describe("mill.on", () => {
  test("tells in its order what happened to a job, across events as well", async () => {
    const kinds: readonly EventKind[] = ["job:enqueued", "job:started", "job:completed"];
    const { feed, wake } = feedOf(
      kinds.map((kind, index): FeedEntry => {
        return { position: index + 1, kind, at: 0, jobs: ["job"], places: [0], details: null };
      }),
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: string[] = [];
    for (const kind of ["job:completed", "job:started", "job:enqueued"] as const) {
      const hear = (): void => {
        heard.push(kind);
        if (heard.length === kinds.length) resolve();
      };
      eventsFrom(feed, kind, hear, () => {});
    }

    wake();
    await promise;
    feed.close();

    expect(heard).toEqual(kinds);
  });

  test.each([
    { registered: ["job:completed", "job:progress"] },
    { registered: ["job:progress", "job:completed"] },
  ] as const)(
    "tells the last progress of a job before its end, if $registered are registered in this order",
    async ({ registered }) => {
      const { feed, wake } = feedOf([
        {
          position: 1,
          kind: "job:completed",
          at: 0,
          jobs: ["a", "b"],
          places: [0, 1],
          details: null,
          facts: [
            { ...jobFacts("email"), overall: 50 },
            { ...jobFacts("email"), overall: 60 },
          ],
        },
      ]);
      const { promise, resolve } = Promise.withResolvers<void>();
      const heard: string[] = [];
      for (const kind of registered) {
        const hear = ({ id }: { readonly id: string }): void => {
          heard.push(`${kind} ${id}`);
          if (heard.length === 4) resolve();
        };
        eventsFrom(feed, kind, hear, () => {});
      }

      wake();
      await promise;
      feed.close();

      expect(heard).toEqual([
        "job:progress a",
        "job:progress b",
        "job:completed a",
        "job:completed b",
      ]);
    },
  );

  test("tells each job what was found of it, and of one that is gone only the id", async () => {
    const { feed, wake } = feedOf([
      {
        position: 1,
        kind: "job:enqueued",
        at: 0,
        jobs: ["a", "gone", "b"],
        places: [0, 1, 2],
        details: null,
        facts: [jobFacts("email"), null, jobFacts("report")],
      },
    ]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: unknown[] = [];
    const hear = (event: unknown): void => {
      heard.push(event);
      if (heard.length === 3) resolve();
    };
    eventsFrom(feed, "job:enqueued", hear, () => {});

    wake();
    await promise;
    feed.close();

    expect(heard).toEqual([
      { id: "a", type: "email" },
      { id: "gone", type: "" },
      { id: "b", type: "report" },
    ]);
  });

  test("tells of a removed job the id alone, whether or not the feed has more", async () => {
    const deleted = { kind: "job:deleted", at: 0, places: [0] } as const;
    const detail = JSON.stringify({ type: "email", tenant: "acme", correlationId: "order-7" });
    const { feed, wake } = feedOf([
      { ...deleted, position: 1, jobs: ["new"], details: [detail] },
      { ...deleted, position: 2, jobs: ["old"], details: null },
    ]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const heard: unknown[] = [];
    const hear = (event: unknown): void => {
      heard.push(event);
      if (heard.length === 2) resolve();
    };
    eventsFrom(feed, "job:deleted", hear, () => {});

    wake();
    await promise;
    feed.close();

    expect(heard).toEqual([{ id: "new" }, { id: "old" }]);
  });

  test("refuses an event that there is not, and says which was probably meant", () => {
    const { feed } = feedOf([]);
    const misspelt: any = "job:complete";

    expect(() =>
      eventsFrom(
        feed,
        misspelt,
        () => {},
        () => {},
      ),
    ).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining('did you mean "job:completed"?'),
      }),
    );
  });

  test("refuses what is no function to be called", () => {
    const { feed } = feedOf([]);
    const missing: any = undefined;

    expect(() => eventsFrom(feed, "job:completed", missing, () => {})).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining("listener must be a function"),
      }),
    );
  });
});

/** A feed that brings all entries in one read, as of jobs that another process has run. */
function feedOf(entries: readonly FeedEntry[]): { feed: Feed; wake: () => void } {
  let wake = (): void => {};
  const store: Pick<JobStore, "feed" | "feedEnd" | "watch"> = {
    feedEnd: () => Promise.resolve(0),
    feed: (position) => Promise.resolve(entries.slice(position)),
    watch: (listener) => {
      wake = () => listener("events");
      return () => {};
    },
  };
  return { feed: new Feed(store, systemClock, () => {}), wake: () => wake() };
}
