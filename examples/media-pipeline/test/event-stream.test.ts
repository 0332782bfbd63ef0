import type { StreamMessage } from "millrace";
import { describe, expect, test } from "vitest";
import { createEventStream } from "../src/event-stream.ts";
import { readEvents, type ServerEvent } from "../src/read-events.ts";
import { arrived, openScene, story } from "./support.ts";

/** No other timer of the example is as long. */
const LONG_MS = 1_800_000;

describe("an event stream", () => {
  test("has a snapshot first, then what happens, then a ping (001-31)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { release } = scene.hold("GET", 50);
    const half = arrived(queue, 17);
    const id = await queue.enqueue({ source: scene.tone });
    await half;

    const events = readEvents(queue.createEventStream({ job: id, pingMs: 50 }));

    expect(await next(events)).toMatchObject({
      event: "snapshot",
      data: { id, status: "active", phase: "download", phaseProgress: 50, overallProgress: 17 },
    });
    expect(await next(events)).toMatchObject({ event: "ping", data: {} });
    release();
    const after = await until(events, "job:phase:completed");
    expect(after.data).toEqual({ id, phase: "download" });
    await events.return(undefined);
  });

  test("is over all events of the queue, and without a snapshot if asked (001-45)", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ concurrency: 1 });
    const early = await queue.finished(await queue.enqueue({ source: scene.tone }));
    const events = readEvents(queue.createEventStream());
    const bare = readEvents(queue.createEventStream({ snapshot: false }));
    const snapshot = await next(events);
    const first = next(bare);
    // The stream without a snapshot begins where the feed ends when it is first read.
    await expect.poll(() => queue.getJob(early.id)).toMatchObject({ status: "completed" });
    const [one, other] = [
      await queue.enqueue({ source: scene.tone }),
      await queue.enqueue({ source: `${scene.world.media}/missing.wav` }),
    ];
    const told = new Set<string>();
    while (!(told.has(`job:completed ${one}`) && told.has(`job:failed ${other}`))) {
      const { event, data } = await next(events);
      if (event !== "ping") told.add(`${event} ${data.id}`);
    }

    expect(snapshot.data.jobs).toMatchObject([{ id: early.id, status: "completed" }]);
    expect((await first).event).toMatch(/^job:/);
    expect([...told].filter((each) => each.endsWith(one))).toEqual(
      expect.arrayContaining([
        `job:enqueued ${one}`,
        `job:started ${one}`,
        `job:progress ${one}`,
        `job:phase:completed ${one}`,
      ]),
    );
    await Promise.all([events.return(undefined), bare.return(undefined)]);
  });

  test("of one job tells of this job alone", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { reached, release } = scene.hold("GET", 0);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;
    const events = story(queue, id);
    const other = await queue.finished(await queue.enqueue({ source: scene.tone }));
    release();

    const ids = (await events).map(({ data }) => data.id);
    expect(other.status).toBe("completed");
    expect(new Set(ids)).toEqual(new Set([id]));
  });

  test("whose reader leaves, leaves no listener, no timer and no trace (001-32)", async () => {
    await using scene = await openScene();
    const queue = await scene.open();
    const { reached, release } = scene.hold("GET", 50);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;
    // The phase is stored a moment after its first request.
    await expect.poll(async () => (await queue.getJob(id))?.phase).toBe("download");
    const before = await queue.getJob(id);
    const timers = countTimers();
    const readers = Array.from({ length: 30 }, () =>
      queue.createEventStream({ pingMs: 2 * LONG_MS }).getReader(),
    );
    const waiting = [];
    for (const reader of readers) {
      await reader.read();
      waiting.push(reader.read());
    }
    await expect.poll(() => timers.open(LONG_MS)).toBe(30);

    await Promise.all(readers.map((reader) => reader.cancel()));
    const ends = await Promise.all(waiting);

    expect(ends.every(({ done }) => done)).toBe(true);
    expect(timers.open(LONG_MS)).toBe(0);
    timers.stop();
    expect(await queue.getJob(id)).toEqual(before);
    release();
    expect(await queue.finished(id)).toMatchObject({ status: "completed" });
  });

  test("passes a cancel on to the stream of the library", async () => {
    const { source, isCancelled } = planted([{ type: "ping", id: "1" }]);
    const reader = createEventStream(source).getReader();
    await reader.read();

    await reader.cancel();

    expect(isCancelled()).toBe(true);
  });

  test("reads no further than its reader", async () => {
    const messages = Array.from({ length: 100 }, (_, n) => ({ type: "ping", id: `${n}` }) as const);
    const { source, read } = planted(messages);
    const reader = createEventStream(source).getReader();
    await reader.read();

    expect(read()).toBeLessThan(5);
    await reader.cancel();
  });

  test("of a queue that cannot be opened fails", async () => {
    const source = Promise.reject(new Error("no such file"));

    await expect(next(readEvents(createEventStream(source)))).rejects.toThrow("no such file");
  });

  test("ends with the queue, and continues with the next one behind its last id", async () => {
    await using scene = await openScene();
    const queue = await scene.open({ shutdownTimeout: "1m" });
    const { reached, release } = scene.hold("GET", 50);
    const id = await queue.enqueue({ source: scene.tone });
    await reached;
    const seen: ServerEvent[] = [];
    const over = readAll(readEvents(queue.createEventStream({ job: id })), seen);
    await expect.poll(() => seen.length).toBeGreaterThan(0);

    const closed = queue.shutdown();
    release();
    await closed;
    await over;
    const lastEventId = seen.at(-1)?.id ?? "";
    const later = await scene.open();
    const rest = readEvents(later.createEventStream({ lastEventId, pingMs: 20 }));
    for (let told = await next(rest); told.event !== "ping"; told = await next(rest))
      seen.push(told);
    await rest.return(undefined);

    const names = seen.map(({ event }) => event).filter((event) => event !== "ping");
    expect(names.filter((event) => event === "snapshot")).toHaveLength(1);
    expect(names.filter((event) => event === "job:completed")).toHaveLength(1);
    const ids = seen.filter(({ event }) => event.startsWith("job:")).map((event) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

async function next(events: AsyncGenerator<ServerEvent>): Promise<ServerEvent> {
  const { value, done } = await events.next();
  if (done === true) throw new Error("the stream has ended");
  return value;
}

async function until(events: AsyncGenerator<ServerEvent>, name: string): Promise<ServerEvent> {
  for (;;) {
    const event = await next(events);
    if (event.event === name) return event;
  }
}

async function readAll(events: AsyncIterable<ServerEvent>, into: ServerEvent[]): Promise<void> {
  for await (const event of events) into.push(event);
}

/** Counts the timers of at least a length that are set and neither cleared nor over. */
function countTimers(): { open(ms: number): number; stop(): void } {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const open = new Map<unknown, number>();
  const counting: any = (act: () => void, ms: number) => {
    const over = (): void => {
      open.delete(timer);
      act();
    };
    const timer = set(over, ms);
    open.set(timer, ms);
    return timer;
  };
  globalThis.setTimeout = counting;
  globalThis.clearTimeout = (timer) => {
    open.delete(timer);
    clear(timer);
  };
  return {
    open: (ms) => [...open.values()].filter((each) => each >= ms).length,
    stop: () => void Object.assign(globalThis, { setTimeout: set, clearTimeout: clear }),
  };
}

/** A source that says what it is told to. */
function planted(messages: readonly StreamMessage[]) {
  let read = 0;
  let isCancelled = false;
  const mill = {
    stream: () =>
      new ReadableStream<StreamMessage>({
        pull(controller) {
          const message = messages[read];
          read += 1;
          if (message !== undefined) controller.enqueue(message);
        },
        cancel: () => void (isCancelled = true),
      }),
  };
  const record = (): Promise<never> => Promise.reject(new Error("there is no job"));
  const source: Parameters<typeof createEventStream>[0] = Promise.resolve({ mill, record });
  return { source, read: () => read, isCancelled: () => isCancelled };
}
