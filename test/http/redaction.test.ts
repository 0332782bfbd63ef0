/** What callers read of payloads, results, errors and log lines. */
import { describe, expect, test, vi } from "vitest";
import {
  defineJob,
  NonRetryableError,
  practice,
  RateLimitedError,
  TransientError,
  typed,
} from "../../src/index.ts";
import { jsonOf, openServer, type TestServer } from "../support/http/http-server.ts";
import { makeCallers, TENANT, type CallerName } from "./callers.ts";

const CANARY = "canary-7f3a";
const SECRET = "s3cret-91bc";

interface Order {
  readonly name: string;
  readonly card: { readonly number: string };
  readonly password: string;
}

const order = defineJob({ type: "order", payload: typed<Order>() }).run(async (given, ctx) => {
  ctx.log.info(`${CANARY} in a line`, { token: SECRET, note: CANARY });
  await ctx.progress(50, { note: CANARY, Password: SECRET });
  await ctx.each([1, 2], String, (n) => {
    if (n === 1) throw new NonRetryableError(`${CANARY} in a unit`);
    return { note: CANARY, api_key: SECRET };
  });
  return given;
});
const doomed = defineJob({ type: "doomed", payload: typed<Order>() }).run(() => {
  throw new NonRetryableError(`${CANARY} in an error`);
});
const flaky = defineJob({
  type: "flaky",
  backoff: { kind: "fixed", base: "1h" },
}).run(() => {
  throw new Error(`${CANARY} in a retry`);
});
const calling = defineJob({ type: "calling", services: ["bank"] }).run(() => {
  throw new TransientError(`${CANARY} of a bank`);
});
const mailing = defineJob({ type: "mailing", services: ["mail"] }).run(() => {
  throw new RateLimitedError(`${CANARY} of a mailer`, { retryAfter: "1h" });
});
/** Two failures open a breaker. */
const SENSITIVE = { ...practice, payloadRules: {}, breaker: { failures: 2, openMs: 3_600_000 } };
const PAYLOAD = { name: CANARY, card: { number: SECRET }, password: SECRET };

