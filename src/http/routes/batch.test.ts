/** `POST /api/v1/jobs/batch`, and keys of single jobs that the batch does not have. */
import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";

interface Batch {
  readonly jobs: readonly any[];
  readonly created: number;
  readonly existing: number;
  readonly refused: number;
}

describe("POST /api/v1/jobs/batch", () => {
  test("enqueues in the order given", async () => {
    await using server = await openServer();
    const types = Array.from({ length: 100 }, (_, index) => `type-${index}`);

    const { jobs, created } = await batch(
      server,
      types.map((type) => ({ type })),
    );

    expect(created).toBe(100);
    expect(jobs.map(({ type }) => type)).toEqual(types);
    const ids: string[] = jobs.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
  });

  test("refuses some jobs and creates the others, and says which and why", async () => {
    await using server = await openServer();
    await server.ask("/api/v1/jobs", { json: { type: "a", options: { idempotencyKey: "k" } } });

    const { jobs, ...counts } = await batch(server, [
      { type: "a" },
      { tipe: "a" },
      7,
      { type: "a", options: { idempotencyKey: "k" } },
      { type: "a", payload: 1, options: { idempotencyKey: "k" } },
      { type: "a", options: { delay: "soon" } },
      { type: "b" },
    ]);

    expect(counts).toEqual({ created: 2, existing: 1, refused: 4 });
    expect(jobs.map((job) => job.problem?.status ?? job.created)).toEqual([
      true,
      400,
      400,
      false,
      422,
      400,
      true,
    ]);
    expect(jobs[1].problem.errors.map(({ path }: { path: string }) => path)).toContain(
      "jobs[1].tipe",
    );
    expect(jobs[5].problem.errors).toMatchObject([{ path: "jobs[5].options.delay" }]);
    expect((await server.mill.jobs.list()).jobs).toHaveLength(3);
  });

  test.each([
    [{ jobs: [] }, "jobs"],
    [{ jobs: Array.from({ length: 1_001 }, () => ({ type: "a" })) }, "jobs"],
    [{ jobs: {} }, "jobs"],
    [{}, "jobs"],
    [{ jobs: [{ type: "a" }], atomic: true }, "atomic"],
  ])("refuses the whole request when it is wrong itself", async (json, path) => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs/batch", { json });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path }] });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("takes a thousand jobs", async () => {
    await using server = await openServer();
    const jobs = Array.from({ length: 1_000 }, () => ({ type: "a" }));

    expect(await batch(server, jobs)).toMatchObject({ created: 1_000, refused: 0 });
  });

  test("takes 16 megabytes, and no more", async () => {
    await using server = await openServer();
    const jobs = Array.from({ length: 18 }, () => ({ type: "a", payload: "x".repeat(900_000) }));

    const whole = await server.ask("/api/v1/jobs/batch", { json: { jobs } });
    const most = await batch(server, jobs.slice(0, 15));

    expect(whole.status).toBe(413);
    expect(most).toMatchObject({ created: 15 });
  });

  test("refuses an Idempotency-Key, which would not prevent a second set of jobs", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs/batch", {
      json: { jobs: [{ type: "a" }] },
      headers: { "idempotency-key": "k" },
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path: "Idempotency-Key" }] });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("gives the tenant of the credential, and refuses jobs of another one", async () => {
    await using server = await openServer();
    const { secret } = await server.mill.tokens.create({
      kind: "producer",
      name: "shop",
      tenant: "acme",
    });
    const json = { jobs: [{ type: "a" }, { type: "a", options: { tenant: "globex" } }] };

    const headers = { authorization: `Bearer ${secret}` };
    const response = await server.ask("/api/v1/jobs/batch", { as: "anonymous", json, headers });

    const { jobs } = await jsonOf<Batch>(response);
    expect(jobs).toMatchObject([{ created: true }, { problem: { status: 403 } }]);
    expect((await server.mill.jobs.list()).jobs).toMatchObject([{ tenant: "acme" }]);
  });
});

describe("POST /api/v1/jobs", () => {
  test("does not call it a replay when a dedup key has found the job", async () => {
    await using server = await openServer();
    const json = { type: "a", options: { dedupKey: "k" } };
    await server.ask("/api/v1/jobs", { json });

    const response = await server.ask("/api/v1/jobs", { json });

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ created: false });
    expect(response.headers.get("idempotency-replayed")).toBeNull();
  });

  test("makes one job of 50 concurrent requests with one key", async () => {
    await using server = await openServer();
    const asking = { json: { type: "a" }, headers: { "idempotency-key": "k" } };

    const responses = await Promise.all(
      Array.from({ length: 50 }, () => server.ask("/api/v1/jobs", asking)),
    );

    const bodies = await Promise.all(responses.map((each) => jsonOf<{ id: string }>(each)));
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(1);
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await server.mill.jobs.list()).jobs).toHaveLength(1);
  });

  test.each(["after", "parentId"])(
    "does not link a job to another tenant's by %s",
    async (name) => {
      await using server = await openServer();
      const theirs = await server.ask("/api/v1/jobs", {
        json: { type: "a", options: { tenant: "globex" } },
      });
      const { id } = await jsonOf<{ id: string }>(theirs);
      const { secret } = await server.mill.tokens.create({
        kind: "producer",
        name: "shop",
        tenant: "acme",
      });

      const json = { type: "b", options: { [name]: name === "after" ? [id] : id } };
      const headers = { authorization: `Bearer ${secret}` };
      const response = await server.ask("/api/v1/jobs", { as: "anonymous", json, headers });

      expect(response.status).toBe(name === "after" ? 422 : 400);
    },
  );
});

async function batch(server: TestServer, jobs: readonly unknown[]): Promise<Batch> {
  const response = await server.ask("/api/v1/jobs/batch", { json: { jobs } });
  expect(response.status).toBe(200);
  return jsonOf<Batch>(response);
}
