import { describe, expect, test } from "vitest";
import { openServer, TOKEN, type Question } from "../../../test/support/http/http-server.ts";
import { ownerOf } from "./identity.ts";

const GUARDED = [
  ["GET", "/api/v1/overview"],
  ["GET", "/api/v1/jobs"],
  ["GET", "/api/v1/jobs/01M7GQMY55ECET74219MBT9GXQ"],
  ["POST", "/api/v1/jobs"],
  ["GET", "/api/v1/nowhere"],
  ["GET", "/%61pi/v1/jobs"],
] as const;

describe("the API", () => {
  test.each(GUARDED)("refuses %s %s without the token (003-30)", async (method, path) => {
    await using server = await openServer();

    const response = await server.ask(path, { as: "anonymous", method });

    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="millrace"');
    expect(await response.json()).toMatchObject({ code: "UNAUTHORIZED" });
  });

  test.each([
    ["another Bearer", { authorization: "Bearer another-token-altogether" }],
    ["an empty Bearer", { authorization: "Bearer " }],
    ["a beginning of the token", { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ["the token under another scheme", { authorization: `Basic ${TOKEN}` }],
    ["a wrong cookie", { cookie: "millrace-7333=wrong" }],
    ["an empty cookie", { cookie: "millrace-7333=" }],
    ["the cookie of another port's server", { cookie: `millrace-7334=${TOKEN}` }],
    [
      "a wrong Bearer beside the right cookie",
      { authorization: "Bearer wrong", cookie: `millrace-7333=${TOKEN}` },
    ],
  ])("refuses %s (003-30)", async (_, headers) => {
    await using server = await openServer();

    expect((await server.ask("/api/v1/jobs", { as: "anonymous", headers })).status).toBe(401);
  });

  test("does not enqueue what it refuses", async () => {
    await using server = await openServer();

    await server.ask("/api/v1/jobs", { as: "anonymous", json: { type: "email" } });

    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test.each(["bearer", "cookie"] as const)("answers a caller with the %s (003-30)", async (as) => {
    await using server = await openServer();

    expect((await server.ask("/api/v1/jobs", { as })).status).toBe(200);
  });
});

describe("a browser's request that changes something", () => {
  test.each([
    ["from another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["from another port", { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:8080" }],
    ["with a foreign origin alone", { origin: "https://evil.example" }],
    ["with an opaque origin", { origin: "null" }],
    ["that says nothing about its origin", {}],
    [
      "whose two words disagree",
      { "sec-fetch-site": "same-origin", origin: "https://evil.example" },
    ],
  ])("is refused %s", async (_, headers) => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", enqueueing("cookie", headers));

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: "CROSS_SITE" });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test.each([
    ["same-origin by its metadata", { "sec-fetch-site": "same-origin" }],
    ["same-origin by its origin", { origin: "http://127.0.0.1:7333" }],
  ])("is taken when it is %s", async (_, headers) => {
    await using server = await openServer();

    expect((await server.ask("/api/v1/jobs", enqueueing("cookie", headers))).status).toBe(201);
  });

  test("needs no origin with a Bearer, which no browser adds by itself", async () => {
    await using server = await openServer();

    const headers = { origin: "https://tool.example" };
    expect((await server.ask("/api/v1/jobs", enqueueing("bearer", headers))).status).toBe(201);
  });
});

describe("the link that the server prints", () => {
  test("signs a browser in once, with a cookie that no script or other site can use", async () => {
    await using server = await openServer();
    const code = server.links.make(ownerOf("ada"));

    const response = await server.ask(`/?login=${code}`, { as: "anonymous" });

    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/");
    const [pair = "", ...rest] = (response.headers.get("set-cookie") ?? "").split("; ");
    expect(pair).toMatch(/^millrace-7333=mr_session_[\w-]{43}$/);
    expect(rest.filter((each) => !each.startsWith("Expires="))).toEqual([
      "Path=/",
      "HttpOnly",
      "SameSite=Strict",
    ]);
    const headers = { cookie: pair };
    const session = await server.ask("/api/v1/session", { as: "anonymous", headers });
    expect(await session.json()).toMatchObject({ actor: "ada", tenant: null });
    const again = await server.ask(`/?login=${code}`, { as: "anonymous" });
    expect(again.headers.get("set-cookie")).toBeNull();
  });

  test.each(["wrong", ""])("with the code “%s” leads to the page alone", async (code) => {
    await using server = await openServer();

    const response = await server.ask(`/?login=${code}`, { as: "anonymous" });

    expect(response.status).toBe(303);
    expect(response.headers.get("set-cookie")).toBeNull();
  });
});

describe("the host", () => {
  test.each(["localhost", "localhost:7333", "127.0.0.1:80", "[::1]:7333", "LocalHost:7333"])(
    "%s is our own",
    async (host) => {
      await using server = await openServer();

      expect((await server.ask("/livez", { headers: { host } })).status).toBe(200);
    },
  );

  test.each(["evil.example", "evil.example:7333", "127.0.0.1.evil.example", "localhost.evil", ""])(
    "“%s” is foreign and gets nothing, not even with the token",
    async (host) => {
      await using server = await openServer();

      const response = await server.ask("/api/v1/jobs", { headers: { host } });

      expect(response.status).toBe(421);
      expect(await response.json()).toMatchObject({ code: "FOREIGN_HOST" });
    },
  );
});

function enqueueing(as: "bearer" | "cookie", headers: Question["headers"] = {}): Question {
  return { as, headers, json: { type: "email" } };
}
