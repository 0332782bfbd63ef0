import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";

describe("/api/v1/limits", () => {
  test.each([
    ["type/email", { kind: "type", name: "email" }],
    ["tenant/a%2Fb%20c", { kind: "tenant", name: "a/b c" }],
    ["service/bank", { kind: "service", name: "bank" }],
    ["installation/all", { kind: "installation", name: "all" }],
  ])("sets, lists and removes the limit of %s", async (path, of) => {
    await using server = await openServer();
    const json = { concurrency: 5, rate: { limit: 10, perMs: 1_000 }, reason: "asked" };

    const set = await server.ask(`/api/v1/limits/${path}`, { method: "PUT", json });
    const listed = await jsonOf<{ limits: unknown }>(await server.ask("/api/v1/limits"));
    const removed = await server.ask(`/api/v1/limits/${path}?reason=over`, { method: "DELETE" });
    const again = await server.ask(`/api/v1/limits/${path}?reason=over`, { method: "DELETE" });

    expect(set.status).toBe(204);
    const rate = { limit: 10, perMs: 1_000, burst: 10 };
    expect(listed.limits).toMatchObject([{ ...of, concurrency: 5, rate, setBy: "owner", used: 0 }]);
    expect(await removed.json()).toEqual({ wasSet: true });
    expect(await again.json()).toEqual({ wasSet: false });
    expect(await server.mill.audit.list({ limit: 2 })).toMatchObject([
      { name: "limit_removed", actor: "owner", reason: "over" },
      { name: "limit_set", actor: "owner", reason: "asked" },
    ]);
  });

  test("sets, lists and removes the rate of a key", async () => {
    await using server = await openServer();
    const path = "/api/v1/limits/key/box%2F7?tenant=acme";
    const json = { rate: { limit: 10, perMs: 1_000 }, reason: "asked" };

    const set = await server.ask(path, { method: "PUT", json });
    const listed = await jsonOf<{ limits: unknown }>(await server.ask("/api/v1/limits"));
    const removed = await server.ask(`${path}&reason=over`, { method: "DELETE" });

    expect(set.status).toBe(204);
    expect(listed.limits).toMatchObject([{ kind: "key", name: "box/7", tenant: "acme" }]);
    expect(await removed.json()).toEqual({ wasSet: true });
  });

  test.each([
    ["type/email", {}],
    ["type/email", { concurrency: 0 }],
    ["type/email", { rate: { limit: 5 } }],
    ["lane/fast", { concurrency: 1 }],
    ["key/box-7", { concurrency: 1 }],
    ["type/email?tenant=acme", { concurrency: 1 }],
    ["installation/other", { concurrency: 1 }],
  ])("refuses %s with %j", async (path, json) => {
    await using server = await openServer();

    const question = { method: "PUT", json: { ...json, reason: "asked" } };
    const response = await server.ask(`/api/v1/limits/${path}`, question);

    expect(response.status).toBe(400);
  });

  test("refuses a change without a reason", async () => {
    await using server = await openServer();
    const path = "/api/v1/limits/type/email";

    const set = await server.ask(path, { method: "PUT", json: { concurrency: 5 } });
    const removed = await server.ask(path, { method: "DELETE" });

    for (const response of [set, removed]) {
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ path: "reason" }] });
    }
    expect(await server.mill.limits.list()).toEqual([]);
  });
});
