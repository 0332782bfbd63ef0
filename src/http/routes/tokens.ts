/** `/api/v1/tokens`: credentials of people and programs, and stream tokens of one job. */
import type { PersonRole } from "../../api/tokens.ts";
import { z } from "@hono/zod-openapi";
import { actedBy } from "../acted-by.ts";
import { GRANT, SEE, type Identity } from "../identity/identity.ts";
import { RequestRefusal } from "../problem.ts";
import { route, type Route } from "../route.ts";
import {
  ID,
  ID_PARAMS,
  LIMIT,
  MOMENT,
  MOMENT_OR_NULL,
  NAME,
  REASON,
  REMARK,
  TEXT,
  TEXT_OR_NULL,
} from "../schemas/common.ts";

const PATH = "/api/v1/tokens";
const ROLES = ["viewer", "operator", "manager", "admin"] as const;
const KINDS = ["person", "producer", "worker", "stream", "session"] as const;

const TOKEN = z
  .strictObject({
    id: TEXT,
    kind: z.enum(KINDS),
    name: TEXT,
    actor: TEXT,
    roles: z.array(z.enum(ROLES)),
    tenant: TEXT_OR_NULL,
    types: z.array(TEXT).nullable(),
    jobId: TEXT_OR_NULL,
    parentId: TEXT_OR_NULL,
    createdBy: TEXT,
    createdAt: MOMENT,
    expiresAt: MOMENT,
    lastUsedAt: MOMENT_OR_NULL,
    revokedAt: MOMENT_OR_NULL,
  })
  .openapi("Token");

const CREATED = z.strictObject({
  token: TOKEN,
  secret: TEXT.openapi({ description: "Shown once: the store keeps only its hash." }),
});

const NEW_TOKEN = z
  .strictObject({
    kind: z.enum(["person", "producer", "worker"]),
    name: NAME,
    actor: NAME.optional(),
    roles: z.array(z.enum(ROLES)).min(1).max(ROLES.length).optional(),
    tenant: NAME.optional(),
    types: z.array(NAME).min(1).max(100).optional(),
    ttl: z
      .string()
      .regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, { error: "a duration such as 30d" })
      .optional(),
    reason: REMARK.optional(),
  })
  .openapi("NewToken");

export function tokenRoutes(): readonly Route[] {
  return [listRoute(), createRoute(), revokeRoute(), streamTokenRoute()];
}

function listRoute(): Route {
  const form = {
    method: "get",
    path: PATH,
    name: "listTokens",
    summary: "Lists tokens without their secrets, newest first.",
    access: GRANT,
    query: z.strictObject({
      kind: z.enum(KINDS).optional(),
      ended: z.boolean().optional().openapi({ description: "Also revoked and expired ones." }),
      after: ID.optional(),
      limit: LIMIT,
    }),
    answers: {
      200: {
        description: "One page; `next` is the `after` of the next one.",
        schema: z.strictObject({ tokens: z.array(TOKEN), next: TEXT_OR_NULL }),
      },
    },
    problems: [],
  } as const;
  return route(form, async ({ query: { kind, ended, after, limit }, mill }) => {
    const tokens = await mill.tokens.list({
      limit,
      ...(kind === undefined ? {} : { kind }),
      ...(ended === undefined ? {} : { ended }),
      ...(after === undefined ? {} : { after }),
    });
    const next = tokens.length < limit ? null : (tokens.at(-1)?.id ?? null);
    return Response.json({ tokens, next });
  });
}

function createRoute(): Route {
  const form = {
    method: "post",
    path: PATH,
    name: "createToken",
    summary: "Makes a token. Its secret is in this answer and nowhere else.",
    access: GRANT,
    body: NEW_TOKEN,
    answers: { 201: { description: "The token and its secret.", schema: CREATED } },
    problems: [],
  } as const;
  return route(form, async ({ body: { reason, ...body }, mill, identity }) => {
    insistGrantable(body, identity);
    const token: any = identity.tenant === null ? body : { ...body, tenant: identity.tenant };
    const created = await mill.tokens.create(token, actedBy(identity, reason));
    return Response.json(created, { status: 201 });
  });
}

/** A caller gives away no more than it has. */
function insistGrantable(
  { kind, roles = [], tenant }: z.output<typeof NEW_TOKEN>,
  identity: Identity,
): void {
  const own = identity.tenant;
  if (own !== null && tenant !== undefined && tenant !== own) {
    throw new RequestRefusal("FORBIDDEN", `The credential is for the tenant ${own} alone.`);
  }
  const may = (role: PersonRole): boolean =>
    identity.roles.includes(role) || (role !== "admin" && identity.roles.includes("manager"));
  const isAdmin = identity.roles.includes("admin");
  const above = isAdmin ? [] : roles.filter((role) => !may(role));
  if (above.length > 0) {
    throw new RequestRefusal("FORBIDDEN", `Only an admin grants the role ${above.join(", ")}.`);
  }
  if (kind === "worker" && own !== null) {
    throw new RequestRefusal("FORBIDDEN", "Workers serve all tenants, and the credential one.");
  }
}

function revokeRoute(): Route {
  const form = {
    method: "delete",
    path: `${PATH}/{id}`,
    name: "revokeToken",
    summary: "Ends a token, with its sessions and stream tokens, everywhere within 5 seconds.",
    access: GRANT,
    params: ID_PARAMS,
    query: REASON,
    answers: { 204: { description: "Revoked." } },
    problems: [404],
  } as const;
  return route(form, async ({ params: { id }, query: { reason }, mill, identity }) => {
    await mill.tokens.revoke(id, actedBy(identity, reason));
    return new Response(null, { status: 204 });
  });
}

function streamTokenRoute(): Route {
  const form = {
    method: "post",
    path: "/api/v1/jobs/{id}/stream-token",
    name: "createStreamToken",
    summary: "Makes a token for a URL: it reads this job for at most ten minutes.",
    access: SEE,
    params: ID_PARAMS,
    answers: {
      201: {
        description: "The token, and the path of the events of the job with it.",
        schema: z.strictObject({ secret: TEXT, path: TEXT, expiresAt: MOMENT }),
      },
    },
    problems: [404, 409],
  } as const;
  return route(form, async ({ params, mill, identity, base }) => {
    const { id, tenant } = await mill.jobs.get(params.id);
    const { actor, tokenId } = identity;
    const { secret, token } = await mill.tokens.create(
      {
        kind: "stream",
        name: `stream of ${id}`,
        actor,
        tenant,
        jobId: id,
        ...(tokenId === null ? {} : { parentId: tokenId }),
      },
      { actor },
    );
    const path = `${base}/api/v1/jobs/${id}/events?token=${secret}`;
    return Response.json({ secret, path, expiresAt: token.expiresAt }, { status: 201 });
  });
}
