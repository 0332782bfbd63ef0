import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  jsonOf,
  openServer,
  type Question,
  type TestServer,
} from "../../../test/support/http/http-server.ts";
import type { AnyContract } from "../../api/definition.ts";
import { defineJob } from "../../index.ts";

const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";

describe("GET /api/v1/jobs?running_longer_than", () => {
  test("lists running jobs alone, and refuses another state and what is no duration", async () => {
    await using server = await openServer();
    const started = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const slow = defineJob({ type: "slow" }).run(() => {
      started.resolve();
      return over.promise;
    });
    const { id } = await server.mill.enqueue(slow);
    await server.mill.enqueue(slow, undefined, { delay: "1h" });
    await using _ = server.mill.work({ jobs: [slow], signals: false });
    await started.promise;

    const path = "/api/v1/jobs?running_longer_than=";
    const now = await jsonOf<{ jobs: object[] }>(await server.ask(`${path}0ms`));
    const later = await jsonOf<{ jobs: object[] }>(await server.ask(`${path}1h&type=slow`));
    const wrong = await server.ask(`${path}1h&state=failed`);
    const none = await server.ask(`${path}soon`);
    over.resolve();

    expect(now.jobs).toMatchObject([{ id }]);
    expect(later.jobs).toEqual([]);
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ errors: [{ path: "state" }] });
    expect(await none.json()).toMatchObject({ errors: [{ path: "running_longer_than" }] });
  });
});

