/** Server-sent events without a socket: what a client gets, and what it leaves behind. */
import { describe, expect, test } from "vitest";
import { retention } from "../support/factories.ts";
import { messagesOf } from "../support/http/server-events.ts";
import { defineJob, typed } from "../../src/index.ts";
import { jsonOf, openServer, type TestServer } from "../support/http/http-server.ts";

const greet = defineJob({ type: "greet", payload: typed<{ n: number }>() }).run(async () => {});
const other = defineJob({ type: "other" }).run(async () => {});

interface Message {
  readonly id: string;
  readonly name: string;
  readonly data: any;
}

interface FeedPage {
  readonly messages: readonly any[];
  readonly next: string;
}

describe("GET /api/v1/events", () => {
  test("has a snapshot first, then every change in order (001-31, 001-45)", async () => {
    await using server = await openServer();
    await server.mill.enqueue(greet, { n: 1 });

    const stream = await open(server, "/api/v1/events");
    const [snapshot] = await take(stream, 1);
    const { id } = await server.mill.enqueue(greet, { n: 2 });
    await using worker = server.mill.work({ jobs: [greet], signals: false });
    await worker.ready;
    const messages = await takeUntil(stream, ({ name, data }) => {
      return name === "job:completed" && data.data.id === id;
    });
    await stream.return(undefined);

    expect(snapshot).toMatchObject({ name: "snapshot", data: { jobs: [{ type: "greet" }] } });
    const own = messages.filter(({ data }) => data.data.id === id).map(({ name }) => name);
    expect(own).toEqual(["job:enqueued", "job:started", "job:completed"]);
    expect(messages.at(-1)?.data).toMatchObject({ job: { type: "greet", tenant: "default" } });
  });

  test("continues behind Last-Event-ID, without gap or repeat", async () => {
    await using server = await openServer();
    const ids: string[] = [];
    const first = await open(server, "/api/v1/events?event=job:enqueued&snapshot=false");
    const enqueueAll = (async () => {
      for (let n = 0; n < 20; n += 1) ids.push((await server.mill.enqueue(greet, { n })).id);
    })();
    const begun = await take(first, 7);
    await first.return(undefined);
    await enqueueAll;

    const headers = { "last-event-id": begun.at(-1)?.id ?? "" };
    const second = await open(server, "/api/v1/events?event=job:enqueued&snapshot=false", headers);
    const rest = await take(second, 13);
    await second.return(undefined);

    expect([...begun, ...rest].map(({ data }) => data.data.id)).toEqual(ids);
  });

  test("has only what its filters name", async () => {
    await using server = await openServer();
    const stream = await open(server, "/api/v1/events?type=other&tenant=acme&snapshot=false");
    await server.mill.enqueue(greet, { n: 1 }, { tenant: "acme" });
    await server.mill.enqueue(other);
    const { id } = await server.mill.enqueue(other, undefined, { tenant: "acme" });

    const [message] = await take(stream, 1);
    await stream.return(undefined);

    expect(message?.data).toMatchObject({ event: "job:enqueued", data: { id } });
  });

  test("says reset when the feed is older than it is kept", async () => {
    await using server = await openServer();
    await server.mill.enqueue(greet, { n: 1 });
    const { store } = Reflect.get(server.mill, "parts");
    await store.prune(retention({ eventMs: -1_000 }), 100);

    const stream = await open(server, "/api/v1/events?after=0");
    const [message] = await take(stream, 1);
    await stream.return(undefined);

    expect(message).toMatchObject({ name: "reset" });
  });

  test("leaves nothing behind when the client leaves (001-32)", async () => {
    await using server = await openServer();
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => open(server, "/api/v1/events")),
    );
    for (const stream of streams) await take(stream, 1);
    expect(server.streams.count).toBe(20);

    for (const stream of streams) await stream.return(undefined);

    expect(server.streams.count).toBe(0);
  });

  test("ends when the server stops", async () => {
    const closing = new AbortController();
    await using server = await openServer({ closing: closing.signal });
    const stream = await open(server, "/api/v1/events");
    await take(stream, 1);

    closing.abort();

    expect((await stream.next()).done).toBe(true);
    expect(server.streams.count).toBe(0);
  });
});