describe("values of the application", () => {
  test.each<[CallerName, seesValues: boolean, seesSecrets: boolean]>([
    ["viewer", false, false],
    ["admin", false, false],
    ["operator", true, false],
    ["manager", true, true],
  ])("are read by a %s: values %s, secret fields %s", async (caller, seesValues, seesSecrets) => {
    await using server = await openServer(RULES);
    const { paths, headersOf } = await worked(server);

    const text = await textOf(server, paths, headersOf(caller, "tenant"));

    expect({ values: text.includes(CANARY), secrets: text.includes(SECRET) }).toEqual({
      values: seesValues,
      secrets: seesSecrets,
    });
  });

  test.each<[CallerName, boolean]>([
    ["viewer", false],
    ["admin", false],
    ["operator", true],
  ])("are in the explanation of a retry for a %s: %s", async (caller, seesValues) => {
    await using server = await openServer(RULES);
    const { id } = await server.mill.enqueue(flaky, undefined, { tenant: TENANT });
    const worker = server.mill.work({ jobs: [flaky], signals: false });
    await vi.waitUntil(async () => (await server.mill.jobs.explain(id)).reason === "retrying");
    await worker.stop();
    const { headersOf } = await makeCallers(server.mill, id);

    const path = `/api/v1/jobs/${id}/explain`;
    const headers = headersOf(caller, "tenant");
    const response = await server.ask(path, { as: "anonymous", headers });

    const explanation = await jsonOf<{ sentence: string }>(response);
    expect(explanation).toMatchObject({ reason: "retrying" });
    expect(explanation.sentence).toContain("It waits for its next attempt at 2");
    expect(explanation.sentence.includes(CANARY)).toBe(seesValues);
  });

  test.each<[CallerName, boolean]>([
    ["viewer", false],
    ["admin", false],
    ["operator", true],
  ])("are in breakers and their explanations for a %s: %s", async (caller, seesValues) => {
    await using server = await openServer(RULES);
    const { mill } = server;
    for (let n = 0; n < 2; n += 1) await mill.enqueue(calling);
    await mill.enqueue(mailing);
    const worker = mill.work({ jobs: [calling, mailing], signals: false, preset: SENSITIVE });
    await vi.waitUntil(async () => {
      const [bank, mail] = await Promise.all(
        ["bank", "mail"].map((name) => mill.breakers.get(name)),
      );
      return bank?.state === "open" && mail?.parkedUntil.length === 1;
    });
    await worker.stop();
    const [down, limited] = [await mill.enqueue(calling), await mill.enqueue(mailing)];
    const { headersOf } = await makeCallers(mill, down.id);
    const paths = [
      "/api/v1/breakers",
      "/api/v1/breakers/bank",
      "/api/v1/breakers/bank/history",
      ...[down, limited].map(({ id }) => `/api/v1/jobs/${id}/explain`),
    ];

    const text = await textOf(server, paths, headersOf(caller, "all"));

    expect(text).toContain('"reason":"breaker"');
    expect(text).toContain('"reason":"rate_limited"');
    expect(text.includes(CANARY)).toBe(seesValues);
  });

  test.each<[CallerName, readonly string[]]>([
    ["viewer", []],
    ["admin", []],
    ["operator", ["name", "error"]],
    ["manager", ["name", "error", "secret", "password", "text"]],
  ])("are searched by a %s in: %s", async (caller, allowed) => {
    await using server = await openServer(RULES);
    const { ids, headersOf } = await worked(server);
    const searches = {
      name: `payload=name:${CANARY}`,
      error: `error=${CANARY}`,
      secret: `payload=card.number:${SECRET}`,
      password: `payload=name:${CANARY}&payload=password:${SECRET}`,
      text: `text=${CANARY}`,
    };
    const answers = new Map<string, { detail?: string; jobs?: { id: string }[] }>();
    for (const [search, query] of Object.entries(searches)) {
      const response = await server.ask(`/api/v1/jobs?count=true&${query}`, {
        as: "anonymous",
        headers: headersOf(caller, "tenant"),
      });
      answers.set(search, await jsonOf(response));
    }

    const refused = [...answers].filter(([, { detail }]) => detail !== undefined);
    const found = [...answers].filter(([, { jobs }]) => ids.includes(jobs?.[0]?.id ?? ""));
    expect(refused.every(([, { detail = "" }]) => / searches .*reads|hidden/.test(detail))).toBe(
      true,
    );
    expect(found.map(([search]) => search)).toEqual(allowed);
    expect(answers.size).toBe(refused.length + found.length);
  });

  test("are searched only in fields that the path of a filter may name", async () => {
    await using server = await openServer(RULES);
    const ask = async (query: string) => {
      const response = await server.ask(`/api/v1/jobs?${query}`);
      return jsonOf<{ errors?: { path: string }[]; jobs?: object[] }>(response);
    };

    const [missing, twice, short, many] = await Promise.all([
      ask("payload=name"),
      ask("payload=name:1&payload=name:2"),
      ask("text=ab"),
      ask(Array.from({ length: 6 }, (_, n) => `payload=p${n}:1`).join("&")),
    ]);

    expect(missing.errors).toMatchObject([{ path: "payload[0]" }]);
    expect(twice.errors).toMatchObject([{ path: "payload" }]);
    expect(short.errors).toMatchObject([{ path: "text" }]);
    expect(many.errors).toMatchObject([{ path: "payload" }]);
  });

  test("are hidden from a stream token, and its progress is not", async () => {
    await using server = await openServer(RULES);
    const { ids, headersOf } = await worked(server);
    const paths = ["", "/progress", "/events"].map((part) => `/api/v1/jobs/${ids[0]}${part}`);

    const text = await textOf(server, paths, headersOf("stream", "tenant"));

    expect(text).toContain('"percent":100');
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(SECRET);
  });
});

const RULES = { redaction: { fields: new Set(["password", "token", "api_key", "card.number"]) } };

/** Two jobs that have left values everywhere, and the paths at which they can be read. */
async function worked(server: TestServer) {
  const { mill } = server;
  const jobs = [
    await mill.enqueue(order, PAYLOAD, { tenant: TENANT }),
    await mill.enqueue(doomed, PAYLOAD, { tenant: TENANT }),
  ];
  const worker = mill.work({ jobs: [order, doomed], signals: false });
  for (const job of jobs) await mill.wait(job);
  await worker.stop();
  const ids = jobs.map(({ id }) => id);
  const parts = ["", "/details", "/texts", "/progress", "/units", "/attempts", "/logs", "/events"];
  const paths = [
    ...ids.flatMap((id) => parts.map((part) => `/api/v1/jobs/${id}${part}`)),
    "/api/v1/jobs",
    "/api/v1/events",
    "/api/v1/feed?after=0",
    "/api/v1/dead-letters",
    `/api/v1/dead-letters/${ids[1]}`,
    `/api/v1/dead-letters/${ids[1]}/texts`,
  ];
  return { ids, paths, ...(await makeCallers(mill, ids[0] ?? "")) };
}

/** The answers of all paths, of streams the first message. */
async function textOf(
  server: TestServer,
  paths: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const texts: string[] = [];
  for (const path of paths) {
    const response = await server.ask(path, { as: "anonymous", headers });
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    texts.push(path.endsWith("/events") ? await firstMessage(response) : await response.text());
  }
  return texts.join("\n");
}

async function firstMessage(response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("data: ")) text += (await reader.read()).value ?? "";
  await reader.cancel();
  return text;
}
