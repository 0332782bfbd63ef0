/** `GET /api/v1/types`, and jobs that are enqueued by the name of their type. */
import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob, type AnyJob } from "../../index.ts";

const pay = defineJob({ type: "pay", lane: "fast", maxAttempts: 9, timeout: false }).run(() => {});

describe("GET /api/v1/types", () => {
  test("lists what workers have declared", async () => {
    await using server = await openServer();
    await declare(server);

    const { types }: any = await jsonOf(await server.ask("/api/v1/types"));

    expect(types).toMatchObject([{ type: "pay", lane: "fast", appVersion: "2", timeoutMs: null }]);
  });
});

describe("PATCH /api/v1/types/{type}", () => {
  test("overrides what new jobs without code get, until the override is removed", async () => {
    await using server = await openServer();
    await declare(server);
    const json = { priority: 5, maxAttempts: 3, timeoutMs: 60_000 };

    const set = await server.ask("/api/v1/types/pay", { method: "PATCH", json });
    await declare(server);
    const { types }: any = await jsonOf(await server.ask("/api/v1/types"));
    const plain = await enqueue(server, { type: "pay" });
    const own = await enqueue(server, { type: "pay", options: { priority: 9 } });

    expect(set.status).toBe(204);
    expect(types).toMatchObject([
      {
        ...json,
        lane: "fast",
        declared: { lane: "fast", priority: 100, maxAttempts: 9, timeoutMs: null },
        override: { settings: ["priority", "maxAttempts", "timeoutMs"], setBy: "owner" },
      },
    ]);
    expect(plain).toMatchObject({ lane: "fast", priority: 5, maxAttempts: 3 });
    expect(own).toMatchObject({ priority: 9, maxAttempts: 3 });

    const path = "/api/v1/types/pay/override";
    expect(await jsonOf(await server.ask(path, { method: "DELETE" }))).toEqual({ wasSet: true });
    expect(await jsonOf(await server.ask(path, { method: "DELETE" }))).toEqual({ wasSet: false });
    expect(await enqueue(server, { type: "pay" })).toMatchObject({ priority: 100 });
  });

  test("sets no time limit with null", async () => {
    await using server = await openServer();
    await declare(server);
    const json = (timeoutMs: number | null) => ({ method: "PATCH", json: { timeoutMs } }) as const;
    await server.ask("/api/v1/types/pay", json(5));
    await server.ask("/api/v1/types/pay", json(null));

    const known = await server.mill.types.get("pay");

    expect(known).toMatchObject({ timeoutMs: null, override: { settings: ["timeoutMs"] } });
  });

  test.each([
    ["pay", {}, 400],
    ["pay", { priority: -1 }, 400],
    ["fax", { priority: 1 }, 404],
  ])("refuses %s with %j", async (type, json, status) => {
    await using server = await openServer();
    await declare(server);

    const answer = await server.ask(`/api/v1/types/${type}`, { method: "PATCH", json });

    expect(answer.status).toBe(status);
  });
});

describe("POST /api/v1/jobs without the code of the type", () => {
  test("takes the settings of a worker, unless the request has its own", async () => {
    await using server = await openServer();
    await declare(server);

    const plain = await enqueue(server, { type: "pay" });
    const own = await enqueue(server, { type: "pay", options: { maxAttempts: 2 } });
    const unknown = await enqueue(server, { type: "fax" });

    expect(plain).toMatchObject({ lane: "fast", maxAttempts: 9 });
    expect(own).toMatchObject({ lane: "fast", maxAttempts: 2 });
    expect(unknown).toMatchObject({ lane: "general", maxAttempts: 5 });
  });

  test("lets a supervisor repeat the job if the code of the type says so", async () => {
    await using server = await openServer();
    const settings = { type: "mail", retryOwner: "supervisor" } as const;
    const mail = defineJob(settings).run(() => {
      throw new Error("hung up");
    });
    await declare(server, [mail]);

    const { id }: any = await jsonOf(await server.ask("/api/v1/jobs", { json: { type: "mail" } }));
    const worker = server.mill.work({ jobs: [mail], signals: false });
    await server.mill.wait({ id, type: "mail" });
    await worker.stop();

    expect(await server.mill.jobs.get(id)).toMatchObject({ state: "completed" });
  });
});

async function declare({ mill }: TestServer, jobs: AnyJob[] = [pay]): Promise<void> {
  const worker = mill.work({ jobs, appVersion: "2", signals: false });
  await worker.ready;
  await worker.stop();
}

async function enqueue(server: TestServer, json: object): Promise<object> {
  const { id }: any = await jsonOf(await server.ask("/api/v1/jobs", { json }));
  return server.mill.jobs.get(id);
}
