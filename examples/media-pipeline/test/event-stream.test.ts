import type { Events, Millrace } from "millrace";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createEventStream } from "../src/event-stream.ts";
import { readEvents, type ServerEvent } from "../src/read-events.ts";
import { arrived, openScene } from "./support.ts";

describe("an event stream", () => {
  // Only the keep-alive: the queue has its own time.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  test("begins with a snapshot, goes on with events, and pings", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { release } = scene.hold("GET", 50);
    const half = arrived(queue, 17);
    const id = await queue.enqueue({ source: scene.tone });
    await half;

    const events = readEvents(queue.createEventStream(id, { pingMs: 1_000 }));

    expect(await next(events)).toMatchObject({
      event: "snapshot",
      data: { id, status: "active", phase: "download", phaseProgress: 50, overallProgress: 17 },
    });
    await vi.waitUntil(() => vi.getTimerCount() === 1);
    vi.advanceTimersByTime(1_000);
    expect(await next(events)).toEqual({ event: "ping", data: {} });
    release();
    expect(await next(events)).toEqual({
      event: "job:phase:completed",
      data: { id, phase: "download" },
    });
    await events.return(undefined);
  });

  test("tells of one job only", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { reached, release } = scene.hold("GET", 0);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;
    const events = readEvents(queue.createEventStream(id));
    await next(events);
    const other = await queue.finished(await queue.enqueue({ source: scene.tone }));
    expect(other.status).toBe("completed");
    release();

    const told: string[] = [];
    while (told.length < 5) told.push((await next(events)).data.id);
    expect(new Set(told)).toEqual(new Set([id]));
    await events.return(undefined);
  });

  test("whose reader leaves, leaves no listener, no timer and no trace", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { release } = scene.hold("GET", 50);
    const half = arrived(queue, 17);
    const id = await queue.enqueue({ source: scene.tone });
    await half;
    const feed = counted(queue);
    const stream = createEventStream(feed, id, { snapshot: () => queue.getJob(id) });
    const reader = stream.getReader();
    await reader.read();
    const before = await queue.getJob(id);
    expect(feed.listeners()).toBe(10);
    // Timers are counted when the first of them can have been set.
    await vi.waitUntil(() => vi.getTimerCount() === 1);

    await reader.cancel();

    expect(feed.listeners()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(await queue.getJob(id)).toEqual(before);
    release();
    expect(await queue.finished(id)).toMatchObject({ status: "completed" });
  });

  test("loses nothing that happens while its snapshot is taken", async () => {
    const { feed, tell } = planted();
    const snapshot = Promise.withResolvers<string>();
    const events = readEvents(createEventStream(feed, "1", { snapshot: () => snapshot.promise }));
    tell("job:started", { id: "1", attempt: 1 });
    tell("job:cancelled", { id: "2" });
    snapshot.resolve("pending");

    expect(await next(events)).toEqual({ event: "snapshot", data: "pending" });
    expect(await next(events)).toEqual({ event: "job:started", data: { id: "1", attempt: 1 } });
    await events.return(undefined);
  });

  test("without a snapshot that can be had fails, and leaves no listener", async () => {
    const { feed } = planted();
    const snapshot = (): Promise<never> => Promise.reject(new Error("no such job"));

    await expect(next(readEvents(createEventStream(feed, "1", { snapshot })))).rejects.toThrow(
      "no such job",
    );
    expect(feed.listeners()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("gives up a reader that does not read", async () => {
    const { feed, tell } = planted();
    const events = readEvents(createEventStream(feed, "1"));
    for (let attempt = 0; attempt <= 1_000; attempt += 1) tell("job:started", { id: "1", attempt });

    await expect(next(events)).rejects.toThrow("the reader is too slow");
    expect(feed.listeners()).toBe(0);
  });

  test("ends with the queue", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ shutdownTimeout: "1m" });
    const { reached, release } = scene.hold("GET", 50);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;
    const told = lastOf(readEvents(queue.createEventStream(id)));

    const closed = queue.shutdown();
    release();
    await closed;

    expect(await told).toEqual({ event: "job:completed", data: { id, state: "completed" } });
    expect(vi.getTimerCount()).toBe(0);
  });
});

async function next(events: AsyncGenerator<ServerEvent>): Promise<ServerEvent> {
  const { value, done } = await events.next();
  if (done === true) throw new Error("the stream has ended");
  return value;
}

/** Reads a stream to its end. */
async function lastOf(events: AsyncIterable<ServerEvent>): Promise<ServerEvent | undefined> {
  let last: ServerEvent | undefined;
  for await (const event of events) last = event;
  return last;
}

type Feed = Pick<Millrace, "on">;

/** The same feed, which knows how many listen. */
function counted(feed: Feed): Feed & { listeners(): number } {
  const offs = new Set<() => void>();
  return {
    listeners: () => offs.size,
    on(event, listener) {
      const off = feed.on(event, listener);
      offs.add(off);
      return () => {
        offs.delete(off);
        off();
      };
    },
  };
}

/** A feed that says what it is told to. */
function planted() {
  const listeners = new Map<string, (event: any) => void>();
  const feed: Feed = {
    on(event, listener) {
      listeners.set(event, listener);
      return () => void listeners.delete(event);
    },
  };
  return {
    feed: counted(feed),
    tell: <E extends keyof Events>(event: E, told: Events[E]) => listeners.get(event)?.(told),
  };
}
