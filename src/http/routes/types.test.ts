/** `GET /api/v1/types`, and jobs that are enqueued by the name of their type. */
import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob } from "../../index.ts";

const pay = defineJob({ type: "pay", lane: "fast", maxAttempts: 9, timeout: false }).run(() => {});

describe("GET /api/v1/types", () => {
  test("lists what workers have declared", async () => {
    await using server = await openServer();
    await declare(server);

    const { types }: any = await jsonOf(await server.ask("/api/v1/types"));

    expect(types).toMatchObject([{ type: "pay", lane: "fast", appVersion: "2", timeoutMs: null }]);
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
});

async function declare({ mill }: TestServer): Promise<void> {
  const worker = mill.work({ jobs: [pay], appVersion: "2", signals: false });
  await worker.ready;
  await worker.stop();
}

async function enqueue(server: TestServer, json: object): Promise<object> {
  const { id }: any = await jsonOf(await server.ask("/api/v1/jobs", { json }));
  return server.mill.jobs.get(id);
}
