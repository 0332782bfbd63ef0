/** Requests that make an operation answer with a documented status. */
import { schedule } from "../../../src/api/schedule.ts";
import { MillraceError } from "../../../src/core/errors.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { OPERATIONS_OPEN_MAX } from "../../../src/store/types/operations.ts";
import { newOperation } from "../../support/factories.ts";
import { TOKEN, type Question } from "../../support/http/http-server.ts";
import type { SampleRequest } from "../samples.ts";
import type { Operation } from "./document.ts";
import { NOWHERE, waiting, type ContractWorld } from "./world.ts";

const OWN_PAGE = { origin: "http://127.0.0.1:7333" };
const HANG_MS = 120_000;

interface Asked {
  readonly path: string;
  readonly question: Question;
}

/** Sends the request that is to get this status. Null: the samples have none. */
export async function answerWith(
  world: ContractWorld,
  operation: Operation,
  status: number,
): Promise<Response | null> {
  const own = OWN[`${operation.name} ${status}`];
  if (own !== undefined) return send(world, operation, await own(world));
  const faulty = FAULTS[status];
  if (faulty !== undefined) return withFault(world, operation, faulty);
  const change = CHANGES[status];
  if (change === undefined && status >= 300) return null;
  const sample = await world.sample(operation.name);
  return send(world, operation, { ...asked(sample), ...change?.(sample) });
}

function asked({ path, json }: SampleRequest): Asked {
  return { path, question: json === undefined ? {} : { json } };
}

async function send(
  { server }: ContractWorld,
  { method }: Operation,
  { path, question }: Asked,
): Promise<Response> {
  const { headers, ...rest } = question;
  return server.ask(path, { method, headers: { ...OWN_PAGE, ...headers }, ...rest });
}

/** What makes any request wrong in one respect. */
const CHANGES: Readonly<Record<number, (sample: SampleRequest) => Partial<Asked>>> = {
  400: ({ path, json }) => ({
    path: `${path}${path.includes("?") ? "&" : "?"}nonsense=1`,
    question: { json },
  }),
  401: ({ json }) => ({ question: { as: "anonymous", json } }),
  403: ({ json }) => ({ question: { as: "anonymous", json, headers: { "x-roleless": "yes" } } }),
  404: ({ path, json }) => ({
    path: path.replace(/[0-9A-Z]{26}/, NOWHERE),
    question: { json },
  }),
  413: ({ json }) => ({ question: { json, headers: { "content-length": "99999999" } } }),
  415: () => ({ question: { body: "a=b", headers: { "content-type": "text/plain" } } }),
  421: ({ json }) => ({ question: { json, headers: { host: "evil.example" } } }),
};

const FAULTS: Readonly<Record<number, Error | "hang">> = {
  500: new Error("planted"),
  503: new MillraceError("STORE_BUSY", "locked"),
  504: "hang",
  507: new MillraceError("STORE_FULL", "full"),
};

/** The first call of the store is about the token, which is new. */
async function withFault(
  world: ContractWorld,
  operation: Operation,
  fault: Error | "hang",
): Promise<Response> {
  const { path, json } = await world.sample(operation.name);
  const secret = await world.newSecret();
  const body = operation.name === "openSession" ? { token: secret } : json;
  const headers = { authorization: `Bearer ${secret}` };
  world.setFault(fault);
  try {
    const response = send(world, operation, {
      path,
      question: { as: "anonymous", json: body, headers },
    });
    if (fault === "hang") await world.clock.advance(HANG_MS);
    return await response;
  } finally {
    world.setFault(null);
  }
}

type Own = (world: ContractWorld) => Promise<Asked>;

const ask = (path: string, question: Question = {}): Asked => ({ path, question });
const onJob = (id: string, part: string, json?: object): Asked =>
  ask(`/api/v1/jobs/${id}${part}`, json === undefined ? {} : { json });
const onLetter = (id: string, verb: string, json: object): Asked =>
  ask(`/api/v1/dead-letters/${id}/${verb}`, { json });
const login = (token: string, headers: Question["headers"] = {}): Asked =>
  ask("/api/v1/session", { as: "anonymous", json: { token }, headers });

function onFailure(cause: string, part: string, json?: object): Asked {
  return ask(`/api/v1/failures/${cause}${part}`, json === undefined ? {} : { json });
}

function onOperation(id: string, part: string): Asked {
  return ask(`/api/v1/operations/${id}${part}`);
}

/** The id of an operation that has ended. */
async function bulk({ mill }: ContractWorld): Promise<string> {
  const request = { action: "cancel", jobs: { type: "none" } } as const;
  const { id } = await mill.operations.start(request, { actor: "ada", reason: "asked" });
  await mill.operations.wait(id);
  return id;
}

