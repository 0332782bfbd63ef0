/** The browser's login: a token of a person becomes a session, and ends. */
import { describe, expect, test } from "vitest";
import { openServer, TOKEN, type TestServer } from "../support/http/http-server.ts";

const OWN = { origin: "http://127.0.0.1:7333", "sec-fetch-site": "same-origin" };

describe("the login of a browser", () => {
  test("exchanges the token of a person for a session with the same roles and tenant", async () => {
    await using server = await openServer();
    const { secret } = await server.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["operator"],
      tenant: "acme",
    });

    const response = await login(server, secret);

    expect(response.status).toBe(201);
    const me = { actor: "ada", kind: "person", roles: ["operator"], tenant: "acme", types: null };
    expect(await response.json()).toEqual(me);
    const session = await asCookie(server, cookieOf(response), "/api/v1/session");
    expect(await session.json()).toEqual(me);
  });

  test("takes the secret of the owner", async () => {
    await using server = await openServer();

    expect(await (await login(server, TOKEN)).json()).toMatchObject({ actor: "owner" });
  });

  test.each(["producer", "worker"] as const)("refuses the token of a %s", async (kind) => {
    await using server = await openServer();
    const { secret } = await server.mill.tokens.create({ kind, name: "program" });

    const response = await login(server, secret);

    expect(response.status).toBe(401);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test.each([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["an unknown page", {}],
  ])("refuses a login from %s", async (_, headers) => {
    await using server = await openServer();

    const response = await login(server, TOKEN, headers);

    expect(response.status).toBe(403);
    expect(response.headers.get("set-cookie")).toBeNull();
  });

  test("is throttled after ten failures, also for a right token", async () => {
    await using server = await openServer();
    for (let count = 0; count < 10; count += 1) {
      expect((await login(server, `mr_person_${"x".repeat(43)}`)).status).toBe(401);
    }

    const response = await login(server, TOKEN);

    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({ code: "TOO_MANY_LOGINS" });
  });
});

describe("a session", () => {
  test("ends with its logout, at once", async () => {
    await using server = await openServer();
    const cookie = cookieOf(await login(server, TOKEN));

    const response = await asCookie(server, cookie, "/api/v1/session", "DELETE");

    expect(response.status).toBe(204);
    expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await asCookie(server, cookie, "/api/v1/jobs")).status).toBe(401);
  });

  test("ends alone: a token that the request shows beside it stays valid", async () => {
    await using server = await openServer();
    const { secret } = await server.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });
    const cookie = cookieOf(await login(server, TOKEN));
    const bearer = { authorization: `Bearer ${secret}` };

    const headers = { cookie, ...OWN, ...bearer };
    const response = await server.ask("/api/v1/session", {
      as: "anonymous",
      method: "DELETE",
      headers,
    });

    expect(response.status).toBe(204);
    expect((await asCookie(server, cookie, "/api/v1/jobs")).status).toBe(401);
    expect(await server.mill.tokens.verify(secret)).not.toBeNull();
  });

  test("is no Bearer token", async () => {
    await using server = await openServer();
    const secret = cookieOf(await login(server, TOKEN)).split("=")[1];

    const headers = { authorization: `Bearer ${secret}` };
    expect((await server.ask("/api/v1/jobs", { as: "anonymous", headers })).status).toBe(401);
  });

  test("ends when its token is revoked", async () => {
    await using server = await openServer();
    const { secret, token } = await server.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });
    const cookie = cookieOf(await login(server, secret));
    await server.mill.tokens.revoke(token.id);

    // The server asks the store again: it has not seen this session before.
    expect((await asCookie(server, cookie, "/api/v1/jobs")).status).toBe(401);
  });

  test("is marked as secure, and bound to its path, behind a public address", async () => {
    await using server = await openServer({
      base: "/jobs",
      identify: {
        origin: { publicUrl: new URL("https://jobs.example.com"), hosts: "loopback" },
      },
    });
    const headers = { host: "jobs.example.com", origin: "https://jobs.example.com" };

    const response = await login(server, TOKEN, headers);

    expect(response.headers.get("set-cookie")).toMatch(/^millrace-session=.*Path=\/jobs; .*Secure/);
  });
});

function login(
  server: TestServer,
  token: string,
  headers: Readonly<Record<string, string>> = OWN,
): Promise<Response> {
  return server.ask("/api/v1/session", { as: "anonymous", json: { token }, headers });
}

function cookieOf(response: Response): string {
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

function asCookie(
  server: TestServer,
  cookie: string,
  path: string,
  method = "GET",
): Promise<Response> {
  return server.ask(path, { as: "anonymous", method, headers: { cookie, ...OWN } });
}
