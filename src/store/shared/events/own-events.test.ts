import { describe, expect, test } from "vitest";
import { completed, completedWithErrors, failedWith } from "../../../../test/support/factories.ts";
import type { ClaimedJob } from "../../types/jobs-and-runs.ts";
import type { EventKind } from "../../types/records.ts";
import { FeedPage, type StoredEvent } from "./feed-page.ts";
import { OwnEvents } from "./own-events.ts";

const STARTED: ReadonlySet<EventKind> = new Set<EventKind>(["job:started"]);
const STARTED_CODE = 2;

describe("the events of this process", () => {
  test("are kept only once a reader has asked", () => {
    const own = new OwnEvents();
    own.claimed([claimed(1)], 100);
    own.asked();
    own.claimed([claimed(2)], 100);

    expect(own.find("job:started", 100, 1)).toBeNull();
    expect(own.find("job:started", 100, 2)).toMatchObject({
      id: "job-2",
      facts: { type: "email", tenant: "acme", state: "running", attempts: 0, finishedAt: null },
    });
  });

  test("are known by job, kind and time", () => {
    const own = asked();
    own.claimed([claimed(1)], 100);

    expect(own.find("job:started", 101, 1)).toBeNull();
    expect(own.find("job:completed", 100, 1)).toBeNull();
    expect(own.find("job:started", 100, 2)).toBeNull();
  });

  test("include the plain success of a first run, and no other end", () => {
    const own = asked();
    own.claimed(
      [1, 2, 3, 4].map((key) => claimed(key)),
      100,
    );
    own.ended(
      [
        { key: 1, settlement: completed() },
        { key: 2, settlement: failedWith() },
        { key: 3, settlement: completedWithErrors(1) },
        { key: 9, settlement: completed() },
      ],
      200,
      199,
    );

    const found = [1, 2, 3, 4, 9].map((key) => own.find("job:completed", 200, key)?.facts);
    expect(found).toEqual([
      expect.objectContaining({ state: "completed", attempts: 1, finishedAt: 199 }),
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["a later run", { n: 2 }],
    ["a successor", { isSuccessor: true }],
  ])("do not include %s, which also ends what is known of the job", (_, part) => {
    const own = asked();
    own.claimed([claimed(1)], 100);
    own.claimed([{ ...claimed(1), ...part }], 200);

    expect(own.find("job:started", 200, 1)).toBeNull();
    expect(own.find("job:started", 100, 1)).toBeNull();
  });

  test("have no start before the job has started", () => {
    const own = asked();
    own.claimed([claimed(1)], null);
    own.ended([{ key: 1, settlement: completed() }], 200);

    expect(own.find("job:started", 100, 1)).toBeNull();
    expect(own.find("job:completed", 200, 1)?.facts).toMatchObject({ state: "completed" });
  });

  test("are forgotten with their job", () => {
    const own = asked();
    own.claimed([claimed(1), claimed(2)], 100);
    own.forget(1);

    expect(own.find("job:started", 100, 1)).toBeNull();
    expect(own.find("job:started", 100, 2)).not.toBeNull();
  });

  test("are bounded in number, and end when the readers have gone", () => {
    const own = asked();
    const claim = (from: number): void =>
      own.claimed(
        Array.from({ length: 1_000 }, (_, index) => claimed(from + index)),
        100,
      );
    const isKept = (key: number): boolean => own.find("job:started", 100, key) !== null;
    for (let from = 0; from < 12_000; from += 1_000) claim(from);
    const kept = [0, 3_999, 11_999].map(isKept);
    for (let from = 12_000; from < 21_000; from += 1_000) claim(from);

    expect(kept).toEqual([false, false, true]);
    expect(own.isWanted).toBe(false);
    expect([11_999, 20_999].map(isKept)).toEqual([false, false]);
  });
});

describe("a page of the feed", () => {
  test("reads nothing about own events", () => {
    const own = asked();
    own.claimed([claimed(1), claimed(2)], 100);
    const page = new FeedPage([row(1, [1, 2, 3])], STARTED, own);

    expect({ unknown: page.unknown, unnamed: page.unnamed }).toEqual({ unknown: [3], unnamed: [] });
    expect(page.entries(new Map(), new Map())).toMatchObject([
      { jobs: ["job-1", "job-2"], places: [0, 1], facts: [{ type: "email" }, { type: "email" }] },
    ]);
  });

  test("has more own events than others", () => {
    const own = asked();
    const rows = [0, 1, 2].map((turn) => row(turn + 1, range(turn * 800, 800)));
    const others = new FeedPage(rows, STARTED, own).entries(new Map(), new Map());
    own.claimed(
      range(0, 2_400).map((key) => claimed(key)),
      100,
    );
    const owned = new FeedPage(rows, STARTED, own).entries(new Map(), new Map());

    expect({ others: others.length, owned: owned.length }).toEqual({ others: 1, owned: 3 });
  });

  test("ends before the first row that is too much, which is not decoded", () => {
    let decoded = 0;
    function* rows(): Generator<StoredEvent> {
      for (let turn = 0; turn < 10; turn += 1) {
        decoded += 1;
        yield row(turn + 1, range(turn * 2_000, 2_000));
      }
    }

    const page = new FeedPage(rows(), STARTED, asked());

    expect({ entries: page.entries(new Map(), new Map()).length, decoded }).toEqual({
      entries: 1,
      decoded: 2,
    });
  });
});

function asked(): OwnEvents {
  const own = new OwnEvents();
  own.asked();
  return own;
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, index) => from + index);
}

function row(position: number, keys: readonly number[]): StoredEvent {
  return { position, kind: STARTED_CODE, at: 100, keys, ids: [], details: null, total: 0 };
}

function claimed(key: number): ClaimedJob {
  return {
    key,
    id: `job-${key}`,
    n: 1,
    tries: 0,
    crashes: 0,
    isSuccessor: false,
    type: "email",
    tenant: "acme",
    lane: "general",
    priority: 0,
    payload: null,
    payloadVersion: null,
    correlationId: "order-7",
    parentId: null,
    timeoutMs: null,
    concurrencyKey: null,
    tags: {},
    createdAt: 0,
    runAt: 0,
    maxAttempts: 1,
    onOrphan: "retry",
    retryOwner: "queue",
  };
}
