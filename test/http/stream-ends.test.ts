/** How streams end: by errors, stalled clients, revoked tokens, and the end of a server. */
import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { listen } from "../../src/http/listen.ts";
import { defineJob } from "../../src/index.ts";
import { failingMill, openServer } from "../support/http/http-server.ts";
import { turns } from "../support/http/streams.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const greet = defineJob({ type: "greet" }).run(async () => {});

describe("a stream over HTTP", () => {
  test("whose store fails ends, is reported, and is no longer counted", async () => {
    const mill = await failingMill("feedEnd", new Error("away"));
    await using server = await openServer({ mill });

    const text = await (await server.ask("/api/v1/events")).text();

    expect(text).toBe("retry: 2000\n\n");
    expect(server.streams.count).toBe(0);
    expect(server.failures).toMatchObject([{ message: "away" }]);
  });

  test("is not opened by HEAD", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/events", { method: "HEAD" });

    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(server.streams.count).toBe(0);
  });

  test("is cut off when its client takes nothing for a minute", async () => {
    const clock = virtualClock();
    await using server = await openServer({ clock });
    const { body } = await server.ask("/api/v1/events");

    await clock.advance(59_000);
    const before = server.streams.count;
    await clock.advance(4_000);

    expect({ before, after: server.streams.count }).toEqual({ before: 1, after: 0 });
    await expect(body!.getReader().read()).rejects.toThrow("took nothing for 60 s");
  });

  test("ends within five seconds when its token is revoked", async () => {
    const clock = virtualClock();
    await using server = await openServer({ clock });
    const ada = { kind: "person", name: "ada", roles: ["viewer"] } as const;
    const { secret, token } = await server.mill.tokens.create(ada);
    const headers = { authorization: `Bearer ${secret}` };
    const response = await server.ask("/api/v1/events", { as: "anonymous", headers });
    const read = response.text();

    await server.mill.tokens.revoke(token.id);
    await clock.advance(5_000);
    await turns();

    expect(server.streams.count).toBe(0);
    expect(await read).toContain("event: snapshot");
  });
});

describe("GET /api/v1/feed of a server that stops", () => {
  test("names the place of the request, or none", async () => {
    const closing = new AbortController();
    await using server = await openServer({ closing: closing.signal });
    await server.mill.enqueue(greet);
    await server.mill.enqueue(greet);

    const known = server.ask("/api/v1/feed?after=2&wait=30s");
    await turns();
    closing.abort();
    const unknown = await server.ask("/api/v1/feed?wait=30s");

    expect(await (await known).json()).toEqual({ messages: [], next: "2" });
    expect(await unknown.json()).toEqual({ messages: [], next: null });
  });
});

describe("a listener that closes", () => {
  test("cuts off a client that does not read", async () => {
    const piece = new Uint8Array(1_000_000);
    const endless = (): Response =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }));
    const listener = await listen(endless, { host: "127.0.0.1", port: 0 }, 200);
    const client = connect(listener.port, "127.0.0.1");
    client.on("error", () => {});
    client.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await once(client, "readable");
    const startedAt = performance.now();

    await listener.close();

    expect(performance.now() - startedAt).toBeLessThan(5_000);
    client.destroy();
  });
});