describe("POST /api/v1/jobs", () => {
  test("enqueues a job, says where it is, and keeps its payload as it was given", async () => {
    await using server = await openServer();

    const response = await post(server, {
      type: "email",
      payload: { to: "ada", parts: [1, null, { a: "ü" }] },
      options: { tenant: "acme", priority: "high", tags: { area: "north" }, delay: "1h" },
    });

    expect(response.status).toBe(201);
    const { id, ...rest } = await jsonOf<{ id: string }>(response);
    expect(rest).toEqual({ type: "email", state: "scheduled", created: true });
    expect(response.headers.get("location")).toBe(`/api/v1/jobs/${id}`);
    expect(await server.mill.jobs.get(id)).toMatchObject({
      payload: { to: "ada", parts: [1, null, { a: "ü" }] },
      tenant: "acme",
      priority: 50,
      tags: { area: "north" },
    });
  });

  test("takes a job without payload", async () => {
    await using server = await openServer();

    expect((await post(server, { type: "sweep" })).status).toBe(201);
  });

  test.each([
    ["bare", "order-7", "order-7"],
    ["quoted", '"order-7"', "order-7"],
    ["quoted, with what it escapes", String.raw`"a \"b\" \\c"`, String.raw`a "b" \c`],
  ])("gives the same job for the same %s Idempotency-Key", async (_, header, key) => {
    await using server = await openServer();
    const asking = { json: { type: "email" }, headers: { "idempotency-key": header } };

    const first = await server.ask("/api/v1/jobs", asking);
    const second = await server.ask("/api/v1/jobs", asking);

    expect([first.status, second.status]).toEqual([201, 200]);
    const { id } = await jsonOf<{ id: string }>(first);
    expect(await second.json()).toMatchObject({ id, created: false });
    expect(second.headers.get("location")).toBe(`/api/v1/jobs/${id}`);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await server.mill.jobs.get(id)).toMatchObject({ idempotencyKey: key });
  });

  test("refuses the same key for another payload", async () => {
    await using server = await openServer();
    const headers = { "idempotency-key": "k" };
    await server.ask("/api/v1/jobs", { json: { type: "email", payload: 1 }, headers });

    const response = await server.ask("/api/v1/jobs", {
      json: { type: "email", payload: 2 },
      headers,
    });

    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
  });

  test.each([
    ["that does not end", { "idempotency-key": '"half' }, {}],
    ["that is empty", { "idempotency-key": '""' }, {}],
    ["that is too long", { "idempotency-key": "k".repeat(501) }, {}],
    ["beside one in the options", { "idempotency-key": "a" }, { idempotencyKey: "b" }],
  ])("refuses a key %s", async (_, headers, options) => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", { json: { type: "a", options }, headers });

    expect(response.status).toBe(400);
    expect(await placesOf(response)).toEqual(["Idempotency-Key"]);
  });

  test.each([
    [{}, "type"],
    [{ type: "" }, "type"],
    [{ type: 7 }, "type"],
    [{ type: "a\u0007" }, "type"],
    [{ type: "a", paylod: 1 }, "paylod"],
    [{ type: "a", options: [] }, "options"],
    [{ type: "a", options: { delay: "soon" } }, "options.delay"],
    [{ type: "a", options: { delay: "999999d" } }, "options.delay"],
    [{ type: "a", options: { runAt: "tomorrow" } }, "options.runAt"],
    [{ type: "a", options: { priority: -1 } }, "options.priority"],
    [{ type: "a", options: { priority: "urgent" } }, "options.priority"],
    [{ type: "a", options: { priority: 1_000_000_001 } }, "options.priority"],
    [{ type: "a", options: { maxAttempts: 0 } }, "options.maxAttempts"],
    [{ type: "a", options: { maxAttempts: 1_000_000_001 } }, "options.maxAttempts"],
    [{ type: "a", options: { tags: { area: 7 } } }, "options.tags.area"],
    [{ type: "a", options: { dedupKey: { key: "k", onConflict: "x" } } }, "options.dedupKey"],
    [{ type: "a", options: { tx: {} } }, "options.tx"],
    [{ type: "a", options: { webhookUrl: 7 } }, "options.webhookUrl"],
    [[], "the body"],
    [null, "the body"],
  ])("refuses %j and names %s", async (json, path) => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", { json });

    expect(response.status).toBe(400);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await placesOf(response)).toEqual([path]);
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("refuses a webhook, which is not part of this release, with 501", async () => {
    await using server = await openServer();
    const options = { webhookUrl: "https://example.org/hook" };

    const response = await post(server, { type: "a", options });

    expect(response.status).toBe(501);
    expect(await response.json()).toMatchObject({
      code: "NOT_YET",
      errors: [{ path: "options.webhookUrl" }],
    });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("tells which option was probably meant", async () => {
    await using server = await openServer();

    const response = await post(server, { type: "a", options: { tenat: "acme" } });

    expect(await response.text()).toContain("did you mean tenant?");
  });

  test("names a tag that cannot be stored, and stores nothing", async () => {
    await using server = await openServer();
    const body = '{"type":"a","options":{"tags":{"__proto__":"x","area":"y"}}}';

    const response = await server.ask("/api/v1/jobs", { body });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path: "options.tags.__proto__" }] });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("names a key that the body has twice, and stores nothing", async () => {
    await using server = await openServer();
    const body = '{"type":"a","payload":{"to":[{"name":"Ada","name":"Bob"}]}}';

    const response = await server.ask("/api/v1/jobs", { body });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "INPUT_INVALID",
      detail: "payload.to[0].name is given twice",
      errors: [{ path: "payload.to[0].name" }],
    });
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test.each<[number, string, Question]>([
    [400, "what is not JSON", { body: "{type}" }],
    [400, "what is not UTF-8", { body: new Uint8Array([0x22, 0xff, 0x22]) }],
    [413, "more than two megabytes", { json: { type: "a", payload: "x".repeat(2_000_000) } }],
    [415, "a form", { body: "type=a", headers: { "content-type": "text/plain" } }],
    [422, "a payload above its limit", { json: { type: "a", payload: "x".repeat(1_100_000) } }],
  ])("answers %i to %s", async (status, _, question) => {
    await using server = await openServer();

    expect((await server.ask("/api/v1/jobs", question)).status).toBe(status);
  });

  test("checks the payload of a job that it knows, and takes its settings", async () => {
    const email = defineJob({
      type: "email",
      payload: z.object({ to: z.object({ name: z.string() }) }),
      lane: "fast",
      maxAttempts: 2,
    });
    const known: AnyContract[] = [defineJob({ type: "email" })];
    await using server = await openServer({ contracts: () => known });
    // Jobs may change while the server runs.
    known[0] = email;

    const refused = await post(server, { type: "email", payload: { to: { name: 7 } } });
    const taken = await post(server, { type: "email", payload: { to: { name: "ada" } } });

    expect(refused.status).toBe(422);
    expect(await placesOf(refused)).toEqual(["payload.to.name"]);
    const { id } = await jsonOf<{ id: string }>(taken);
    expect(await server.mill.jobs.get(id)).toMatchObject({
      lane: "fast",
      maxAttempts: 2,
    });
  });

  test("refuses a type that the job file does not declare", async () => {
    const contracts = (): AnyContract[] => [defineJob({ type: "email" })];
    await using server = await openServer({ contracts, jobFile: "jobs.ts" });

    const refused = await post(server, { type: "emial" });
    const taken = await post(server, { type: "email" });

    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      code: "TYPE_UNKNOWN",
      detail: 'jobs.ts has no job of type "emial". Did you mean email?',
      hint: "Enqueue a type that the job file declares.",
    });
    expect(taken.status).toBe(201);
    expect((await server.mill.jobs.list()).jobs).toHaveLength(1);
  });

  test("takes a concurrency key, and jobs to run after by their ids", async () => {
    await using server = await openServer();
    const { id: first } = await jsonOf<{ id: string }>(await post(server, { type: "a" }));

    const options = { concurrencyKey: "k", after: [first], onFailed: "run" };
    const response = await post(server, { type: "b", options });

    expect(response.status).toBe(201);
    const { id } = await jsonOf<{ id: string }>(response);
    const shown = await (await server.ask(`/api/v1/jobs/${id}`)).json();
    expect(shown).toMatchObject({ concurrencyKey: "k", stale: false });
    expect(await server.mill.jobs.explain(id)).toMatchObject({
      reason: "after",
      sentence: expect.stringContaining(first),
    });
  });

  test("refuses to run after what there is not, or is no id", async () => {
    await using server = await openServer();

    const unknown = await post(server, { type: "a", options: { after: [NOWHERE] } });
    const wrong = await post(server, { type: "a", options: { after: ["seven"] } });

    expect(unknown.status).toBe(422);
    expect(await unknown.json()).toMatchObject({ code: "AFTER_UNKNOWN" });
    expect(wrong.status).toBe(400);
    expect(await placesOf(wrong)).toEqual(["options.after[0]"]);
    expect((await server.mill.jobs.list()).jobs).toEqual([]);
  });

  test("tells a list from an object", async () => {
    await using server = await openServer();

    const response = await post(server, []);

    expect(await response.json()).toMatchObject({
      detail: "the body must be an object, not an array",
    });
  });
});

