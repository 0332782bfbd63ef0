/** `/api/v1/session`: a browser exchanges the token of a person for a session, and ends it. */
import { z } from "@hono/zod-openapi";
import { sessionCookie, sessionSecret } from "../identity/cookie.ts";
import { isSame } from "../identity/identify.ts";
import { ANY_CALLER, identityOf, ownerOf, type Identity } from "../identity/identity.ts";
import { insistOwnPage } from "../identity/origin.ts";
import type { AppParts } from "../parts.ts";
import { RequestRefusal } from "../problem.ts";
import { route, type Route } from "../route.ts";
import { TEXT, TEXT_OR_NULL } from "../schemas/common.ts";

const PATH = "/api/v1/session";

const SESSION = z
  .strictObject({
    actor: TEXT,
    kind: z.enum(["person", "producer", "worker", "stream"]),
    roles: z.array(z.enum(["viewer", "operator", "manager", "admin"])),
    tenant: TEXT_OR_NULL.openapi({ description: "Null: all tenants." }),
    types: z.array(TEXT).nullable().openapi({ description: "Null: all types." }),
  })
  .openapi("Session");

export function sessionRoutes(parts: AppParts): readonly Route[] {
  return [
    route(
      {
        method: "get",
        path: PATH,
        name: "getSession",
        summary: "Returns who the caller is.",
        access: ANY_CALLER,
        answers: { 200: { description: "The caller.", schema: SESSION } },
        problems: [],
      },
      async ({ identity }) => Response.json(sessionView(identity)),
    ),
    loginRoute(parts),
    logoutRoute(parts),
  ];
}

/** The request must come from an own page: another site must not sign its visitors in. */
function loginRoute(parts: AppParts): Route {
  const form = {
    method: "post",
    path: PATH,
    name: "openSession",
    summary: "Exchanges the token of a person for a session cookie.",
    access: "public",
    body: z.strictObject({ token: z.string().min(1).max(200) }),
    answers: { 201: { description: "The session. Set-Cookie has its secret.", schema: SESSION } },
    problems: [401, 403, 429, 500, 503, 504],
  } as const;
  return route(form, async ({ body: { token }, request }) => {
    insistOwnPage(request, parts.identify.origin);
    parts.throttle.insistOpen();
    const person = await personOf(parts, token);
    if (person === null) {
      parts.throttle.failed();
      throw new RequestRefusal("UNAUTHORIZED", "The token is not a valid token of a person.");
    }
    const { identity, parentId } = person;
    const cookie = await openSession(parts, request, { identity, parentId });
    const headers = { "set-cookie": cookie };
    return Response.json(sessionView(identity), { status: 201, headers });
  });
}

function logoutRoute(parts: AppParts): Route {
  const form = {
    method: "delete",
    path: PATH,
    name: "closeSession",
    summary: "Ends the session of the cookie.",
    access: ANY_CALLER,
    answers: { 204: { description: "The session has ended." } },
    problems: [],
  } as const;
  return route(form, async ({ request }) => {
    const secret = sessionSecret(request);
    // The caller may have shown a token beside the cookie, and the token must stay.
    const token = secret === null ? null : await parts.mill.tokens.verify(secret);
    if (secret !== null && token?.kind === "session") {
      await parts.mill.tokens.revoke(token.id);
      parts.identify.tokens.forget(secret);
    }
    const cookie = sessionCookie(request, null, cookieParts(parts));
    return new Response(null, { status: 204, headers: { "set-cookie": cookie } });
  });
}

/** Stores a session. Answers the header that gives it to the browser. */
export async function openSession(
  parts: AppParts,
  request: Request,
  { identity, parentId }: { readonly identity: Identity; readonly parentId: string | null },
): Promise<string> {
  const { actor, roles, tenant } = identity;
  const { token, secret } = await parts.mill.tokens.create(
    {
      kind: "session",
      name: "browser session",
      actor,
      roles,
      ...(tenant === null ? {} : { tenant }),
      ...(parentId === null ? {} : { parentId }),
    },
    { actor },
  );
  const session = { secret, expires: token.expiresAt };
  return sessionCookie(request, session, cookieParts(parts));
}

function cookieParts({ base, identify }: AppParts): Parameters<typeof sessionCookie>[2] {
  return { base, origin: identify.origin };
}

async function personOf(
  { identify: { ownerSecret }, mill }: AppParts,
  secret: string,
): Promise<{ readonly identity: Identity; readonly parentId: string | null } | null> {
  if (ownerSecret !== null && isSame(secret, ownerSecret)) {
    return { identity: ownerOf("owner"), parentId: null };
  }
  const token = await mill.tokens.verify(secret);
  if (token?.kind !== "person") return null;
  return { identity: identityOf(token), parentId: token.id };
}

function sessionView({ actor, kind, roles, tenant, types }: Identity): z.output<typeof SESSION> {
  return { actor, kind, roles: [...roles], tenant, types: types === null ? null : [...types] };
}