/** More operations than may be open; the answer is one more. */
async function crowded(store: JobStore): Promise<object> {
  const spare = Array.from({ length: OPERATIONS_OPEN_MAX }, () =>
    newOperation({ jobs: { type: "none" } }),
  );
  for (const operation of spare) {
    await store.startOperation(operation).catch(() => {});
    // No other runner ends one of them.
    await store.claimOperations("contract");
  }
  return { action: "cancel", jobs: { type: "none" } };
}

async function causeIn(world: ContractWorld): Promise<string> {
  return (await world.mill.deadLetters.get(await world.failedId())).cause;
}

const WHY = { reason: "asked" };
const REMOVE = "?reason=asked";

function onSchedule(name: string, part: string, json?: object): Asked {
  return ask(`/api/v1/schedules/${name}${part}`, json === undefined ? {} : { json });
}

/** The name of a new schedule. */
async function scheduled({ mill }: ContractWorld): Promise<string> {
  const { id: name } = await mill.enqueue(waiting, {});
  await mill.schedules.create(schedule(name, { cron: "@daily" }, waiting, {}));
  return name;
}

async function ended({ mill }: ContractWorld): Promise<string> {
  const { id } = await mill.enqueue(waiting, {});
  await mill.jobs.cancel(id);
  return id;
}

async function discarded(world: ContractWorld): Promise<string> {
  const id = await world.failedId();
  await world.mill.deadLetters.discard(id, { actor: "ada", notes: "old" });
  return id;
}

