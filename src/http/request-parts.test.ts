import { describe, expect, test } from "vitest";
import { jsonOf, openServer, TOKEN, type TestServer } from "../../test/support/http/http-server.ts";

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
}

const DEPTH = 400_000;

describe("a query", () => {
  test("with a time of another form says what a time must be", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/schedules/nightly/ticks?before=monday");

    expect(await response.json()).toMatchObject({
      detail:
        "before must be a time in ISO 8601 with an offset, such as 2026-01-31T09:00:00Z, " +
        'not "monday"',
    });
  });
});

describe("a body", () => {
  test("that is cut off is the fault of the caller", async () => {
    await using server = await openServer();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"type":')),
      pull: (controller) => controller.error(new Error("the connection was reset")),
    });

    const response = await send(server, body);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: "the body was cut off" });
    expect(server.failures).toEqual([]);
  });

  test("that ends in the middle of its JSON is refused", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", { body: '{"type":"a","payload":[1,' });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path: "the body" }] });
  });

  test("is read no further than its limit, regardless of its headers", async () => {
    await using server = await openServer();
    let chunks = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        chunks += 1;
        controller.enqueue(new Uint8Array(100_000));
      },
    });

    const response = await send(server, body, { "content-length": "10" });

    expect(response.status).toBe(413);
    expect(chunks).toBeLessThan(30);
  });

  test("whose declared length is no number is read all the same", async () => {
    await using server = await openServer();

    const headers = { "content-length": "many" };
    const response = await server.ask("/api/v1/jobs", { json: { type: "a" }, headers });

    expect(response.status).toBe(201);
  });

  test("that is compressed is refused with the reason", async () => {
    await using server = await openServer();

    const headers = { "content-encoding": "gzip" };
    const response = await server.ask("/api/v1/jobs", { json: { type: "a" }, headers });

    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("compressed") });
  });

  test.each([
    ["payload", `{"type":"a","payload":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}`, 422],
    ["name", `{"type":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}`, 400],
    ["object", `{"type":"a","payload":${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}}`, 413],
    ["record", `{"type":"a","options":{"tags":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}}`, 400],
  ])("with a %s as deep as it can be is refused", async (_, body, status) => {
    await using server = await openServer();

    expect((await server.ask("/api/v1/jobs", { body })).status).toBe(status);
    expect(server.failures).toEqual([]);
  });

  test("with a very long unknown name is not repeated in the answer", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", {
      json: { type: "a", ["k".repeat(1_000_000)]: 1 },
    });

    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(2_000);
  });

  test("with very many unknown names is refused by the first ten", async () => {
    await using server = await openServer();
    const fields = Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]);

    const response = await server.ask("/api/v1/jobs", { json: Object.fromEntries(fields) });

    const { errors } = await jsonOf<Problem>(response);
    expect(response.status).toBe(400);
    expect(errors).toHaveLength(10);
  });
});

describe("a query", () => {
  test.each(["/livez", "/api/v1/pauses", "/api/v1/stats", "/openapi.json"])(
    "of %s has no parameters, and an unknown one is named",
    async (path) => {
      await using server = await openServer();

      const response = await server.ask(`${path}?limit=1`);

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ detail: "limit is unknown" });
    },
  );

  test("with a long unknown name is not repeated in the answer", async () => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/jobs?${"k".repeat(10_000)}=1`);

    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(2_000);
  });
});

function send(
  server: TestServer,
  body: ReadableStream,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const init: any = {
    method: "POST",
    body,
    duplex: "half",
    headers: {
      host: "127.0.0.1:7333",
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      ...headers,
    },
  };
  return Promise.resolve(server.app.request("http://127.0.0.1:7333/api/v1/jobs", init));
}
