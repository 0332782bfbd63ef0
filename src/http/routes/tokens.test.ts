import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import type { NewToken, PersonRole } from "../../api/tokens.ts";
import { defineJob } from "../../index.ts";

const PATH = "/api/v1/tokens";
const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";
const VIEWER = { kind: "person", name: "ada", roles: ["viewer"] } as const;
const email = defineJob({ type: "email" });

interface Created {
  readonly token: {
    readonly id: string;
    readonly tenant: string | null;
    readonly createdAt: string;
    readonly expiresAt: string;
  };
  readonly secret: string;
}

interface Listed {
  readonly tokens: readonly { readonly id: string; readonly name: string }[];
  readonly next: string | null;
}

describe("POST /api/v1/tokens", () => {
  test("makes a token whose secret opens the API, and is nowhere else", async () => {
    await using server = await openServer();

    const response = await server.ask(PATH, { json: VIEWER });

    expect(response.status).toBe(201);
    const { secret } = await jsonOf<Created>(response);
    expect(secret).toMatch(/^mr_person_[\w-]{43}$/);
    expect((await as(server, secret, "/api/v1/jobs")).status).toBe(200);
    expect(await (await server.ask(PATH)).text()).not.toContain(secret);
  });

  test("records who made it, and ends it after the time given", async () => {
    await using server = await openServer();

    const json = { ...VIEWER, ttl: "1h" };
    const { token } = await jsonOf<Created>(await server.ask(PATH, { json }));

    const { createdAt, expiresAt } = token;
    expect(token).toMatchObject({ createdBy: "owner", actor: "ada", roles: ["viewer"] });
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
  });

  test.each<[PersonRole, string | undefined, PersonRole, number]>([
    ["manager", undefined, "viewer", 201],
    ["manager", undefined, "operator", 201],
    ["manager", undefined, "manager", 201],
    ["manager", undefined, "admin", 403],
    ["manager", "acme", "admin", 403],
    ["admin", undefined, "manager", 201],
    ["admin", undefined, "admin", 201],
    ["operator", undefined, "viewer", 403],
    ["viewer", undefined, "viewer", 403],
  ])(
    "lets a %s (tenant %s) grant the role %s: %i (003-29)",
    async (role, tenant, granted, status) => {
      await using server = await openServer();
      const secret = await person(server, role, tenant);

      const json = { ...VIEWER, roles: [granted] };
      const response = await as(server, secret, PATH, json);

      expect(response.status).toBe(status);
    },
  );

  test("gives the tenant of the credential, and no other", async () => {
    await using server = await openServer();
    const secret = await person(server, "manager", "acme");

    const own = await jsonOf<Created>(await as(server, secret, PATH, VIEWER));
    const other = await as(server, secret, PATH, { ...VIEWER, tenant: "globex" });

    expect(own.token.tenant).toBe("acme");
    expect(other.status).toBe(403);
  });

  test("makes tokens of workers for all tenants alone", async () => {
    await using server = await openServer();
    const json = { kind: "worker", name: "w", types: ["email"] };

    const refused = await as(server, await person(server, "manager", "acme"), PATH, json);
    const made = await as(server, await person(server, "manager"), PATH, json);

    expect(refused.status).toBe(403);
    expect(made.status).toBe(201);
    const { secret } = await jsonOf<Created>(made);
    expect((await as(server, secret, "/api/v1/session")).status).toBe(200);
    expect((await as(server, secret, "/api/v1/jobs")).status).toBe(403);
    expect((await as(server, secret, "/api/v1/jobs", { type: "email" })).status).toBe(403);
  });

  test("makes producers that enqueue the types that they name", async () => {
    await using server = await openServer();
    const json = { kind: "producer", name: "shop", types: ["email"] };
    const { secret } = await jsonOf<Created>(await server.ask(PATH, { json }));

    const taken = await as(server, secret, "/api/v1/jobs", { type: "email" });
    const refused = await as(server, secret, "/api/v1/jobs", { type: "sweep" });

    expect(taken.status).toBe(201);
    expect(refused.status).toBe(403);
    expect((await as(server, secret, "/api/v1/jobs")).status).toBe(403);
  });

  test.each([
    [{ ...VIEWER, kind: "stream" }, "kind"],
    [{ ...VIEWER, kind: "session" }, "kind"],
    [{ kind: "person", name: "ada" }, "roles"],
    [{ ...VIEWER, roles: [] }, "roles"],
    [{ ...VIEWER, roles: ["owner"] }, "roles[0]"],
    [{ ...VIEWER, types: ["email"] }, "types"],
    [{ ...VIEWER, ttl: "forever" }, "ttl"],
    [{ ...VIEWER, ttl: "0s" }, "ttl"],
    [{ ...VIEWER, ttl: "4000d" }, "ttl"],
    [{ ...VIEWER, name: "a\u0000" }, "name"],
    [{ ...VIEWER, tennant: "acme" }, "tennant"],
    [{ kind: "producer", name: "shop", roles: ["admin"] }, "roles"],
  ])("refuses %j and names %s", async (json, path) => {
    await using server = await openServer();

    const response = await server.ask(PATH, { json });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path }] });
  });
});

