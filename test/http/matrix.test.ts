/** Which caller may call which route: every cell of callers, routes and tenants, by a request. */
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { makeParts } from "../../src/http/make-parts.ts";
import { route } from "../../src/http/route.ts";
import { allRoutes } from "../../src/http/routes/all.ts";
import { defineJob, NonRetryableError, typed } from "../../src/index.ts";
import { openServer, type TestServer } from "../support/http/http-server.ts";
import { CALLERS, makeCallers, TENANT, type CallerName } from "./callers.ts";
import { samplesOf } from "./samples.ts";

const SEE = ["viewer", "operator", "manager", "admin"] as const;
const OPERATE = ["operator", "manager"] as const;
const EVERY_CALLER = CALLERS;
const CREDENTIALS = CALLERS.filter((caller) => caller !== "anonymous");

/** The callers of each route. Written by hand: it is what the routes are compared with. */
const MAY: Readonly<Record<string, readonly CallerName[]>> = {
  isAlive: EVERY_CALLER,
  isReady: EVERY_CALLER,
  isHealthy: EVERY_CALLER,
  getOpenApi: EVERY_CALLER,
  openSession: EVERY_CALLER,
  getSession: CREDENTIALS,
  closeSession: CREDENTIALS,
  getOverview: SEE,
  enqueueJob: [...OPERATE, "producer"],
  enqueueJobs: [...OPERATE, "producer"],
  listJobs: SEE,
  getJob: [...SEE, "stream"],
  getJobDetails: SEE,
  getJobTexts: SEE,
  getJobProgress: [...SEE, "stream"],
  listUnits: SEE,
  listAttempts: SEE,
  listLogLines: SEE,
  explainJob: SEE,
  listUnitHolders: SEE,
  findJobIds: SEE,
  cancelJob: OPERATE,
  retryJob: OPERATE,
  failJob: OPERATE,
  releaseJob: OPERATE,
  streamEvents: SEE,
  streamChanges: SEE,
  streamJobEvents: [...SEE, "stream"],
  listEvents: SEE,
  listDeadLetters: SEE,
  getDeadLetterStats: SEE,
  getDeadLetter: SEE,
  getDeadLetterTexts: SEE,
  acknowledgeDeadLetter: OPERATE,
  noteDeadLetter: OPERATE,
  assignDeadLetter: OPERATE,
  setJobPriority: OPERATE,
  rescheduleJob: OPERATE,
  previewOperation: ["manager"],
  startOperation: ["manager"],
  stopOperation: ["manager"],
  listOperations: SEE,
  getOperation: SEE,
  listOperationItems: SEE,
  listFailures: SEE,
  getFailure: SEE,
  acknowledgeFailure: OPERATE,
  snoozeFailure: OPERATE,
  retryFailure: ["manager"],
  discardFailure: ["manager"],
  discardDeadLetter: ["manager"],
  reprocessDeadLetter: ["manager"],
  listLimits: SEE,
  setLimit: ["manager"],
  removeLimit: ["manager"],
  getSettings: SEE,
  getAttention: SEE,
  listLanes: SEE,
  listFairLanes: SEE,
  setFairness: OPERATE,
  removeFairness: OPERATE,
  listPauses: SEE,
  pause: OPERATE,
  resume: OPERATE,
  countRunning: SEE,
  listRunning: SEE,
  listAudit: SEE,
  exportAudit: SEE,
  verifyAudit: [...OPERATE, "admin"],
  compareAudit: [...OPERATE, "admin"],
  listIntakes: SEE,
  closeIntake: OPERATE,
  openIntake: OPERATE,
  listPayloadRules: SEE,
  setPayloadRule: ["manager"],
  removePayloadRule: ["manager"],
  listTenants: ["manager", "admin"],
  getTenant: ["manager", "admin"],
  setQuota: ["admin"],
  removeQuota: ["admin"],
  exportTenant: ["manager"],
  getRemoval: ["admin"],
  removeTenant: ["admin"],
  listWorkers: SEE,
  quietWorker: OPERATE,
  resumeWorker: OPERATE,
  stopWorker: OPERATE,
  listTypes: SEE,
  overrideType: OPERATE,
  resetType: OPERATE,
  listBreakers: SEE,
  getBreaker: SEE,
  listBreakerChanges: SEE,
  openBreaker: OPERATE,
  resetBreaker: OPERATE,
  getStats: SEE,
  getStatsBy: SEE,
  getRunMetrics: SEE,
  listDeploys: SEE,
  listViews: SEE,
  saveView: OPERATE,
  removeView: OPERATE,
  listSchedules: SEE,
  getSchedule: SEE,
  listTicks: SEE,
  createSchedule: ["manager"],
  updateSchedule: ["manager"],
  removeSchedule: ["manager"],
  pauseSchedule: OPERATE,
  resumeSchedule: OPERATE,
  runSchedule: OPERATE,
  listTokens: ["manager", "admin"],
  createToken: ["manager", "admin"],
  revokeToken: ["manager", "admin"],
  createStreamToken: SEE,
};

