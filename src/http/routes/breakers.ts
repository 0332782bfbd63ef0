/** The circuit breakers of services: state, history, opening by hand and reset. */
import { z } from "@hono/zod-openapi";
import { actedBy } from "../acted-by.ts";
import { OPERATE_INSTANCE, SEE_INSTANCE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { Redactor } from "../redaction.ts";
import { route, type Route } from "../route.ts";
import {
  COUNT,
  COUNTED,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  REASON,
  TEXT,
  TEXT_OR_NULL,
  neededReason,
} from "../schemas/common.ts";
import { redactedBreaker, redactedBreakerChange } from "../views.ts";

const PATH = "/api/v1/breakers/{service}";
const PARAMS = z.strictObject({ service: NAME });
const STATE = z.enum(["closed", "open", "half_open"]);

const BREAKER = z
  .strictObject({
    service: TEXT,
    state: STATE,
    failures: COUNT,
    successes: COUNT,
    lastFailureAt: MOMENT_OR_NULL,
    openedAt: MOMENT_OR_NULL,
    halfOpenedAt: MOMENT_OR_NULL,
    probeAt: MOMENT_OR_NULL,
    probeJobId: TEXT_OR_NULL,
    reason: TEXT_OR_NULL,
    changedBy: TEXT_OR_NULL,
    updatedAt: MOMENT_OR_NULL,
    types: z.array(TEXT),
    waiting: COUNTED,
    parkedUntil: z.array(z.strictObject({ tenant: TEXT_OR_NULL, until: MOMENT, reason: TEXT })),
  })
  .openapi("Breaker");

const CHANGE = z
  .strictObject({
    at: MOMENT,
    state: STATE,
    failures: COUNT,
    reason: TEXT_OR_NULL,
    changedBy: TEXT_OR_NULL,
  })
  .openapi("BreakerChange");

export function breakerRoutes(parts: AppParts): readonly Route[] {
  return [...readRoutes(parts), ...writeRoutes()];
}

function readRoutes({ redaction }: AppParts): readonly Route[] {
  const list = {
    method: "get",
    path: "/api/v1/breakers",
    name: "listBreakers",
    summary: "Lists the services that types use, with the state of their breakers.",
    access: SEE_INSTANCE,
    answers: {
      200: { description: "The breakers.", schema: z.strictObject({ breakers: z.array(BREAKER) }) },
    },
    problems: [],
  } as const;
  const get = {
    method: "get",
    path: PATH,
    name: "getBreaker",
    summary: "Reads the breaker of a service. A service that is not known has a closed breaker.",
    access: SEE_INSTANCE,
    params: PARAMS,
    answers: { 200: { description: "The breaker.", schema: BREAKER } },
    problems: [],
  } as const;
  const history = {
    method: "get",
    path: `${PATH}/history`,
    name: "listBreakerChanges",
    summary: "Lists what has happened to the breaker of a service, newest first.",
    access: SEE_INSTANCE,
    params: PARAMS,
    query: z.strictObject({ limit: z.coerce.number().int().min(1).max(1_000).default(50) }),
    answers: {
      200: { description: "The changes.", schema: z.strictObject({ changes: z.array(CHANGE) }) },
    },
    problems: [],
  } as const;
  return [
    route(list, async ({ mill, identity }) => {
      const redactor = new Redactor(redaction, identity);
      const breakers = await mill.breakers.list();
      return Response.json({ breakers: breakers.map((each) => redactedBreaker(each, redactor)) });
    }),
    route(get, async ({ params: { service }, mill, identity }) => {
      const breaker = await mill.breakers.get(service);
      return Response.json(redactedBreaker(breaker, new Redactor(redaction, identity)));
    }),
    route(history, async ({ params: { service }, query: { limit }, mill, identity }) => {
      const redactor = new Redactor(redaction, identity);
      const changes = await mill.breakers.history(service, { limit });
      return Response.json({
        changes: changes.map((change) => redactedBreakerChange(change, redactor)),
      });
    }),
  ];
}

function writeRoutes(): readonly Route[] {
  const open = {
    method: "post",
    path: `${PATH}/open`,
    name: "openBreaker",
    summary: "Opens the breaker of a service until it is reset: its jobs wait.",
    access: OPERATE_INSTANCE,
    params: PARAMS,
    body: z.strictObject({ reason: neededReason(500) }),
    answers: { 204: { description: "The breaker is open." } },
    problems: [],
  } as const;
  const reset = {
    method: "post",
    path: `${PATH}/reset`,
    name: "resetBreaker",
    summary: "Closes the breaker of a service, and ends the pauses that it has asked for.",
    access: OPERATE_INSTANCE,
    params: PARAMS,
    body: REASON,
    answers: {
      200: {
        description: "Whether anything has changed.",
        schema: z.strictObject({ changed: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return [
    route(open, async ({ params: { service }, body: { reason }, mill, identity: { actor } }) => {
      await mill.breakers.forceOpen(service, reason, { actor });
      return new Response(null, { status: 204 });
    }),
    route(reset, async ({ params: { service }, body: { reason }, mill, identity }) =>
      Response.json({ changed: await mill.breakers.reset(service, actedBy(identity, reason)) }),
    ),
  ];
}
