/** A caller of one tenant, and the routes about tenants. */
import { describe, expect, test } from "vitest";
import { defineJob, typed, type Millrace } from "millrace";
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

  test("remove a tenant in requests that continue, and tell how far they have come", async () => {
    await using server = await openServer();
    const { mill } = server;
    const path = "/api/v1/tenants/acme/removal";
    expect(await (await server.ask(path)).json()).toEqual({ removal: null });
    const email = defineJob({ type: "email" }).run(() => {});
    await mill.enqueue(email, undefined, { tenant: "acme" });
    await mill.enqueue(email, undefined, { tenant: "umbra" });
    const post = (confirm: string) =>
      server.ask(path, { method: "POST", json: { reason: "left", confirm } });
    expect((await post("umbra")).status).toBe(400);
    expect(await (await server.ask(path)).json()).toEqual({ removal: null });

    const removed = await post("acme");
    expect(removed.status).toBe(202);
    expect(await removed.json()).toMatchObject({
      reason: "left",
      doneAt: expect.any(String),
      removed: 1,
      rows: { job: 0, operation: 0 },
    });
    expect(await (await server.ask(path)).json()).toMatchObject({
      removal: { reason: "left", removed: 1 },
    });
    expect((await mill.jobs.count({ tenant: "umbra" })).count).toBe(1);
  });

  test("export a tenant as lines of JSON, up to the line that counts them", async () => {
    await using server = await openServer();
    const email = defineJob({ type: "email", payload: typed<string>() });
    await server.mill.enqueue(email, "to acme", { tenant: "acme" });
    await server.mill.enqueue(email, "to umbra", { tenant: "umbra" });
    const exported = await server.ask("/api/v1/tenants/acme/export");
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    const text = await exported.text();
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ kind: "tenant", data: { tenant: "acme" } });
    expect(lines.at(-1)).toMatchObject({ kind: "end", data: { lines: { job: 1 } } });
    expect(text).toContain("to acme");
    expect(text).not.toContain("umbra");
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