/** Routes that concern all tenants. */
const INSTANCE_WIDE = new Set([
  "setQuota",
  "removeQuota",
  "exportTenant",
  "getRemoval",
  "removeTenant",
  "listWorkers",
  "quietWorker",
  "resumeWorker",
  "stopWorker",
  "getRunMetrics",
  "listDeploys",
  "listBreakers",
  "getBreaker",
  "listBreakerChanges",
  "openBreaker",
  "resetBreaker",
  "overrideType",
  "resetType",
  "listLimits",
  "setLimit",
  "removeLimit",
  "listLanes",
  "listFairLanes",
  "setFairness",
  "removeFairness",
  "setPayloadRule",
  "removePayloadRule",
]);

const doomed = defineJob({ type: "doomed", payload: typed<{ n: number }>() }).run(() => {
  throw new NonRetryableError("planted");
});

describe("the routes", () => {
  test("are open to the callers that they name, and to no others (003-29)", async () => {
    await using server = await openServer();
    const cells = await cellsOf(server);

    expect(cells.filter(({ isRight }) => !isRight)).toEqual([]);
    expect(cells.length).toBe(Object.keys(MAY).length * CALLERS.length * 2);
  });

  test("do not start when one of them names no caller", async () => {
    await using server = await openServer();
    const parts = makeParts({
      mill: server.mill,
      identify: { origin: { publicUrl: null, hosts: "any" } },
      failed: () => {},
    });
    const open = route(
      {
        method: "get",
        path: "/api/v1/open",
        name: "open",
        summary: "A route that names no caller.",
        access: { roles: [] },
        answers: { 204: { description: "Nothing." } },
        problems: [],
      },
      async () => new Response(null, { status: 204 }),
    );

    expect(() => createApp(parts, [open])).toThrow("names no caller");
  });
});

interface Cell {
  readonly name: string;
  readonly caller: CallerName;
  readonly scope: "all" | "tenant";
  readonly status: number;
  readonly isRight: boolean;
}

async function cellsOf(server: TestServer): Promise<readonly Cell[]> {
  const { mill } = server;
  const failed = await mill.enqueue(doomed, { n: 1 }, { tenant: TENANT });
  const worker = mill.work({ jobs: [doomed], signals: false });
  await mill.wait(failed);
  await worker.stop();
  const parts = makeParts({
    mill,
    identify: { origin: { publicUrl: null, hosts: "any" } },
    failed: () => {},
  });
  const cells: Cell[] = [];
  for (const { name, method } of [...allRoutes(parts), OPENAPI]) {
    for (const caller of CALLERS) {
      for (const scope of ["all", "tenant"] as const) {
        // Some requests end the job or close its intake: each cell has its own.
        await mill.intake.open({ tenant: TENANT });
        const waiting = defineJob({ type: "email" });
        const options = { tenant: TENANT, delay: "1h" } as const;
        const job = await mill.enqueue(waiting, undefined, options);
        const callers = await makeCallers(mill, job.id);
        const { token } = await mill.tokens.create({
          kind: "person",
          name: "other",
          roles: ["viewer"],
          tenant: TENANT,
        });
        const samples = samplesOf({ jobId: job.id, failedId: failed.id, tokenId: token.id });
        const sample = samples[name];
        if (sample === undefined) throw new Error(`there is no sample request for ${name}`);
        const response = await server.ask(sample.path, {
          as: "anonymous",
          method: method.toUpperCase(),
          headers: { ...callers.headersOf(caller, scope), origin: "http://127.0.0.1:7333" },
          ...(sample.json === undefined ? {} : { json: sample.json }),
        });
        await response.body?.cancel();
        const { status } = response;
        cells.push({
          name,
          caller,
          scope,
          status,
          isRight: isAsDeclared(name, caller, scope, status),
        });
      }
    }
  }
  return cells;
}

const OPENAPI = { name: "getOpenApi", method: "get" } as const;

function isAsDeclared(
  name: string,
  caller: CallerName,
  scope: "all" | "tenant",
  status: number,
): boolean {
  const may = MAY[name] ?? [];
  // The login refuses the token in the body, and after ten times any login, but not the caller.
  if (name === "openSession") return status === 401 || status === 429;
  if (caller === "anonymous" && !may.includes("anonymous")) return status === 401;
  const isShut = INSTANCE_WIDE.has(name) && scope === "tenant";
  if (!may.includes(caller) || isShut) return status === 403;
  return status !== 401 && status !== 403 && status < 500;
}