describe("GET /api/v1/jobs/{id}/events", () => {
  test("has the job first, and then only its events", async () => {
    await using server = await openServer();
    const job = await server.mill.enqueue(greet, { n: 1 });
    const stream = await open(server, `/api/v1/jobs/${job.id}/events`);
    const [snapshot] = await take(stream, 1);
    await server.mill.enqueue(greet, { n: 2 });
    await server.mill.jobs.cancel(job.id, "asked");

    const [message] = await take(stream, 1);
    await stream.return(undefined);

    expect(snapshot?.data.jobs).toMatchObject([{ id: job.id, payload: { n: 1 } }]);
    expect(message).toMatchObject({ name: "job:cancelled", data: { data: { id: job.id } } });
  });

  test("takes a stream token in the URL, for this job alone", async () => {
    await using server = await openServer();
    const [job, foreign] = await server.mill.enqueueMany([greet.of({ n: 1 }), greet.of({ n: 2 })]);
    const made = await server.ask(`/api/v1/jobs/${job.id}/stream-token`, { method: "POST" });
    const { path, secret } = await jsonOf<{ path: string; secret: string }>(made);

    expect(made.status).toBe(201);
    const stream = await open(server, path, { authorization: "" });
    expect(await take(stream, 1)).toMatchObject([{ name: "snapshot" }]);
    await stream.return(undefined);
    for (const url of [
      `/api/v1/jobs/${foreign.id}/events?token=${secret}`,
      `/api/v1/events?token=${secret}`,
      `/api/v1/jobs?token=${secret}`,
    ]) {
      const { status } = await server.ask(url, { as: "anonymous" });
      expect({ url, isRefused: [400, 401, 403].includes(status) }).toEqual({
        url,
        isRefused: true,
      });
    }
  });

  test.each(["person", "producer", "worker"] as const)(
    "takes no token of a %s in the URL",
    async (kind) => {
      await using server = await openServer();
      const job = await server.mill.enqueue(greet, { n: 1 });
      const token =
        kind === "person"
          ? ({ kind, name: "ada", roles: ["manager"] } as const)
          : ({ kind, name: "program" } as const);
      const { secret } = await server.mill.tokens.create(token);

      const path = `/api/v1/jobs/${job.id}/events?token=${secret}`;

      expect((await server.ask(path, { as: "anonymous" })).status).toBe(401);
    },
  );
});

describe("GET /api/v1/feed", () => {
  test("lists events in pages that follow each other", async () => {
    await using server = await openServer();
    const jobs = await server.mill.enqueueMany([greet.of({ n: 1 }), greet.of({ n: 2 })]);

    const found: string[] = [];
    let after = "0";
    for (let page = 0; page < 2; page += 1) {
      const response = await server.ask(`/api/v1/feed?after=${after}&limit=1`);
      const { messages, next } = await jsonOf<FeedPage>(response);
      found.push(...messages.map(({ data }) => data.id));
      after = next;
    }

    expect(found).toEqual(jobs.map(({ id }) => id));
  });

  test("does not wait for more than the first event", { timeout: 10_000 }, async () => {
    await using server = await openServer();
    const asked = server.ask("/api/v1/feed?wait=30s");
    const { id } = await server.mill.enqueue(greet, { n: 1 });

    const { messages } = await jsonOf<FeedPage>(await asked);

    expect(messages).toMatchObject([{ event: "job:enqueued", data: { id } }]);
  });

  test("keeps the place of the caller when the server stops", async () => {
    const closing = new AbortController();
    await using server = await openServer({ closing: closing.signal });
    await server.mill.enqueue(greet, { n: 1 });
    const stream = server.mill.stream.bind(server.mill);
    const begun = Promise.withResolvers<void>();
    server.mill.stream = (options) => {
      begun.resolve();
      return stream(options);
    };

    const asked = server.ask("/api/v1/feed?after=1&wait=30s");
    await begun.promise;
    closing.abort();

    expect((await jsonOf<FeedPage>(await asked)).next).toBe("1");
  });

  test("waits for an event", async () => {
    await using server = await openServer();
    const asked = server.ask("/api/v1/feed?wait=30s&limit=1");
    const { id } = await server.mill.enqueue(greet, { n: 1 });

    const { messages } = await jsonOf<FeedPage>(await asked);

    expect(messages).toMatchObject([{ event: "job:enqueued", data: { id } }]);
  });
});

async function open(
  server: TestServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<AsyncGenerator<Message>> {
  const isOwn = headers["authorization"] !== "";
  const { authorization: _, ...rest } = headers;
  const response = await server.ask(path, { as: isOwn ? "bearer" : "anonymous", headers: rest });
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return messagesOf(response);
}

async function take(stream: AsyncGenerator<Message>, count: number): Promise<Message[]> {
  const messages: Message[] = [];
  while (messages.length < count) {
    const { value, done } = await stream.next();
    if (done === true) throw new Error("the stream has ended");
    if (value.name !== "ping") messages.push(value);
  }
  return messages;
}

async function takeUntil(
  stream: AsyncGenerator<Message>,
  isLast: (message: Message) => boolean,
): Promise<Message[]> {
  const messages: Message[] = [];
  for (;;) {
    const [message] = await take(stream, 1);
    messages.push(message!);
    if (isLast(message!)) return messages;
  }
}
