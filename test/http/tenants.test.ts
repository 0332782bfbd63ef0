/** A caller of one tenant, and the routes about tenants. */
import { describe, expect, test } from "vitest";
import type { Millrace } from "millrace";
import { openMillrace } from "../../src/open.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { openServer } from "../support/http/http-server.ts";
import { auditRoutes } from "../support/tenants/requests.ts";
import { fillTenants } from "../support/tenants/scene.ts";

const WHY = { actor: "ada", reason: "the plan of acme" };

describe("a caller of one tenant", () => {
  test("learns nothing of another tenant from any route", async () => {
    const store = makeSqliteStore({ path: ":memory:" });
    await store.open();
    const scene = await fillTenants(store);
    await using mill = await openMillrace(store);

    const { attempts, leaks, succeeded } = await auditRoutes(mill, scene);

    expect(leaks).toEqual([]);
    expect(attempts).toBeGreaterThan(70);
    expect(succeeded).toBeGreaterThan(45);
  });

  test("is found to learn something when a filter is missing", async () => {
    const store = makeSqliteStore({ path: ":memory:" });
    await store.open();
    const scene = await fillTenants(store);
    await using mill = await openMillrace(store);
    const leaky: Millrace = Object.create(mill, { forTenant: { value: () => mill } });

    expect((await auditRoutes(leaky, scene)).leaks.length).toBeGreaterThan(10);
  });
});

describe("the routes of tenants", () => {
  test("set a quota, tell its use, and remove it", async () => {
    await using server = await openServer();
    const json = { waiting: 1, rate: { limit: 5, perMs: 1_000 }, reason: "asked" };
    const set = await server.ask("/api/v1/tenants/acme/quota", { method: "PUT", json });
    expect(set.status).toBe(204);

    const told = await (await server.ask("/api/v1/tenants/acme")).json();
    expect(told).toMatchObject({
      quota: { waiting: 1, rate: { limit: 5, perMs: 1_000, burst: 5 }, waitingNow: 0, tokens: 5 },
    });
    expect(await (await server.ask("/api/v1/tenants?limit=1")).json()).toMatchObject({
      tenants: [{ tenant: "acme", counts: { queued: 0 } }],
      next: "acme",
    });
    const removed = await server.ask("/api/v1/tenants/acme/quota?reason=asked", {
      method: "DELETE",
    });
    expect(await removed.json()).toEqual({ wasSet: true });
  });

  test("a job over quota is refused with 429 and Retry-After, or with 413", async () => {
    await using server = await openServer();
    const { mill } = server;
    const ask = (payload: unknown) =>
      server.ask("/api/v1/jobs", { method: "POST", json: { type: "email", payload } });
    await mill.tenants.setQuota("default", { rate: { limit: 1, per: "1m" }, payloadBytes: 9 }, WHY);
    expect((await ask("short")).status).toBe(201);

    const late = await ask("short");
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(await late.json()).toMatchObject({
      code: "QUOTA_EXCEEDED",
      detail: expect.stringContaining('"default" has used up its rate of 1'),
    });
    const long = await ask("a longer payload");
    expect([long.status, long.headers.get("retry-after")]).toEqual([413, null]);
    await mill.tenants.setQuota("default", { waiting: 1 }, WHY);
    const full = await ask("short");
    expect([full.status, full.headers.get("retry-after")]).toEqual([429, "5"]);
  });
});
