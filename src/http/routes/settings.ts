/** `GET /api/v1/settings`: what a page has to know before it shows anything. */
import { z } from "@hono/zod-openapi";
import { mayCall, SEE } from "../identity/identity.ts";
import type { AppParts } from "../parts.ts";
import { route, type Route } from "../route.ts";
import { COUNT, TEXT, TEXT_OR_NULL } from "../schemas/common.ts";

const RETENTION = z.strictObject({
  finishedMs: z.strictObject({
    completed: COUNT,
    completed_with_errors: COUNT,
    failed: COUNT,
    cancelled: COUNT,
  }),
  deadLetterMs: COUNT,
  idempotencyMs: COUNT,
  eventMs: COUNT,
  minutesMs: COUNT,
  auditMs: COUNT,
});

const SETTINGS = z
  .strictObject({
    version: TEXT,
    store: z.strictObject({ kind: z.enum(["sqlite", "postgres"]), name: TEXT_OR_NULL }),
    retention: RETENTION.nullable().openapi({
      description: "Null: the server starts no worker, and does not know what others remove.",
    }),
    redactedFields: z.array(TEXT),
    links: z.record(TEXT, TEXT).openapi({ description: "Templates of links by name." }),
    basePath: TEXT,
    readOnly: z.boolean().openapi({ description: "The server serves no call that changes data." }),
    operations: z.array(TEXT).openapi({
      description: "The operations of this server that the roles of the caller allow.",
    }),
  })
  .openapi("Settings");

/** `routes` are all routes that the app serves. */
export function settingsRoutes(
  { mill, redaction, linkTemplates: links, base: basePath, isReadOnly: readOnly }: AppParts,
  routes: () => readonly Route[],
): readonly Route[] {
  const form = {
    method: "get",
    path: "/api/v1/settings",
    name: "getSettings",
    summary: "Tells the store, retention, redaction and links, and what the caller may do.",
    access: SEE,
    answers: { 200: { description: "The settings.", schema: SETTINGS } },
    problems: [],
  } as const;
  return [
    route(form, async ({ identity }) => {
      const { version, store, retention } = mill.about();
      const allowed = routes().filter(({ access }) => mayCall(access, identity));
      return Response.json({
        version,
        // The name of a database is no business of a tenant.
        store: identity.tenant === null ? store : { ...store, name: null },
        retention,
        redactedFields: [...redaction.fields].toSorted(),
        links,
        basePath,
        readOnly,
        operations: allowed.map(({ name }) => name).toSorted(),
      });
    }),
  ];
}