describe("GET /api/v1/jobs", () => {
  test("walks through all jobs, newest first, by the link of each page", async () => {
    await using server = await openServer();
    const types = ["a", "b", "c", "d", "e"];
    for (const type of types) await post(server, { type, options: { tenant: "acme" } });

    const seen: string[] = [];
    let path = "/api/v1/jobs?limit=2&tenant=acme";
    while (path !== "") {
      const response = await server.ask(path);
      const { jobs, next } = await jsonOf<Page>(response);
      seen.push(...jobs.map(({ type }) => type));
      path = /^<(\S+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
      expect(path).toBe(next === null ? "" : `/api/v1/jobs?limit=2&tenant=acme&after=${next}`);
    }

    expect(seen).toEqual(["e", "d", "c", "b", "a"]);
  });

  test.each([
    ["state=queued", ["plain", "tagged"]],
    ["state=scheduled", ["later"]],
    ["state=pending", ["plain", "tagged", "later"]],
    ["state=cancelled&state=scheduled", ["later", "off"]],
    ["type=plain", ["plain"]],
    ["tenant=acme", ["tagged"]],
    ["tenant=unknown", []],
    ["category=mail", ["plain"]],
    ["correlation_id=order-7", ["tagged"]],
    ["tag=area:north:east", ["tagged"]],
    ["tag=area:north:east&tag=size:xl", ["tagged"]],
    ["tag=area:north:east&tag=size:s", []],
  ])("filters by %s (003-28, C-03)", async (query, expected) => {
    const plain = defineJob({ type: "plain", category: "mail" });
    await using server = await openServer({ contracts: () => [plain] });
    await post(server, { type: "plain" });
    await post(server, {
      type: "tagged",
      options: {
        tenant: "acme",
        correlationId: "order-7",
        tags: { area: "north:east", size: "xl" },
      },
    });
    await post(server, { type: "later", options: { delay: "1h" } });
    const { id } = await jsonOf<{ id: string }>(await post(server, { type: "off" }));
    await server.mill.jobs.cancel(id);

    const { jobs } = await jsonOf<Page>(await server.ask(`/api/v1/jobs?${query}`));

    expect(jobs.map(({ type }) => type).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ["state=runing", "state[0]", "did you mean running?"],
    ["limit=0", "limit", "from 1 to 200"],
    ["limit=201", "limit", "from 1 to 200"],
    ["limit=ten", "limit", "integer"],
    ["limit=1&limit=2", "limit", "only once"],
    ["tag=north", "tag[0]", "area:north"],
    ["tag=a:1&tag=a:2", "tag", "twice"],
    ["tenent=acme", "tenent", "did you mean tenant?"],
    ["__proto__=1", "__proto__", "is unknown"],
  ])("refuses %s, names %s and helps", async (query, path, help) => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/jobs?${query}`);

    expect(response.status).toBe(400);
    const problem = await jsonOf<Problem>(response);
    expect(problem.errors?.map((each) => each.path)).toEqual([path]);
    expect(problem.detail).toContain(help);
  });

  test.each(["after=nonsense", `after=${NOWHERE}`])("refuses the cursor %s", async (query) => {
    await using server = await openServer();

    expect((await server.ask(`/api/v1/jobs?${query}`)).status).toBe(400);
  });
});

describe("GET /api/v1/jobs/{id}", () => {
  test("shows a job with the names of the views", async () => {
    await using server = await openServer();
    const id = await enqueued(server);

    const response = await server.ask(`/api/v1/jobs/${id.toLowerCase()}`);

    expect(response.status).toBe(200);
    const job = await server.mill.jobs.get(id);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(job)));
  });

  test("names the retention when there is no such job (000-45)", async () => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/jobs/${NOWHERE}?wait=1s`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: "JOB_NOT_FOUND",
      detail: expect.stringMatching(
        /its id was made at .+Z, and finished jobs are removed after 7 d$/,
      ),
    });
  });

  test("refuses what is no id", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs/7");

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "ID_INVALID" });
  });

  test("waits until the job has ended", async () => {
    await using server = await openServer();
    const id = await enqueued(server);

    const isWaiting = waitBegins(server);

    const waiting = server.ask(`/api/v1/jobs/${id}?wait=60s`);
    await isWaiting;
    await server.mill.jobs.cancel(id, "enough");

    expect(await (await waiting).json()).toMatchObject({ state: "cancelled" });
  });

  test("answers with what there is when the time is up", async () => {
    await using server = await openServer();
    const id = await enqueued(server);

    const response = await server.ask(`/api/v1/jobs/${id}?wait=1ms`);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ state: "queued" });
  });

  test("answers at once when the server stops", async () => {
    const closing = new AbortController();
    await using server = await openServer({ closing: closing.signal });
    const id = await enqueued(server);

    const isWaiting = waitBegins(server);

    const waiting = server.ask(`/api/v1/jobs/${id}?wait=60s`);
    await isWaiting;
    closing.abort();

    expect(await (await waiting).json()).toMatchObject({ state: "queued" });
  });

  test.each(["61s", "2m", "soon", "-1s", "", "30"])("refuses to wait for “%s”", async (wait) => {
    await using server = await openServer();
    const id = await enqueued(server);

    const response = await server.ask(`/api/v1/jobs/${id}?wait=${wait}`);

    expect(response.status).toBe(400);
    expect(await placesOf(response)).toEqual(["wait"]);
  });
});

/** Resolves when a request has begun to wait for the end of its job. */
function waitBegins({ mill }: TestServer): Promise<void> {
  return new Promise((resolve) => {
    const wait = mill.wait.bind(mill);
    mill.wait = (...args) => {
      resolve();
      return wait(...args);
    };
  });
}

interface Page {
  readonly jobs: readonly { readonly type: string }[];
  readonly next: string | null;
}

interface Problem {
  readonly detail: string;
  readonly errors?: readonly { readonly path: string }[];
}

function post(server: TestServer, json: object): Promise<Response> {
  return server.ask("/api/v1/jobs", { json });
}

async function enqueued(server: TestServer): Promise<string> {
  const { id } = await jsonOf<{ id: string }>(await post(server, { type: "email" }));
  return id;
}

async function placesOf(response: Response): Promise<readonly string[] | undefined> {
  const { errors } = await jsonOf<Problem>(response);
  return errors?.map(({ path }) => path);
}
