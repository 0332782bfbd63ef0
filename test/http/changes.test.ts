/** `GET /api/v1/changes`: the pulse of the page. */
import { describe, expect, test } from "vitest";
import { ChangeDigest } from "../../src/http/streams/changes.ts";
import type { StreamMessage } from "../../src/api/stream.ts";
import { defineJob } from "../../src/index.ts";
import { messagesOf } from "../support/http/server-events.ts";
import { openServer } from "../support/http/http-server.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const greet = defineJob({ type: "greet" });

function enqueued(tenant: string, id = "1.0.0"): StreamMessage {
  const job = { type: "greet", tenant };
  return {
    type: "event",
    id,
    at: new Date(0),
    event: "job:enqueued",
    data: { id: "x", type: "greet" },
    job,
  };
}

/** A digest on a feed that the test writes, and the number of its readers. */
function digestOf() {
  const clock = virtualClock();
  const feeds: ReadableStreamDefaultController<StreamMessage>[] = [];
  const errors: unknown[] = [];
  let cancelled = 0;
  const stream = (): ReadableStream<StreamMessage> =>
    new ReadableStream({
      start: (controller) => void feeds.push(controller),
      cancel: () => void (cancelled += 1),
    });
  const digest = new ChangeDigest({ stream }, clock, (error) => errors.push(error));
  return { digest, clock, feeds, errors, cancelled: () => cancelled };
}

describe("the digest of changes", () => {
  test("adds up a second of events, from one reader of the feed for all pages", async () => {
    const { digest, clock, feeds } = digestOf();
    const [first, second] = [digest.open(null).getReader(), digest.open(null).getReader()];

    for (let n = 0; n < 3; n += 1) feeds[0]?.enqueue(enqueued("acme"));
    await clock.advance(1_000);

    const digestMessage = { type: "changes", id: "1.0.0", events: { "job:enqueued": 3 } };
    expect((await first.read()).value).toEqual(digestMessage);
    expect((await second.read()).value).toEqual(digestMessage);
    expect(feeds).toHaveLength(1);
  });

  test("tells a tenant of its own events alone", async () => {
    const { digest, clock, feeds } = digestOf();
    const reader = digest.open("acme").getReader();

    feeds[0]?.enqueue(enqueued("umbra"));
    await clock.advance(1_000);
    feeds[0]?.enqueue(enqueued("acme", "2.0.0"));
    await clock.advance(1_000);

    expect((await reader.read()).value).toEqual({
      type: "changes",
      id: "2.0.0",
      events: { "job:enqueued": 1 },
    });
  });

  test("pings when nothing happens, and says when the feed has begun anew", async () => {
    const { digest, clock, feeds } = digestOf();
    const reader = digest.open(null).getReader();

    await clock.advance(15_000);
    const quiet = await reader.read();
    feeds[0]?.enqueue({ type: "reset", id: "9.0.0" });
    await clock.advance(1_000);
    const anew = await reader.read();

    expect(quiet.value).toMatchObject({ type: "ping", events: {} });
    expect(anew.value).toMatchObject({ type: "changes", events: { reset: 1 } });
  });

  test("adds up for a page that does not read", async () => {
    const { digest, clock, feeds } = digestOf();
    const reader = digest.open(null).getReader();

    for (let second = 0; second < 5; second += 1) {
      feeds[0]?.enqueue(enqueued("acme"));
      await clock.advance(1_000);
    }
    const first = await reader.read();
    await clock.advance(1_000);
    const rest = await reader.read();

    expect(first.value?.events).toEqual({ "job:enqueued": 1 });
    expect(rest.value?.events).toEqual({ "job:enqueued": 4 });
  });

  test("stops reading the feed when the last page has left", async () => {
    const { digest, feeds, cancelled } = digestOf();
    const [first, second] = [digest.open(null).getReader(), digest.open(null).getReader()];

    await first.cancel();
    expect(cancelled()).toBe(0);
    await second.cancel();

    expect(cancelled()).toBe(1);
    digest.open(null);
    expect(feeds).toHaveLength(2);
  });

  test("ends its pages when the feed fails, so that they connect again", async () => {
    const { digest, feeds, errors } = digestOf();
    const reader = digest.open(null).getReader();

    feeds[0]?.error(new Error("gone"));

    expect((await reader.read()).done).toBe(true);
    expect(errors).toEqual([new Error("gone")]);
  });
});

describe("GET /api/v1/changes", () => {
  test("tells that jobs were enqueued", async () => {
    await using server = await openServer();
    const response = await server.ask("/api/v1/changes");
    const messages = messagesOf(response);
    await server.mill.enqueue(greet);

    const { value } = await messages.next();
    await messages.return(undefined);

    expect(value).toMatchObject({ name: "changes", data: { events: { "job:enqueued": 1 } } });
  });
});
