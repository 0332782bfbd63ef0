import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob } from "../../index.ts";

const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";
const email = defineJob({ type: "email" }).run(async () => {});
const report = defineJob({ type: "report", lane: "slow" });

describe("/api/v1/pauses", () => {
  test.each([
    ["lane", "general"],
    ["type", "email"],
    ["tenant", "default"],
    ["lane", "a/b c"],
    ["installation", "all"],
  ])("pauses and resumes the %s %s, with its reason and who asked", async (kind, name) => {
    await using server = await openServer();
    await server.mill.enqueue(email);
    const path = `/api/v1/pauses/${kind}/${encodeURIComponent(name)}`;

    const paused = await server.ask(path, { method: "PUT", json: { reason: "a deploy" } });
    const listed = await read(server, "/api/v1/pauses");
    const resumed = await server.ask(path, { method: "DELETE" });

    expect(paused.status).toBe(204);
    expect(listed.pauses).toMatchObject([{ kind, name, reason: "a deploy", pausedBy: "owner" }]);
    expect(await resumed.json()).toMatchObject({ wasPaused: true });
    expect(await read(server, "/api/v1/pauses")).toEqual({ pauses: [] });
  });

  test("resumes what is not paused, and says so", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/pauses/lane/general", { method: "DELETE" });

    expect(await response.json()).toMatchObject({ wasPaused: false });
  });

  test.each([
    ["lane", "general", {}, "reason"],
    ["lane", "general", { reason: "" }, "reason"],
    ["lain", "general", { reason: "x" }, "kind"],
    ["lane", "x".repeat(201), { reason: "x" }, "name"],
    ["lane", "%00", { reason: "x" }, "lane"],
  ])("refuses to pause %s/%s with %j, and names %s", async (kind, name, json, place) => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/pauses/${kind}/${name}`, { method: "PUT", json });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path: place }] });
  });

  test.each(["lane/general", "type/email", "tenant/globex", "installation/all"])(
    "keeps an operator of one tenant from pausing %s",
    async (target) => {
      await using server = await openServer();
      const headers = await headersOf(server, "operator", "acme");

      for (const method of ["PUT", "DELETE"]) {
        const response = await server.ask(`/api/v1/pauses/${target}`, {
          as: "anonymous",
          headers,
          method,
          ...(method === "PUT" ? { json: { reason: "x" } } : {}),
        });
        expect({ method, status: response.status }).toEqual({ method, status: 403 });
      }
      expect(await server.mill.pauses()).toEqual([]);
    },
  );

  test("shows a tenant its own pause, and none of another tenant", async () => {
    await using server = await openServer();
    for (const tenant of ["acme", "globex"]) {
      await server.mill.pause({ tenant }, `${tenant} has not paid`);
    }

    const headers = await headersOf(server, "viewer", "acme");
    const response = await server.ask("/api/v1/pauses", { as: "anonymous", headers });

    const { pauses } = await jsonOf<{ pauses: object[] }>(response);
    expect(pauses).toMatchObject([{ kind: "tenant", name: "acme" }]);
  });
});

describe("/api/v1/running", () => {
  test("counts the running jobs of a target, for a drain over HTTP (004-37)", async () => {
    await using server = await openServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const slow = defineJob({ type: "slow" }).run(() => {
      started.resolve();
      return promise;
    });
    const { id } = await server.mill.enqueue(slow);
    await using worker = server.mill.work({ jobs: [slow], signals: false });
    await started.promise;

    const running = await read(server, "/api/v1/running/type/slow");
    const ofWorker = await read(server, `/api/v1/running/worker/${worker.id}?claims=1/2,x`);
    const other = await read(server, "/api/v1/running/lane/fast");
    resolve();

    expect(running).toEqual({ running: 1, atLeast: false, ids: [id], claims: [] });
    expect(ofWorker).toMatchObject({ running: 1 });
    expect(other).toMatchObject({ running: 0, ids: [] });
  });

  test.each([
    "lane/general",
    "type/email",
    "tenant/globex",
    "installation/all",
    `worker/${NOWHERE}`,
  ])("keeps a viewer of one tenant from counting %s", async (target) => {
    await using server = await openServer();
    const headers = await headersOf(server, "viewer", "acme");

    const response = await server.ask(`/api/v1/running/${target}`, { as: "anonymous", headers });

    expect(response.status).toBe(403);
  });

  test.each(["installation/some", "worker/x", "job/x"])("refuses %s", async (target) => {
    await using server = await openServer();

    expect((await server.ask(`/api/v1/running/${target}`)).status).toBe(400);
  });
});

describe("/api/v1/workers", () => {
  test("lists a worker, makes it quiet and stops it", async () => {
    await using server = await openServer();
    const worker = server.mill.work({ jobs: [email], signals: false });
    await worker.ready;
    const { workers } = await read(server, "/api/v1/workers");
    const [{ id }] = workers;

    const quiet = await server.ask(`/api/v1/workers/${id}/quiet`, { method: "POST" });
    const stop = await server.ask(`/api/v1/workers/${id}/stop`, { method: "POST" });

    expect(workers).toMatchObject([
      { types: ["email"], isAlive: true, isQuiet: false, running: 0 },
    ]);
    expect([quiet.status, stop.status]).toEqual([204, 204]);
    expect(await read(server, "/api/v1/workers")).toMatchObject({
      workers: [{ id, isQuiet: true, isStopping: true }],
    });
    await worker.stop();
  });

  test.each([
    [NOWHERE, 404],
    ["x", 400],
  ])("answers to the worker %s with %i", async (id, status) => {
    await using server = await openServer();

    for (const verb of ["quiet", "resume", "stop"]) {
      const response = await server.ask(`/api/v1/workers/${id}/${verb}`, { method: "POST" });
      expect(response.status).toBe(status);
    }
  });
});

describe("/api/v1/stats", () => {
  test("counts what jobs wait for (003-28)", async () => {
    await using server = await openServer();
    await server.mill.enqueue(email);
    await server.mill.enqueue(email, undefined, { delay: "1h" });

    expect(await read(server, "/api/v1/stats")).toMatchObject({
      queued: 1,
      scheduled: 1,
      running: 0,
      failed: 0,
      oldestQueuedMs: expect.any(Number),
    });
  });

  test.each([
    ["type", { email: 2, report: 1 }],
    ["lane", { general: 2, slow: 1 }],
    ["tenant", { acme: 1, default: 2 }],
  ])("counts by %s, the largest group first (003-28)", async (by, expected) => {
    await using server = await openServer();
    await server.mill.enqueue(email);
    await server.mill.enqueue(email);
    await server.mill.enqueue(report, undefined, { tenant: "acme" });

    const { groups } = await read(server, `/api/v1/stats/${by}`);

    const counts = groups.map((each: any) => [each.name, each.queued]);
    expect(Object.fromEntries(counts)).toEqual(expected);
    expect(counts[0][1]).toBe(2);
  });

  test("refuses another group, and names those that there are", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/stats/types");

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      detail: expect.stringContaining("did you mean type?"),
    });
  });
});

async function headersOf(
  { mill }: TestServer,
  role: "viewer" | "operator",
  tenant: string,
): Promise<Record<string, string>> {
  const { secret } = await mill.tokens.create({
    kind: "person",
    name: role,
    roles: [role],
    tenant,
  });
  return { authorization: `Bearer ${secret}` };
}

async function read(server: TestServer, path: string): Promise<any> {
  const response = await server.ask(path);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return jsonOf<unknown>(response);
}