/** The requests that only one operation has. */
const OWN: Readonly<Record<string, Own>> = {
  "openSession 201": async () => login(TOKEN),
  "openSession 401": async () => login("mr_person_x"),
  "openSession 403": async () => login(TOKEN, { origin: "https://evil.example" }),
  "openSession 429": async ({ server }) => {
    for (let count = 0; count < 10; count += 1) {
      await server.ask("/api/v1/session", {
        as: "anonymous",
        json: { token: "wrong" },
        headers: OWN_PAGE,
      });
    }
    return login("wrong");
  },
  "enqueueJob 200": async ({ mill }) => {
    await mill.enqueue(waiting, 1, { idempotencyKey: "same" });
    const json = { type: "waiting", payload: 1, options: { idempotencyKey: "same" } };
    return ask("/api/v1/jobs", { json });
  },
  "enqueueJob 409": async ({ mill }) => {
    await mill.enqueue(waiting, 1, { idempotencyKey: "taken" });
    const idempotencyKey = { key: "taken", onConflict: "error" };
    return ask("/api/v1/jobs", {
      json: { type: "waiting", payload: 1, options: { idempotencyKey } },
    });
  },
  "enqueueJob 422": async () =>
    ask("/api/v1/jobs", { json: { type: "waiting", options: { after: [NOWHERE] } } }),
  "enqueueJob 501": async () =>
    ask("/api/v1/jobs", { json: { type: "a", options: { webhookUrl: "https://a.example" } } }),
  "enqueueJobs 200": async () =>
    ask("/api/v1/jobs/batch", { json: { jobs: [{ type: "a" }, { tipe: "a" }, 7] } }),
  "getJob 304": async ({ mill }) => {
    const { id } = await mill.enqueue(waiting, {});
    return ask(`/api/v1/jobs/${id}`, { headers: { "if-none-match": "*" } });
  },
  "listEvents 200": async () => ask("/api/v1/feed?after=0&limit=200"),
  "cancelJob 409": async (world) => onJob(await ended(world), "/cancel", {}),
  "retryJob 409": async ({ mill }) => {
    const { id } = await mill.enqueue(waiting, {}, { dedupKey: "held" });
    await mill.jobs.cancel(id);
    await mill.enqueue(waiting, {}, { dedupKey: "held" });
    return onJob(id, "/retry", {});
  },
  "failJob 409": async (world) => onJob(await ended(world), "/fail", { message: "x" }),
  "releaseJob 200": async (world) => onJob(await world.runningId(), "/release", { force: true }),
  "releaseJob 409": async (world) => onJob(await ended(world), "/release", {}),
  "acknowledgeDeadLetter 409": async (world) => onLetter(await discarded(world), "acknowledge", {}),
  "assignDeadLetter 409": async (world) =>
    onLetter(await discarded(world), "assign", { to: "bob" }),
  "setJobPriority 409": async (world) => onJob(await ended(world), "/priority", { priority: 1 }),
  "rescheduleJob 409": async (world) => onJob(await ended(world), "/reschedule", { delay: 0 }),
  "startOperation 409": async ({ mill }) => {
    const { store } = Reflect.get(mill, "parts");
    const refused = await crowded(store);
    return ask("/api/v1/operations", { json: { ...refused, reason: "x" } });
  },
  "getOperation 200": async (world) => onOperation(await bulk(world), ""),
  "listOperationItems 200": async (world) => onOperation(await bulk(world), "/items"),
  "stopOperation 200": async (world) => onOperation(await bulk(world), "/stop"),
  "getFailure 200": async (world) => onFailure(await causeIn(world), ""),
  "acknowledgeFailure 204": async (world) => onFailure(await causeIn(world), "/acknowledge", {}),
  "snoozeFailure 204": async (world) =>
    onFailure(await causeIn(world), "/snooze", { until: "2030-01-01T00:00:00Z" }),
  "retryFailure 200": async (world) => onFailure(await causeIn(world), "/retry", { notes: "x" }),
  "discardFailure 200": async (world) =>
    onFailure(await causeIn(world), "/discard", { notes: "x" }),
  "discardDeadLetter 409": async (world) =>
    onLetter(await discarded(world), "discard", { notes: "again" }),
  "reprocessDeadLetter 409": async (world) =>
    onLetter(await discarded(world), "reprocess", { notes: "again" }),
  "reprocessDeadLetter 422": async (world) =>
    onLetter(await world.failedId(), "reprocess", { notes: "x", payload: "\0" }),
  "createSchedule 409": async (world) => {
    const name = await scheduled(world);
    return ask("/api/v1/schedules", {
      json: { name, when: { cron: "@daily" }, type: "email", ...WHY },
    });
  },
  "createSchedule 422": async () =>
    ask("/api/v1/schedules", {
      json: { name: "x", when: { cron: "@daily" }, type: "waiting", payload: "\0", ...WHY },
    }),
  "updateSchedule 409": async (world) => {
    const { mill } = world;
    const { store } = Reflect.get(mill, "parts");
    const name = await scheduled(world);
    const record = await store.schedule(name);
    await store.declareSchedules([record], () => 8e12);
    return onSchedule(name, "", { cron: "@hourly", ...WHY });
  },
  "removeSchedule 409": async (world) => {
    const { store } = Reflect.get(world.mill, "parts");
    const name = await scheduled(world);
    await store.declareSchedules([await store.schedule(name)], () => 8e12);
    return onSchedule(name, REMOVE);
  },
  "getSchedule 200": async (world) => onSchedule(await scheduled(world), ""),
  "listTicks 200": async (world) => onSchedule(await scheduled(world), "/ticks"),
  "updateSchedule 200": async (world) =>
    onSchedule(await scheduled(world), "", { cron: "@hourly", ...WHY }),
  "removeSchedule 204": async (world) => onSchedule(await scheduled(world), REMOVE),
  "pauseSchedule 204": async (world) =>
    onSchedule(await scheduled(world), "/pause", { reason: "x" }),
  "resumeSchedule 200": async (world) => onSchedule(await scheduled(world), "/pause"),
  "runSchedule 200": async (world) => onSchedule(await scheduled(world), "/run"),
  "getSchedule 404": async () => onSchedule("none", ""),
  "listTicks 404": async () => onSchedule("none", "/ticks"),
  "updateSchedule 404": async () => onSchedule("none", "", { cron: "@daily", ...WHY }),
  "removeSchedule 404": async () => onSchedule("none", REMOVE),
  "pauseSchedule 404": async () => onSchedule("none", "/pause", { reason: "x" }),
  "resumeSchedule 404": async () => onSchedule("none", "/pause"),
  "runSchedule 422": async (world) => {
    const name = await scheduled(world);
    await world.mill.enqueue(waiting, 1, { idempotencyKey: name });
    const headers = { "idempotency-key": name };
    return ask(`/api/v1/schedules/${name}/run`, { headers });
  },
  "runSchedule 404": async () => onSchedule("none", "/run"),
  "quietWorker 204": async ({ workerId }) => ask(`/api/v1/workers/${workerId}/quiet`),
  "resumeWorker 204": async ({ workerId }) => ask(`/api/v1/workers/${workerId}/resume`),
  "stopWorker 204": async ({ workerId }) => ask(`/api/v1/workers/${workerId}/stop`),
  "overrideType 404": async () => ask("/api/v1/types/none", { json: { priority: 5 } }),
  "quietWorker 404": async () => ask(`/api/v1/workers/${NOWHERE}/quiet`),
  "resumeWorker 409": async ({ mill, workerId }) => {
    await mill.workers.stop(workerId);
    return ask(`/api/v1/workers/${workerId}/resume`);
  },
  "resumeWorker 404": async () => ask(`/api/v1/workers/${NOWHERE}/resume`),
  "stopWorker 404": async () => ask(`/api/v1/workers/${NOWHERE}/stop`),
  "createStreamToken 409": async ({ mill, server }) => {
    const token = { kind: "person", name: "ada", roles: ["viewer"] } as const;
    const made = await mill.tokens.create(token);
    const { id } = await mill.enqueue(waiting, {});
    const headers = { authorization: `Bearer ${made.secret}` };
    // The server knows the token for two seconds after it was revoked.
    await server.ask("/api/v1/session", { as: "anonymous", headers });
    await mill.tokens.revoke(made.token.id);
    return ask(`/api/v1/jobs/${id}/stream-token`, { as: "anonymous", headers });
  },
};
