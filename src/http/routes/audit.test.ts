import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob, typed } from "../../index.ts";

const email = defineJob({ type: "email", payload: typed<{ to: string; pin: number }>() });

const NEW_SCHEDULE = { name: "s", when: { cron: "@daily" }, type: "email", reason: "x" };

async function bearer(
  { mill }: TestServer,
  role: "viewer" | "operator" | "manager" | "admin",
  tenant?: string,
): Promise<{ headers: { authorization: string } }> {
  const { secret } = await mill.tokens.create({
    kind: "person",
    name: role,
    roles: [role],
    ...(tenant === undefined ? {} : { tenant }),
  });
  return { headers: { authorization: `Bearer ${secret}` } };
}

async function namesIn(server: TestServer, path: string, question: object): Promise<unknown[]> {
  const { entries } = await jsonOf<any>(await server.ask(path, question));
  return entries.map(({ name, actor }: any) => [name, actor]);
}

describe("/api/v1/audit", () => {
  test("names the caller of each act, not what the request claims", async () => {
    await using server = await openServer();
    const { mill } = server;
    const job = await mill.enqueue(email, { to: "a", pin: 1 });
    const acts: readonly (readonly [string, string, unknown?])[] = [
      ["POST", `/api/v1/jobs/${job.id}/retry`, {}],
      ["POST", `/api/v1/jobs/${job.id}/cancel`, { reason: "old" }],
      ["POST", `/api/v1/jobs/${job.id}/retry`, { reason: "again" }],
      ["PUT", "/api/v1/pauses/lane/general", { reason: "x" }],
      ["DELETE", "/api/v1/pauses/lane/general"],
      ["PUT", "/api/v1/intakes/lane/general", { reason: "x" }],
      ["DELETE", "/api/v1/intakes/lane/general"],
      ["PUT", "/api/v1/limits/type/email", { concurrency: 1, reason: "x" }],
      ["DELETE", "/api/v1/limits/type/email?reason=x"],
      ["PUT", "/api/v1/fairness/general", { weights: {} }],
      ["DELETE", "/api/v1/fairness/general"],
      ["POST", "/api/v1/breakers/bank/open", { reason: "x" }],
      ["POST", "/api/v1/breakers/bank/reset"],
      ["POST", "/api/v1/schedules", NEW_SCHEDULE],
      ["PUT", "/api/v1/schedules/s", { cron: "@hourly", reason: "x" }],
      ["PUT", "/api/v1/schedules/s/pause", { reason: "x" }],
      ["DELETE", "/api/v1/schedules/s/pause"],
      ["POST", "/api/v1/schedules/s/run", {}],
      ["DELETE", "/api/v1/schedules/s?reason=x"],
      ["POST", "/api/v1/tokens", { kind: "producer", name: "shop", actor: "eve" }],
    ];

    for (const [method, path, json] of acts) {
      const response = await server.ask(path, { method, ...(json === undefined ? {} : { json }) });
      expect(response.status, `${method} ${path}`).toBeLessThan(300);
    }

    const entries = await mill.audit.list({ limit: 100 });
    expect(entries.length).toBe(acts.length - 1);
    expect([...new Set(entries.map(({ actor }) => actor))]).toEqual(["owner"]);
  });

  test("a viewer reads its own acts, operators those of their tenant, an admin all", async () => {
    await using server = await openServer();
    const { mill } = server;
    await mill.pause({ tenant: "acme" }, "x", { actor: "viewer" });
    await mill.pause({ tenant: "acme" }, "x", { actor: "ada" });
    await mill.pause({ tenant: "umbra" }, "x", { actor: "bob" });
    const viewer = await bearer(server, "viewer", "acme");
    const operator = await bearer(server, "operator", "acme");
    const admin = await bearer(server, "admin");
    const path = "/api/v1/audit?name=tenant_paused";

    expect(await namesIn(server, path, viewer)).toEqual([["tenant_paused", "viewer"]]);
    expect(await namesIn(server, `${path}&actor=ada`, viewer)).toEqual([
      ["tenant_paused", "viewer"],
    ]);
    expect(await namesIn(server, path, operator)).toEqual([
      ["tenant_paused", "ada"],
      ["tenant_paused", "viewer"],
    ]);
    expect(await namesIn(server, `${path}&tenant=umbra`, operator)).toEqual([]);
    expect(await namesIn(server, path, admin)).toHaveLength(3);
    const exported = await server.ask("/api/v1/audit/export?name=tenant_paused", viewer);
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    expect((await exported.text()).split("\n")).toHaveLength(2);
    expect((await server.ask("/api/v1/audit/verify", viewer)).status).toBe(403);
    const verdict = await jsonOf<any>(await server.ask("/api/v1/audit/verify", operator));
    expect(verdict).toMatchObject({ isIntact: true, unsealed: expect.any(Number) });
  });

  test("tells managers of the installation the acts about it alone", async () => {
    await using server = await openServer();
    const { mill } = server;
    await mill.pause({ tenant: "acme" }, "x", { actor: "ada" });
    await mill.pause({ lane: "fast" }, "x", { actor: "bob" });
    const path = "/api/v1/audit?installation=true";
    const ofLane = ["lane_paused", "bob"];
    const others = [
      await bearer(server, "viewer"),
      await bearer(server, "operator"),
      await bearer(server, "manager", "acme"),
    ];

    for (const role of ["manager", "admin"] as const) {
      const names = await namesIn(server, path, await bearer(server, role));
      expect(names).toContainEqual(ofLane);
      expect(names).not.toContainEqual(["tenant_paused", "ada"]);
    }
    const exported = await server.ask("/api/v1/audit/export?installation=true&actor=bob");
    expect(JSON.parse(await exported.text())).toMatchObject({ name: "lane_paused", tenant: null });
    for (const question of others) expect((await server.ask(path, question)).status).toBe(403);
    expect((await server.ask(`${path}&tenant=acme`)).status).toBe(400);
  });

  test("compares the chains with the heads of an earlier answer", async () => {
    await using server = await openServer();
    await server.mill.pause({ lane: "fast" }, "x");
    const head = { tenant: null, day: "2026-01-31", position: 7, hash: "0".repeat(64) };
    const verify = (heads: readonly object[], question: object = {}) =>
      server.ask("/api/v1/audit/verify", { method: "POST", json: { heads }, ...question });
    const ofAcme = await bearer(server, "manager", "acme");
    const viewer = await bearer(server, "viewer");

    expect(await jsonOf(await verify([]))).toMatchObject({ isIntact: true, findings: [] });
    expect(await jsonOf(await verify([head]))).toMatchObject({
      isIntact: false,
      findings: [{ kind: "head_removed", tenant: null, day: "2026-01-31", position: 7 }],
    });
    const own = await jsonOf(await verify([{ ...head, tenant: "acme" }], ofAcme));
    expect(own).toMatchObject({ findings: [{ kind: "head_removed", tenant: "acme" }] });
    expect((await verify([head], ofAcme)).status).toBe(403);
    expect((await verify([], viewer)).status).toBe(403);
    expect((await verify([{ ...head, hash: "short" }])).status).toBe(400);
  });

  test("pages, filters, and shows changed values to managers alone", async () => {
    await using server = await openServer();
    const { mill } = server;
    const job = await mill.enqueue(email, { to: "a", pin: 1 });
    await mill.jobs.fail(job.id, "no");
    const reprocess = { actor: "ada", payload: { to: "b", pin: 2 } };
    await mill.deadLetters.reprocess(job.id, reprocess);
    const path = `/api/v1/audit?subject_kind=job&subject=${job.id}&limit=1`;

    const first = await jsonOf<any>(await server.ask(path));
    const second = await jsonOf<any>(await server.ask(`${path}&after=${first.next}`));
    const operator = await bearer(server, "operator");
    const hidden = await jsonOf<any>(await server.ask(`${path}&after=${first.next}`, operator));

    expect(first.entries[0].name).toBe("job_dlq_reprocess_success");
    expect(second.entries[0]).toMatchObject({
      name: "job_dlq_reprocess_requested",
      after: { changes: expect.arrayContaining([{ path: "$.to", before: "a", after: "b" }]) },
    });
    expect(hidden.entries[0].after.changes).toEqual([{ path: "$.to" }, { path: "$.pin" }]);
    expect((await server.ask("/api/v1/audit?subject=x")).status).toBe(400);
  });
});
