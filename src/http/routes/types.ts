/** `GET /api/v1/types`: what workers have declared about their types. */
import { z } from "@hono/zod-openapi";
import { SEE } from "../identity/identity.ts";
import { route, type Route } from "../route.ts";
import { ANYTHING, COUNT, MOMENT, TEXT, TEXT_OR_NULL } from "../schemas/common.ts";

const TYPE = z
  .strictObject({
    type: TEXT,
    lane: TEXT,
    priority: COUNT,
    maxAttempts: COUNT,
    timeoutMs: z.number().nullable(),
    services: z.array(TEXT),
    payloadSchema: ANYTHING,
    appVersion: TEXT_OR_NULL,
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
  return [route(form, async ({ mill }) => Response.json({ types: await mill.types.list() }))];
}
