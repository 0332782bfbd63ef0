/** What a caller may ask for beside a job: whether it has changed, its end, times of its making. */
import { describe, expect, test } from "vitest";
import { retention } from "../../../test/support/factories.ts";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob } from "../../index.ts";

const email = defineJob({ type: "email" });

describe("GET /api/v1/jobs/{id}", () => {
  test("answers 304 while the job is as the caller knows it", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(email);
    const path = `/api/v1/jobs/${id}`;
    const etag = (await server.ask(path)).headers.get("etag") ?? "";

    const same = await server.ask(path, { headers: { "if-none-match": etag } });
    await server.mill.jobs.cancel(id);
    const changed = await server.ask(path, { headers: { "if-none-match": etag } });

    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect(same.status).toBe(304);
    expect(await same.text()).toBe("");
    expect(same.headers.get("etag")).toBe(etag);
    expect(changed.status).toBe(200);
    expect(changed.headers.get("etag")).not.toBe(etag);
  });

  test.each([
    ["weak", (etag: string) => `W/${etag}`, 304],
    ["one of several", (etag: string) => `"other", ${etag}`, 304],
    ["any", () => "*", 304],
    ["another", () => '"other"', 200],
  ])("reads If-None-Match: %s", async (_, header, status) => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(email);
    const path = `/api/v1/jobs/${id}`;
    const etag = (await server.ask(path)).headers.get("etag") ?? "";

    const headers = { "if-none-match": header(etag) };
    expect((await server.ask(path, { headers })).status).toBe(status);
  });

  test("has another tag for a caller who reads less", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(defineJob({ type: "order" }));
    await server.mill.jobs.cancel(id, "a name");
    const { secret } = await server.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });
    const path = `/api/v1/jobs/${id}`;
    const etag = (await server.ask(path)).headers.get("etag") ?? "";

    const headers = { authorization: `Bearer ${secret}`, "if-none-match": etag };
    expect((await server.ask(path, { as: "anonymous", headers })).status).toBe(200);
  });

  test.each(["wait=30", "respond-async, wait=30", "wait=30; x=y"])(
    "waits for the end of the job with Prefer: %s",
    async (prefer) => {
      await using server = await openServer();
      const { id } = await server.mill.enqueue(email);
      const wait = server.mill.wait.bind(server.mill);
      const begun = Promise.withResolvers<void>();
      server.mill.wait = (...args) => {
        begun.resolve();
        return wait(...args);
      };

      const asked = server.ask(`/api/v1/jobs/${id}`, { headers: { prefer } });
      await begun.promise;
      await server.mill.jobs.cancel(id);
      const response = await asked;

      expect(await response.json()).toMatchObject({ state: "cancelled" });
    },
  );

  test.each(["wait=x", "awaiting=30", "", "wait=-1"])(
    "does not wait with Prefer: %s",
    async (prefer) => {
      await using server = await openServer();
      const { id } = await server.mill.enqueue(email);
      server.mill.wait = () => Promise.reject(new Error("it waits"));

      const response = await server.ask(`/api/v1/jobs/${id}`, { headers: { prefer } });

      expect(response.status).toBe(200);
    },
  );

  test("answers 404 to a job past its retention, and names the period (000-45)", async () => {
    await using server = await openServer();
    const id = await removed(server);

    const response = await server.ask(`/api/v1/jobs/${id}`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: "JOB_NOT_FOUND",
      detail: expect.stringContaining("finished jobs are removed after 7 d"),
    });
  });
});

describe("GET /api/v1/jobs by the time of creation", () => {
  test.each([
    ["created_after=2h", 1],
    ["created_before=2h", 0],
    ["created_after=2020-01-01T00:00:00Z", 1],
    ["created_before=2020-01-01T00:00:00%2B02:00", 0],
    ["created_after=2020-01-01", 1],
    ["created_after=1h&created_before=0s", 1],
    ["created_after=36500d", 1],
  ])("%s finds %i", async (query, count) => {
    await using server = await openServer();
    await server.mill.enqueue(email);
    // A job of the same millisecond is not before now.
    await new Promise((resolve) => setTimeout(resolve, 2));

    const response = await server.ask(`/api/v1/jobs?${query}`);

    expect((await jsonOf<{ jobs: object[] }>(response)).jobs).toHaveLength(count);
  });

  test.each(["soon", "2026-02-30", "2026-11-15T10:00:00", "99999999d", "%2B275760-09-13"])(
    "refuses the time %s, under the name that the caller gave",
    async (time) => {
      await using server = await openServer();

      const response = await server.ask(`/api/v1/jobs?created_after=${time}`);

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ path: "created_after" }] });
    },
  );
});

/** The id of a job that was there and is gone. */
async function removed({ mill }: TestServer): Promise<string> {
  const { id } = await mill.enqueue(email);
  await mill.jobs.cancel(id);
  const { store } = Reflect.get(mill, "parts");
  const { finishedMs } = retention();
  await store.prune(retention({ finishedMs: { ...finishedMs, cancelled: -1_000 } }), 100);
  return id;
}
