import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob } from "../../index.ts";

const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";
const ACTIONS = ["cancel", "retry", "fail", "release"] as const;
const waiting = defineJob({ type: "waiting" });

describe("POST /api/v1/jobs/{id}/cancel", () => {
  test("cancels a waiting job, with the reason", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const response = await act(server, id, "cancel", { reason: "not needed" });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id, state: "cancelled" });
    expect(await server.mill.jobs.get(id)).toMatchObject({ cancelReason: "not needed" });
  });

  test("needs neither a reason nor a body", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const response = await server.ask(`/api/v1/jobs/${id}/cancel`, { method: "POST" });

    expect(response.status).toBe(200);
  });

  test("asks a running job to stop", async () => {
    await using server = await openServer();
    await using running = await runningJob(server);

    const response = await act(server, running.id, "cancel", {});

    expect(response.status).toBe(200);
    await running.isAborted;
  });

  test("of a final job is refused with 409", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);
    await act(server, id, "cancel", {});

    const response = await act(server, id, "cancel", {});

    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "JOB_OVER" });
  });
});

describe("POST /api/v1/jobs/{id}/retry", () => {
  test("runs a scheduled job now", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting, undefined, { delay: "1h" });

    const response = await act(server, id, "retry", {});

    expect(await response.json()).toMatchObject({ id, state: "queued", created: false });
  });

  test("names the holder of a dedup key that is taken", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting, undefined, { dedupKey: "d" });
    await act(server, id, "cancel", {});
    const holder = await server.mill.enqueue(waiting, undefined, { dedupKey: "d" });

    const response = await act(server, id, "retry", {});

    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "DEDUP_KEY_HELD", holder: holder.id });
  });

  test("enqueues a linked successor of a final job, once", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);
    await act(server, id, "cancel", {});

    const first = await jsonOf<{ id: string }>(await act(server, id, "retry", { restart: true }));
    const second = await jsonOf<{ id: string }>(await act(server, id, "retry", { restart: true }));

    expect(first.id).not.toBe(id);
    expect(second.id).toBe(first.id);
    expect(await server.mill.jobs.get(first.id)).toMatchObject({ retryOf: id });
  });
});

describe("POST /api/v1/jobs/{id}/fail", () => {
  test("ends the wait of a job as failed, with the message", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const response = await act(server, id, "fail", { message: "the input is gone" });

    expect(await response.json()).toMatchObject({
      state: "failed",
      error: { message: "the input is gone" },
    });
  });

  test("needs a message", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const response = await act(server, id, "fail", {});

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: "message is missing" });
    expect(await server.mill.jobs.get(id)).toMatchObject({ state: "queued" });
  });
});

describe("POST /api/v1/jobs/{id}/release", () => {
  test("refuses a run whose worker is alive, unless it is forced", async () => {
    await using server = await openServer();
    await using running = await runningJob(server);

    const refused = await act(server, running.id, "release", {});
    const released = await act(server, running.id, "release", { force: true });

    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: "RUN_HEALTHY" });
    expect(released.status).toBe(200);
    expect(await released.json()).toMatchObject({ state: "queued", attempts: 0 });
  });

  test("refuses a job that does not run", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const response = await act(server, id, "release", {});

    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "JOB_NOT_RUNNING" });
  });
});

describe("an action", () => {
  test.each(ACTIONS)("%s on a job that is gone is answered with 404", async (action) => {
    await using server = await openServer();

    const response = await act(server, NOWHERE, action, { ...NEEDED[action] });

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test.each(ACTIONS)("%s on a job of another tenant does nothing", async (action) => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting, undefined, { tenant: "acme", delay: "1h" });
    const before = await server.mill.jobs.get(id);
    const { secret } = await server.mill.tokens.create({
      kind: "person",
      name: "eve",
      roles: ["manager"],
      tenant: "globex",
    });

    const headers = { authorization: `Bearer ${secret}` };
    const json = { ...NEEDED[action] };
    const path = `/api/v1/jobs/${id}/${action}`;
    const response = await server.ask(path, { as: "anonymous", json, headers });

    expect(response.status).toBe(404);
    expect(await server.mill.jobs.get(id)).toEqual(before);
  });

  test.each(ACTIONS)("%s refuses a field that it does not know", async (action) => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting, undefined, { delay: "1h" });

    const response = await act(server, id, action, { ...NEEDED[action], forse: true });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path: "forse" }] });
    expect(await server.mill.jobs.get(id)).toMatchObject({ state: "scheduled" });
  });

  test("tells which field was probably meant", async () => {
    await using server = await openServer();

    const response = await act(server, NOWHERE, "release", { forse: true });

    expect(await response.json()).toMatchObject({
      detail: "forse is unknown; did you mean force?",
    });
  });
});

/** What a request needs to be accepted. */
const NEEDED: Readonly<Record<string, object>> = { fail: { message: "asked" } };

function act(server: TestServer, id: string, action: string, json: object): Promise<Response> {
  return server.ask(`/api/v1/jobs/${id}/${action}`, { json });
}

interface RunningJob extends AsyncDisposable {
  readonly id: string;
  readonly isAborted: Promise<void>;
}

/** A job that runs until it is told to stop, or the test is over. */
async function runningJob({ mill }: TestServer): Promise<RunningJob> {
  const begun = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const endless = defineJob({ type: "endless" }).run(async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.resolve());
    begun.resolve();
    await aborted.promise;
  });
  const { id } = await mill.enqueue(endless);
  const worker = mill.work({ jobs: [endless], signals: false });
  await begun.promise;
  return {
    id,
    isAborted: aborted.promise,
    async [Symbol.asyncDispose]() {
      aborted.resolve();
      await worker.stop();
    },
  };
}
