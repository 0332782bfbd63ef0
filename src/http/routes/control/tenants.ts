/** Tenants: what they have, and what they may enqueue. */
import { z } from "@hono/zod-openapi";
import type { QuotaRule } from "../../../api/control/tenants.ts";
import { ADMINISTER, GRANT, MANAGE_INSTANCE } from "../../identity/identity.ts";
import { jsonLines } from "../../json-lines.ts";
import { route, type Route } from "../../route.ts";
import { COUNT, MOMENT, NAME, NEEDED_REASON, TEXT, TEXT_OR_NULL } from "../../schemas/common.ts";

const PARAMS = z.strictObject({ tenant: NAME });
/** How long a request works on a removal. */
const REMOVAL_MS = 3_000;
const REMOVAL_PATH = "/api/v1/tenants/{tenant}/removal";
const LINE = z
  .strictObject({ kind: TEXT, of: TEXT.optional(), data: z.unknown() })
  .openapi("TenantLine");
const QUOTA_PATH = "/api/v1/tenants/{tenant}/quota";
const JOBS = z.int().min(1).max(1_000_000_000);
const COUNT_NAME = z.enum(["scheduled", "queued", "held", "running", "failed"]);
const RATE = z.strictObject({ limit: COUNT, perMs: COUNT, burst: COUNT });

const QUOTA = z.strictObject({
  tenant: TEXT,
  waiting: COUNT.nullable(),
  rate: RATE.nullable(),
  payloadBytes: COUNT.nullable(),
  reason: TEXT,
  setBy: TEXT_OR_NULL,
  setAt: MOMENT,
});

const VIEW = z.strictObject({
  tenant: TEXT,
  counts: z.strictObject({
    scheduled: COUNT,
    queued: COUNT,
    held: COUNT,
    running: COUNT,
    failed: COUNT,
  }),
  atLeast: z.array(COUNT_NAME),
  pause: z.strictObject({ reason: TEXT, pausedBy: TEXT_OR_NULL, pausedAt: MOMENT }).nullable(),
  intake: z
    .strictObject({
      kind: z.enum(["lane", "type", "tenant", "installation"]),
      name: TEXT,
      reason: TEXT,
      closedBy: TEXT_OR_NULL,
      closedAt: MOMENT,
    })
    .nullable(),
  quota: QUOTA.nullable(),
  limit: z.strictObject({ concurrency: COUNT.nullable(), rate: RATE.nullable() }).nullable(),
  weights: z.record(z.string(), z.number()),
});

const REMOVAL = z.strictObject({
  reason: TEXT,
  begunBy: TEXT_OR_NULL,
  begunAt: MOMENT,
  doneAt: MOMENT.nullable(),
  removed: COUNT,
});

const DETAILS = VIEW.extend({
  quota: QUOTA.extend({ waitingNow: COUNT.nullable(), tokens: COUNT.nullable() }).nullable(),
  removal: REMOVAL.nullable(),
}).openapi("TenantDetails");

const BODY = z
  .strictObject({
    waiting: z.int().min(0).max(1_000_000_000).optional(),
    rate: z
      .strictObject({
        limit: JOBS,
        perMs: z.int().min(1).max(9_000_000_000_000),
        burst: JOBS.optional(),
      })
      .optional(),
    payloadBytes: JOBS.optional(),
    reason: NEEDED_REASON,
  })
  .openapi("QuotaRule", { description: "At least one of waiting, rate and payloadBytes." });

export function tenantRoutes(): readonly Route[] {
  return [
    listRoute(),
    getRoute(),
    setRoute(),
    removeRoute(),
    exportRoute(),
    removalRoute(),
    removalStepRoute(),
  ];
}

function listRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/tenants",
    name: "listTenants",
    summary: "Lists the known tenants by name, with counts, pause, intake, quota, limit, weights.",
    access: GRANT,
    query: z.strictObject({
      after: NAME.optional(),
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
    }),
    answers: {
      200: {
        description: "A page of tenants, and where the next one begins.",
        schema: z.strictObject({
          tenants: z.array(VIEW.openapi("Tenant")),
          next: TEXT_OR_NULL,
        }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { after, limit }, mill }) => {
    const page = { ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) };
    return Response.json(await mill.tenants.list(page));
  });
}

function getRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/tenants/{tenant}",
    name: "getTenant",
    summary: "One tenant, with the use of its quota and the state of its removal.",
    access: GRANT,
    params: PARAMS,
    answers: { 200: { description: "The tenant.", schema: DETAILS } },
    problems: [],
  } as const;
  return route(form, async ({ params, mill }) =>
    Response.json(await mill.tenants.get(params.tenant)),
  );
}

function setRoute(): Route {
  const form = {
    method: "put",
    path: QUOTA_PATH,
    name: "setQuota",
    summary:
      "Sets what a tenant, or every tenant without a quota of its own (`*`), may enqueue. A job " +
      "beyond it is refused: 429 and QUOTA_EXCEEDED, or 413 and PAYLOAD_OVER_QUOTA.",
    access: ADMINISTER,
    params: PARAMS,
    body: BODY,
    answers: { 204: { description: "The quota is set." } },
    problems: [],
  } as const;
  return route(form, async ({ params, body: { reason, ...rule }, mill, identity: { actor } }) => {
    await mill.tenants.setQuota(params.tenant, ruleOf(rule), { actor, reason });
    return new Response(null, { status: 204 });
  });
}

function removeRoute(): Route {
  const form = {
    method: "delete",
    path: QUOTA_PATH,
    name: "removeQuota",
    summary: "Removes the quota of a tenant, or of every tenant without its own (`*`).",
    access: ADMINISTER,
    params: PARAMS,
    query: z.strictObject({ reason: NEEDED_REASON }),
    answers: {
      200: {
        description: "Whether the quota was set.",
        schema: z.strictObject({ wasSet: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ params, query: { reason }, mill, identity: { actor } }) =>
    Response.json(await mill.tenants.removeQuota(params.tenant, { actor, reason })),
  );
}

function exportRoute(): Route {
  const form = {
    method: "get",
    path: "/api/v1/tenants/{tenant}/export",
    name: "exportTenant",
    summary:
      "All data of a tenant, as lines of JSON, with payloads as they are stored. The last line " +
      "has the kind `end`: without it, the export is not complete.",
    access: MANAGE_INSTANCE,
    params: PARAMS,
    answers: {
      200: { description: "One line for each row.", schema: LINE, type: "application/x-ndjson" },
    },
    problems: [],
  } as const;
  return route(form, ({ params, mill, isStillValid }) =>
    jsonLines(mill.tenants.export(params.tenant), isStillValid),
  );
}

function removalRoute(): Route {
  const form = {
    method: "get",
    path: REMOVAL_PATH,
    name: "getRemoval",
    summary: "How far the removal of a tenant has come; null: no removal was asked for.",
    access: ADMINISTER,
    params: PARAMS,
    answers: {
      200: {
        description: "The removal.",
        schema: z.strictObject({ removal: REMOVAL.nullable() }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ params, mill }) => {
    const { removal } = await mill.tenants.get(params.tenant);
    return Response.json({ removal });
  });
}

function removalStepRoute(): Route {
  const form = {
    method: "post",
    path: REMOVAL_PATH,
    name: "removeTenant",
    summary:
      "Removes all data of a tenant. A request works for a few seconds: repeat it until `doneAt` " +
      "is set. `confirm` must be the name of the tenant.",
    access: ADMINISTER,
    params: PARAMS,
    body: z.strictObject({ reason: NEEDED_REASON, confirm: NAME }).openapi("TenantRemovalRequest"),
    answers: {
      202: {
        description: "How far the removal has come; at its end, the rows that are left: none.",
        schema: REMOVAL.extend({ rows: z.record(z.string(), COUNT) }).openapi("TenantRemoval"),
      },
    },
    problems: [],
    waitsMsMax: REMOVAL_MS,
  } as const;
  return route(form, async ({ params, body, mill, identity: { actor } }) => {
    const { reason, confirm } = body;
    const times = { within: REMOVAL_MS, grace: 2 * REMOVAL_MS };
    const removed = await mill.tenants.remove(params.tenant, { actor, reason, confirm, ...times });
    return Response.json(removed, { status: 202 });
  });
}

function ruleOf({ waiting, rate, payloadBytes }: Omit<z.output<typeof BODY>, "reason">): QuotaRule {
  return {
    ...(waiting !== undefined && { waiting }),
    ...(payloadBytes !== undefined && { payloadBytes }),
    ...(rate && {
      rate: {
        limit: rate.limit,
        per: rate.perMs,
        ...(rate.burst !== undefined && { burst: rate.burst }),
      },
    }),
  };
}
