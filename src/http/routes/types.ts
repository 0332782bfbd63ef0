/** `/api/v1/types`: what workers have declared about their types, and what operators override. */
import { z } from "@hono/zod-openapi";
import type { TypeSettings } from "../../api/services/types.ts";
import { actedBy } from "../acted-by.ts";
import { OPERATE_INSTANCE, SEE } from "../identity/identity.ts";
import { route, type Route } from "../route.ts";
import { ANYTHING, COUNT, MOMENT, NAME, REASON, TEXT, TEXT_OR_NULL } from "../schemas/common.ts";

const SETTINGS = {
  lane: TEXT,
  priority: COUNT,
  maxAttempts: COUNT,
  timeoutMs: z.number().nullable(),
};
const OVERRIDDEN = z.enum(["lane", "priority", "maxAttempts", "timeoutMs"]);

const TYPE = z
  .strictObject({
    type: TEXT,
    ...SETTINGS,
    declared: z.strictObject(SETTINGS),
    override: z
      .strictObject({ settings: z.array(OVERRIDDEN), setBy: TEXT_OR_NULL, setAt: MOMENT })
      .nullable(),
    services: z.array(TEXT),
    category: TEXT_OR_NULL,
    payloadVersion: TEXT_OR_NULL,
    payloadSchema: ANYTHING,
    appVersion: TEXT_OR_NULL,
    onOrphan: z.enum(["retry", "fail"]),
    retryOwner: z.enum(["queue", "supervisor"]),
    declaredAt: MOMENT,
    workers: COUNT,
    isDisputed: z
      .boolean()
      .openapi({ description: "Living workers have declared the type differently." }),
  })
  .openapi("Type");

export function typeRoutes(): readonly Route[] {
  const form = {
    method: "get",
    path: "/api/v1/types",
    name: "listTypes",
    summary: "Lists the types that workers have declared, with their settings and services.",
    access: SEE,
    answers: {
      200: { description: "The types.", schema: z.strictObject({ types: z.array(TYPE) }) },
    },
    problems: [],
  } as const;
  return [
    route(form, async ({ mill }) => Response.json({ types: await mill.types.list() })),
    ...overrideRoutes(),
  ];
}

const PARAMS = z.strictObject({ type: NAME });
const NUMBER = { max: 1_000_000_000 };
const BODY = REASON.extend({
  lane: NAME.optional(),
  priority: z.int().min(0).max(NUMBER.max).optional(),
  maxAttempts: z.int().min(1).max(NUMBER.max).optional(),
  timeoutMs: z.int().min(1).max(9_000_000_000_000).nullable().optional(),
}).openapi("TypeSettings", { description: "At least one setting. A timeoutMs of null: no limit." });

function overrideRoutes(): readonly Route[] {
  const override = {
    method: "patch",
    path: "/api/v1/types/{type}",
    name: "overrideType",
    summary: "Sets settings of a type in place of those that workers declare.",
    access: OPERATE_INSTANCE,
    params: PARAMS,
    body: BODY,
    answers: { 204: { description: "The settings count for new jobs without code." } },
    problems: [404],
  } as const;
  const reset = {
    method: "delete",
    path: "/api/v1/types/{type}/override",
    name: "resetType",
    summary: "Removes an override. The declaration of the type counts again.",
    access: OPERATE_INSTANCE,
    params: PARAMS,
    query: REASON,
    answers: {
      200: {
        description: "Whether settings were overridden.",
        schema: z.strictObject({ wasSet: z.boolean() }),
      },
    },
    problems: [],
  } as const;
  return [
    route(override, async ({ params, body, mill, identity }) => {
      await mill.types.override(params.type, settingsOf(body), actedBy(identity, body.reason));
      return new Response(null, { status: 204 });
    }),
    route(reset, async ({ params: { type }, query: { reason }, mill, identity }) =>
      Response.json({ wasSet: await mill.types.reset(type, actedBy(identity, reason)) }),
    ),
  ];
}

function settingsOf(body: z.output<typeof BODY>): TypeSettings {
  const { lane, priority, maxAttempts, timeoutMs } = body;
  return {
    ...(lane !== undefined && { lane }),
    ...(priority !== undefined && { priority }),
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs ?? (false as const) }),
  };
}
