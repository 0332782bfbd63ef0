import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob, NonRetryableError, typed } from "../../index.ts";

const PATH = "/api/v1/dead-letters";
const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";

const doomed = defineJob({ type: "doomed", payload: typed<{ n: number }>() }).run(() => {
  throw new NonRetryableError("it cannot work");
});

interface Page {
  readonly deadLetters: readonly { readonly id: string; readonly payload: object }[];
  readonly next: string | null;
}

describe("GET /api/v1/dead-letters", () => {
  test("walks through all of them, newest first, page by page", async () => {
    await using server = await openServer();
    const ids = await failed(server, 5);

    const seen: string[] = [];
    let after = "";
    for (let page = 0; page < 4; page += 1) {
      const { deadLetters, next } = await list(server, `limit=2${after}`);
      seen.push(...deadLetters.map(({ id }) => id));
      if (next === null) break;
      after = `&after=${next}`;
    }

    expect(seen).toEqual(ids.toReversed());
  });

  test("filters by status, type and tenant", async () => {
    await using server = await openServer();
    const [first = ""] = await failed(server, 2);
    await review(server, first, "acknowledge", {});

    expect((await list(server, "status=acknowledged")).deadLetters).toMatchObject([{ id: first }]);
    expect((await list(server, "type=doomed")).deadLetters).toHaveLength(2);
    expect((await list(server, "type=other")).deadLetters).toEqual([]);
    expect((await list(server, "tenant=acme")).deadLetters).toEqual([]);
  });

  test("filters by category, class of error, correlation, person and time", async () => {
    await using server = await openServer();
    const [first = "", second = ""] = await failed(server, 2);
    await review(server, first, "assign", { to: "bob" });
    const letter: any = await (await server.ask(`${PATH}/${first}`)).json();
    const found = async (query: string) =>
      (await list(server, query)).deadLetters.map(({ id }) => id);

    expect(await found("error_class=non_retryable")).toEqual([second, first]);
    expect(await found("error_class=transient")).toEqual([]);
    expect(await found("assigned_to=bob")).toEqual([first]);
    expect(await found(`correlation_id=${letter.correlationId}`)).toEqual([first]);
    expect(await found(`cause=${letter.cause}`)).toEqual([second, first]);
    expect(await found("category=none")).toEqual([]);
    expect(await found("created_before=1h")).toEqual([]);
    expect(await found("created_after=1h")).toEqual([second, first]);
  });

  test("counts all that match if asked (003-24)", async () => {
    await using server = await openServer();
    await failed(server, 3);

    expect(await list(server, "limit=1")).not.toHaveProperty("total");
    expect(await list(server, "limit=1&count=true")).toMatchObject({
      deadLetters: [{}],
      total: { count: 3, atLeast: false },
    });
    expect(await list(server, "type=other&count=true")).toMatchObject({ total: { count: 0 } });
  });

  test.each([
    "status=new",
    "error_class=odd",
    "count=2",
    "created_after=then",
    "after=x",
    "limit=0",
    "stat=x",
  ])("refuses %s", async (query) => {
    await using server = await openServer();

    expect((await server.ask(`${PATH}?${query}`)).status).toBe(400);
  });
});

describe("GET /api/v1/dead-letters/stats", () => {
  test("counts by status, category, type and class of error (003-25)", async () => {
    await using server = await openServer();
    const [first = ""] = await failed(server, 3);
    await review(server, first, "acknowledge", {});

    expect(await (await server.ask(`${PATH}/stats`)).json()).toMatchObject({
      count: 3,
      atLeast: false,
      last24Hours: 3,
      byStatus: { pending_review: 2, acknowledged: 1, reprocessed: 0, discarded: 0 },
      byCategory: [{ name: null, count: 3 }],
      byType: [{ name: "doomed", count: 3 }],
      byErrorClass: [{ name: "non_retryable", count: 3 }],
    });
  });
});

describe("GET /api/v1/dead-letters/{id}", () => {
  test("has the error and the payload of the job", async () => {
    await using server = await openServer();
    const [id] = await failed(server, 1);

    const response = await server.ask(`${PATH}/${id}`);

    expect(await response.json()).toMatchObject({
      id,
      status: "pending_review",
      error: { message: "it cannot work" },
      payload: { n: 0 },
      successorId: null,
    });
  });

  test("answers 404 to what has none", async () => {
    await using server = await openServer();

    expect((await server.ask(`${PATH}/${NOWHERE}`)).status).toBe(404);
  });
});

