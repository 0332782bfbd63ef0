import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { failedWith, newJob, newJobs } from "../../test/support/factories.ts";
import { settleAll, take } from "../../test/support/steps.ts";
import type { EventSubject } from "./entry-events.ts";
import {
  briefly,
  openStreams,
  removeCancelled,
  removeEvents,
  takeMessages,
  turns,
} from "../../test/support/http/streams.ts";

const PING_MS = 15_000;

describe("a stream that continues", () => {
  test("inside an entry skips nothing when a job of the entry was removed", async () => {
    await using scene = await openStreams();
    const jobs = newJobs(4);
    await scene.store.enqueue(jobs);
    const first = scene.open({ after: "0" });
    const [, second] = await takeMessages(first, 2);
    await first.cancel();
    await scene.store.cancel(jobs[0]!.id, null, null);
    await removeCancelled(scene.store);

    const reader = scene.open({ after: second!.id });
    const rest = await takeMessages(reader, 3);
    await reader.cancel();

    expect(rest.map(briefly)).toEqual([
      `job:enqueued ${jobs[2]!.id}`,
      `job:enqueued ${jobs[3]!.id}`,
      `job:deleted ${jobs[0]!.id}`,
    ]);
  });

  test("says reset when the feed no longer reaches back", async () => {
    await using scene = await openStreams();
    await scene.store.enqueue([newJob()]);
    await removeEvents(scene.store);
    const next = newJob();

    const reader = scene.open({ after: "0" });
    const [reset] = await takeMessages(reader, 1);
    await scene.store.enqueue([next]);
    const [message] = await takeMessages(reader, 1);
    await reader.cancel();

    expect(reset).toEqual({ type: "reset", id: "1" });
    expect(briefly(message!)).toBe(`job:enqueued ${next.id}`);
  });

  test("says reset behind the end of the feed, which is of another database", async () => {
    await using scene = await openStreams();
    const next = newJob();

    const reader = scene.open({ after: "500" });
    await turns();
    await scene.store.enqueue([next]);
    const messages = await takeMessages(reader, 2);
    await reader.cancel();

    expect(messages.map(briefly)).toEqual(["reset", `job:enqueued ${next.id}`]);
  });

  test("says reset when events behind a slow reader were removed", async () => {
    await using scene = await openStreams();
    const reader = scene.open();
    await turns();
    await scene.pages.end();
    scene.before = async (verb) => {
      if (verb === "feed") throw new Error("away");
    };
    await scene.store.enqueue([newJob()]);
    await scene.store.enqueue([newJob()]);
    await removeEvents(scene.store);
    await scene.store.enqueue([newJob()]);
    scene.before = async () => {};

    await scene.pass(1_000);
    const [message] = await takeMessages(reader, 1);
    await reader.cancel();

    expect(message).toMatchObject({ type: "reset" });
  });
});

describe("the pings of a stream", () => {
  test("carry the place that was reached", async () => {
    await using scene = await openStreams();
    await scene.store.enqueue([newJob()]);
    const reader = scene.open();
    const ping = reader.read();

    await scene.pass(PING_MS);

    expect((await ping).value).toEqual({ type: "ping", id: "1" });
    await reader.cancel();
  });

  test("come on a busy feed without a match as well", async () => {
    await using scene = await openStreams();
    const reader = scene.open({ matches: () => false });
    const ping = reader.read();

    for (let second = 0; second < 16; second += 1) {
      await scene.store.enqueue([newJob()]);
      await scene.pass(1_000);
    }

    const { value } = await ping;
    await reader.cancel();
    expect(value).toMatchObject({ type: "ping" });
    expect(Number(value?.id)).toBeGreaterThanOrEqual(14);
  });
});