describe("GET /api/v1/tokens", () => {
  test("walks through all of them, newest first, page by page", async () => {
    await using server = await openServer();
    for (const name of ["a", "b", "c"]) await server.mill.tokens.create({ ...VIEWER, name });

    const seen: string[] = [];
    let after = "";
    for (let page = 0; page < 3; page += 1) {
      const path = `${PATH}?kind=person&limit=2${after}`;
      const { tokens, next } = await jsonOf<Listed>(await server.ask(path));
      seen.push(...tokens.map(({ name }) => name));
      if (next === null) break;
      after = `&after=${next}`;
    }

    expect(seen).toEqual(["c", "b", "a"]);
  });

  test("has no tokens of another tenant, and none for all tenants", async () => {
    await using server = await openServer();
    await server.mill.tokens.create({ ...VIEWER, name: "theirs", tenant: "globex" });
    await server.mill.tokens.create({ ...VIEWER, name: "everywhere" });
    const secret = await person(server, "manager", "acme");

    const { tokens } = await jsonOf<Listed>(await as(server, secret, `${PATH}?ended=true`));

    expect(tokens.map(({ name }) => name)).toEqual(["manager"]);
  });

  test("has revoked ones only when they are asked for", async () => {
    await using server = await openServer();
    const { token } = await server.mill.tokens.create(VIEWER);
    await server.mill.tokens.revoke(token.id);

    const open = await jsonOf<Listed>(await server.ask(`${PATH}?kind=person`));
    const all = await jsonOf<Listed>(await server.ask(`${PATH}?kind=person&ended=true`));

    expect(open.tokens).toEqual([]);
    expect(all.tokens).toMatchObject([{ id: token.id, revokedAt: expect.any(String) }]);
  });
});

describe("DELETE /api/v1/tokens/{id}", () => {
  test("ends a token, and may be repeated", async () => {
    await using server = await openServer();
    const { token, secret } = await server.mill.tokens.create(VIEWER);

    const first = await server.ask(`${PATH}/${token.id}`, { method: "DELETE" });
    const second = await server.ask(`${PATH}/${token.id}`, { method: "DELETE" });

    expect([first.status, second.status]).toEqual([204, 204]);
    expect((await as(server, secret, "/api/v1/jobs")).status).toBe(401);
  });

  test("does not know tokens of another tenant", async () => {
    await using server = await openServer();
    const secret = await person(server, "manager", "acme");
    const { token: other, secret: theirs } = await server.mill.tokens.create({
      ...VIEWER,
      tenant: "globex",
    });

    const headers = { authorization: `Bearer ${secret}` };
    const path = `${PATH}/${other.id}`;
    const response = await server.ask(path, { as: "anonymous", method: "DELETE", headers });

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "TOKEN_NOT_FOUND" });
    expect(await server.mill.tokens.verify(theirs)).not.toBeNull();
  });

  test.each([
    [NOWHERE, 404],
    ["x", 400],
  ])("answers to %s with %i", async (id, status) => {
    await using server = await openServer();

    const response = await server.ask(`${PATH}/${id}`, { method: "DELETE" });

    expect(response.status).toBe(status);
  });
});

describe("POST /api/v1/jobs/{id}/stream-token", () => {
  test("makes a token that reads this job, for at most ten minutes", async () => {
    await using server = await openServer({ base: "/jobs" });
    const { id } = await server.mill.enqueue(email);

    const response = await server.ask(`/api/v1/jobs/${id}/stream-token`, { method: "POST" });

    expect(response.status).toBe(201);
    const made = await jsonOf<Record<"path" | "secret" | "expiresAt", string>>(response);
    expect(made.path).toBe(`/jobs/api/v1/jobs/${id}/events?token=${made.secret}`);
    expect(Date.parse(made.expiresAt) - Date.now()).toBeLessThanOrEqual(600_000);
    const read = await server.ask(`/api/v1/jobs/${id}?token=${made.secret}`, { as: "anonymous" });
    expect(read.status).toBe(200);
    const act = await server.ask(`/api/v1/jobs/${id}/cancel?token=${made.secret}`, {
      as: "anonymous",
      json: {},
    });
    expect(act.status).toBe(401);
  });

  test("ends with the token of the caller who made it", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(email);
    const { secret, token } = await server.mill.tokens.create(VIEWER);
    const path = `/api/v1/jobs/${id}/stream-token`;
    const made = await jsonOf<{ secret: string }>(await as(server, secret, path, {}));
    await server.mill.tokens.revoke(token.id);

    const response = await server.ask(`/api/v1/jobs/${id}?token=${made.secret}`, {
      as: "anonymous",
    });

    expect(response.status).toBe(401);
  });

  test("does not know jobs of another tenant", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(email, undefined, { tenant: "globex" });
    const secret = await person(server, "manager", "acme");

    const response = await as(server, secret, `/api/v1/jobs/${id}/stream-token`, {});

    expect(response.status).toBe(404);
  });
});

async function person({ mill }: TestServer, role: PersonRole, tenant?: string): Promise<string> {
  const token: NewToken = { kind: "person", name: role, roles: [role] };
  return (await mill.tokens.create(tenant === undefined ? token : { ...token, tenant })).secret;
}

function as(server: TestServer, secret: string, path: string, json?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}` };
  return server.ask(path, { as: "anonymous", headers, ...(json === undefined ? {} : { json }) });
}