describe("the review of a dead letter", () => {
  test("acknowledges it, in the name of the caller, with or without notes", async () => {
    await using server = await openServer();
    const [first = "", second = ""] = await failed(server, 2);

    const plain = await review(server, first, "acknowledge", {});
    const noted = await review(server, second, "acknowledge", { notes: "known" });

    expect([plain.status, noted.status]).toEqual([204, 204]);
    expect(await server.mill.deadLetters.get(second)).toMatchObject({
      status: "acknowledged",
      reviewedBy: "owner",
      notes: "known",
    });
  });

  test("refuses another payload by rules and quotas, as an enqueue does", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);
    const { mill } = server;
    await mill.payloadRules.set({ type: "doomed" }, { forbidden: ["body"] });
    const why = { actor: "ada", reason: "the plan" };
    await mill.tenants.setQuota("*", { payloadBytes: 20 }, why);
    const edit = (payload: object): Promise<Response> =>
      review(server, id, "reprocess", { notes: "again", payload });

    const broken = await edit({ n: 1, body: "x" });
    const long = await edit({ n: 1, text: "more than twenty bytes" });

    expect(broken.status).toBe(422);
    expect(await broken.json()).toMatchObject({ code: "PAYLOAD_RULE_BROKEN" });
    expect(long.status).toBe(413);
    expect(await long.json()).toMatchObject({ code: "PAYLOAD_OVER_QUOTA" });
    expect(await mill.deadLetters.get(id)).toMatchObject({ status: "pending_review" });
  });

  test("keeps the digits of an edited payload that JavaScript cannot hold", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const response = await server.ask(`${PATH}/${id}/reprocess`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"notes":"the real number","payload":{"n":9007199254740993,"list":[1e3,0.10]}}',
    });

    expect(response.status).toBe(200);
    const successor: any = await response.json();
    const texts: any = await (await server.ask(`/api/v1/jobs/${successor.id}/texts`)).json();
    expect(texts.payload).toBe('{"n":9007199254740993,"list":[1e3,0.10]}');
  });

  test("reprocesses it with another payload: the successor runs, the letter names it", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const json = { notes: "n was wrong", payload: { n: 7 } };
    const response = await review(server, id, "reprocess", json);

    expect(response.status).toBe(200);
    const successor = await jsonOf<{ id: string }>(response);
    expect(await server.mill.jobs.get(successor.id)).toMatchObject({
      payload: { n: 7 },
      retryOf: id,
    });
    expect(await server.mill.deadLetters.get(id)).toMatchObject({
      status: "reprocessed",
      successorId: successor.id,
      notes: "n was wrong",
    });
  });

  test("keeps the payload when no other is given", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const response = await review(server, id, "reprocess", { notes: "again" });

    const successor = await jsonOf<{ id: string }>(response);
    expect(await server.mill.jobs.get(successor.id)).toMatchObject({ payload: { n: 0 } });
  });

  test("answers the same successor to two requests at once, with its key", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const responses = await Promise.all([
      review(server, id, "reprocess", { notes: "one" }),
      review(server, id, "reprocess", { notes: "two" }),
    ]);

    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const [one, two] = await Promise.all(responses.map((response) => jsonOf<any>(response)));
    expect(one.id).toBe(two.id);
    expect([one, two].filter(({ created }) => created)).toHaveLength(1);
    expect(one).toHaveProperty("idempotencyKey", null);
  });

  test("assigns it and adds notes", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    await review(server, id, "assign", { to: "bob" });
    await review(server, id, "notes", { notes: "asked the bank" });

    expect(await server.mill.deadLetters.get(id)).toMatchObject({
      assignedTo: "bob",
      reviews: [
        { act: "assigned", to: "bob" },
        { act: "noted", notes: "asked the bank" },
      ],
    });
  });

  test("discards it, after which it cannot be reprocessed", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const discarded = await review(server, id, "discard", { notes: "too old" });
    const refused = await review(server, id, "reprocess", { notes: "after all" });

    expect(discarded.status).toBe(204);
    expect(refused.status).toBe(409);
    expect((await server.mill.jobs.list({ state: "pending" })).jobs).toEqual([]);
  });

  test.each(["reprocess", "discard"])("%s needs notes, and says so", async (verb) => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    for (const json of [{}, { notes: "" }, { notes: null }]) {
      const response = await review(server, id, verb, json);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ path: "notes" }] });
    }
    expect(await server.mill.deadLetters.get(id)).toMatchObject({ status: "pending_review" });
  });

  test.each(["acknowledge", "reprocess", "discard"])("%s of nothing is 404", async (verb) => {
    await using server = await openServer();

    expect((await review(server, NOWHERE, verb, { notes: "x" })).status).toBe(404);
  });

  test("refuses a payload that cannot be stored, and leaves the letter as it was", async () => {
    await using server = await openServer();
    const [id = ""] = await failed(server, 1);

    const json = { notes: "x", payload: "\0" };
    const response = await review(server, id, "reprocess", json);

    expect(response.status).toBe(422);
    expect(await server.mill.deadLetters.get(id)).toMatchObject({ status: "pending_review" });
  });
});

/** The ids of failed jobs, oldest first. */
async function failed({ mill }: TestServer, count: number): Promise<string[]> {
  const worker = mill.work({ jobs: [doomed], signals: false });
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const job = await mill.enqueue(doomed, { n });
    await mill.wait(job);
    ids.push(job.id);
  }
  await worker.stop();
  return ids;
}

async function list(server: TestServer, query: string): Promise<Page> {
  const response = await server.ask(`${PATH}?${query}`);
  expect({ query, status: response.status }).toEqual({ query, status: 200 });
  return jsonOf<Page>(response);
}

function review(server: TestServer, id: string, verb: string, json: object): Promise<Response> {
  return server.ask(`${PATH}/${id}/${verb}`, { json });
}