describe("a stream that ends", () => {
  test.each(["cancelled while it waits", "cancelled during a read", "closed"] as const)(
    "and was %s leaves no listener, timer or waiter (001-32)",
    async (how) => {
      await using scene = await openStreams();
      const { promise: answer, resolve } = Promise.withResolvers<void>();
      if (how === "cancelled during a read") scene.before = () => answer;
      const reader = scene.open();
      const read = reader.read();
      await turns();

      if (how === "closed") scene.closing.abort();
      else await reader.cancel();
      resolve();
      await turns();

      expect((await read).done).toBe(true);
      expect({ timers: scene.clock.pending, watchers: scene.watchers() }).toEqual({
        timers: 0,
        watchers: 0,
      });
      expect(getEventListeners(scene.closing.signal, "abort")).toEqual([]);
    },
  );

  test("with an error leaves nothing either", async () => {
    await using scene = await openStreams();
    const reader = scene.open({ snapshot: () => Promise.reject(new Error("no such job")) });

    await expect(reader.read()).rejects.toThrow("no such job");

    expect({ timers: scene.clock.pending, watchers: scene.watchers() }).toEqual({
      timers: 0,
      watchers: 0,
    });
    expect(getEventListeners(scene.closing.signal, "abort")).toEqual([]);
  });
});

describe("a stream during an outage of the store", () => {
  test("goes on where it was, and reports the outage once", async () => {
    await using scene = await openStreams();
    const readers = [scene.open(), scene.open()];
    await turns();
    const job = newJob();
    scene.before = () => Promise.reject(new Error("away"));
    await scene.store.enqueue([job]);
    await scene.pass(9_000);
    const isAwayFor = scene.errors.length;
    scene.before = async () => {};
    await scene.pass(1_000);

    const found = await Promise.all(readers.map((reader) => takeMessages(reader, 1)));
    for (const reader of readers) await reader.cancel();

    expect(isAwayFor).toBe(1);
    const wanted = `job:enqueued ${job.id}`;
    expect(found.flat().map(briefly)).toEqual([wanted, wanted]);
  });

  test("of more than half a minute ends with the error", async () => {
    await using scene = await openStreams();
    await scene.store.enqueue([newJob()]);
    await scene.store.enqueue([newJob()]);
    scene.before = async (verb) => {
      if (verb === "feed") throw new Error("away");
    };
    const reader = scene.open({ after: "1" });
    const read = reader.read();
    read.catch(() => {});

    await scene.pass(35_000);

    await expect(read).rejects.toThrow("away");
    expect({ timers: scene.clock.pending, watchers: scene.watchers() }).toEqual({
      timers: 0,
      watchers: 0,
    });
  });
});

describe("a slow reader", () => {
  test.each([
    ["a few small messages", "job:enqueued", 17],
    ["one large message", "job:failed", 2],
  ] as const)("makes a stream keep only %s", async (_, event, kept) => {
    await using scene = await openStreams();
    const jobs = newJobs(100);
    await scene.store.enqueue(jobs);
    if (event === "job:failed") {
      await settleAll(scene.store, await take(scene.store, { limit: 100 }), failedWith());
    }
    let taken = 0;
    const matches = (subject: EventSubject): boolean => {
      if (subject.event !== event) return false;
      taken += 1;
      return true;
    };
    const reader = scene.open({ after: "0", matches });

    await takeMessages(reader, 1);
    await turns();
    const takenAhead = taken;
    const rest = await takeMessages(reader, 99);
    await reader.cancel();

    expect(takenAhead).toBeLessThanOrEqual(kept);
    expect(new Set(rest.map(({ id }) => id)).size).toBe(99);
  });

  test("gets every message once, however long it pauses", async () => {
    await using scene = await openStreams();
    const jobs = newJobs(30);
    const reader = scene.open();
    await turns();
    for (let n = 0; n < 30; n += 10) await scene.store.enqueue(jobs.slice(n, n + 10));

    const messages = await takeMessages(reader, 5);
    await scene.pass(5_000);
    messages.push(...(await takeMessages(reader, 10)));
    await scene.pass(PING_MS * 3);
    messages.push(...(await takeMessages(reader, 15)));
    await reader.cancel();

    expect(messages.map(briefly)).toEqual(jobs.map(({ id }) => `job:enqueued ${id}`));
  });
});
