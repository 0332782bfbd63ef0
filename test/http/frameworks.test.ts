/** The handler in the frameworks of other people, with their real libraries and real sockets. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { createHandler, toNodeHandler, type HandlerOptions } from "millrace/http";
import { defineJob, typed } from "../../src/index.ts";
import { openMillrace } from "../../src/open.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { messagesOf } from "../support/http/server-events.ts";

type Handler = (request: Request) => Promise<Response>;

const require = createRequire(join(import.meta.dirname, "frameworks", "package.json"));

function load(name: string): any {
  return require(name);
}

const BASE = "/tools/jobs";
const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() });

/** How each framework mounts the handler at {@link BASE}. */
const FRAMEWORKS: Readonly<Record<string, (handler: Handler) => Promise<Mounted>>> = {
  "node:http": (handler) => listening(toNodeHandler(handler)),
  Express: (handler) => {
    const express = load("express");
    const app = express();
    app.get("/own", (_: unknown, response: any) => response.send("own page"));
    app.use(BASE, toNodeHandler(handler));
    return listening(app);
  },
  Fastify: async (handler) => {
    const app = load("fastify")();
    const listener = toNodeHandler(handler);
    app.get("/own", async () => "own page");
    // The handler reads the body itself.
    await app.register(async (scope: any) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_: unknown, __: unknown, done: any) => done(null));
      scope.all(`${BASE}/*`, (request: any, reply: any) => {
        reply.hijack();
        listener(request.raw, reply.raw);
      });
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address();
    return { port, [Symbol.asyncDispose]: () => app.close() };
  },
  Hono: (handler) => {
    const app = new Hono();
    app.get("/own", (context) => context.text("own page"));
    app.all(`${BASE}/*`, (context) => handler(context.req.raw));
    return listening(toNodeHandler(app.fetch));
  },
  "Hono with mount": (handler) => {
    const app = new Hono();
    app.mount(BASE, handler);
    return listening(toNodeHandler(app.fetch));
  },
};

interface Mounted extends AsyncDisposable {
  readonly port: number;
}

describe.each(Object.entries(FRAMEWORKS))("the handler in %s", (_, mount) => {
  test("serves the API under its path, with the login of the application", async () => {
    await using app = await opened(mount, {
      authenticate: (request) => {
        const user = request.headers.get("x-user");
        return user === null ? null : { actor: user, roles: ["manager"], tenant: "acme" };
      },
    });
    const own = { "x-user": "ada", origin: app.origin };

    const made = await app.ask("/api/v1/jobs", {
      method: "POST",
      headers: { ...own, "content-type": "application/json" },
      body: JSON.stringify({ type: "greet", payload: { name: "Adaü" } }),
    });

    expect(made.status).toBe(201);
    const location = made.headers.get("location") ?? "";
    expect(location).toMatch(new RegExp(`^${BASE}/api/v1/jobs/[0-9A-Z]{26}$`));
    const job = await fetch(`${app.origin}${location}`, { headers: own });
    expect(await job.json()).toMatchObject({
      payload: { name: "Adaü" },
      tenant: "acme",
      createdBy: "ada",
    });
    const list = await app.ask("/api/v1/jobs?limit=1", { headers: own });
    expect(await list.json()).toMatchObject({ jobs: [{ type: "greet" }] });
  });

  test("refuses requests of other sites, and requests without a user", async () => {
    await using app = await opened(mount, {
      authenticate: () => ({ actor: "ada", roles: ["manager"] }),
    });
    const foreign = { origin: "https://evil.example", "content-type": "application/json" };
    const body = JSON.stringify({ type: "greet" });

    const made = await app.ask("/api/v1/jobs", { method: "POST", headers: foreign, body });

    expect(made.status).toBe(403);
    expect(await made.json()).toMatchObject({ code: "CROSS_SITE" });
    await using closed = await opened(mount, {});
    expect((await closed.ask("/api/v1/jobs")).status).toBe(401);
  });

  test("streams events as they happen", async () => {
    await using app = await opened(mount, {
      authenticate: () => ({ actor: "ada", roles: ["viewer"] }),
    });
    const leaving = new AbortController();
    const response = await app.ask("/api/v1/events", { signal: leaving.signal });
    const messages = messagesOf(response);
    expect((await messages.next()).value).toMatchObject({ name: "snapshot" });

    const { id } = await app.enqueue();

    expect((await messages.next()).value).toMatchObject({
      name: "job:enqueued",
      data: { data: { id } },
    });
    leaving.abort();
  });

  test("says what is wrong with a path, a method and a body", async () => {
    await using app = await opened(mount, {
      authenticate: () => ({ actor: "ada", roles: ["manager"] }),
    });
    const headers = { origin: app.origin, "content-type": "application/json" };

    const path = await app.ask("/api/v1/nowhere");
    const method = await app.ask("/api/v1/jobs", { method: "DELETE", headers });
    const body = await app.ask("/api/v1/jobs", { method: "POST", headers, body: '{"type":7}' });

    expect([path.status, method.status, body.status]).toEqual([404, 405, 400]);
    expect(await body.json()).toMatchObject({ errors: [{ path: "type" }] });
  });
});

async function opened(
  mount: (handler: Handler) => Promise<Mounted>,
  options: Partial<HandlerOptions>,
) {
  const mill = await openMillrace(makeSqliteStore({ path: ":memory:" }));
  const mounted = await mount(createHandler({ mill, basePath: BASE, ...options }));
  const origin = `http://127.0.0.1:${mounted.port}`;
  return {
    origin,
    ask: (path: string, init: RequestInit = {}) => fetch(`${origin}${BASE}${path}`, init),
    enqueue: () => mill.enqueue(greet, { name: "Ada" }),
    async [Symbol.asyncDispose]() {
      await mill.close();
      await mounted[Symbol.asyncDispose]();
    },
  };
}

async function listening(listener: RequestListener): Promise<Mounted> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
