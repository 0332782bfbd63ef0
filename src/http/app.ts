/**
 * The HTTP app: one function from request to response. It has no socket, so that tests call it
 * directly and any framework can mount it, and reaches the store through a client.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { methodNotAllowed } from "hono/method-not-allowed";
import { secureHeaders } from "hono/secure-headers";
import type { Context, Hono } from "hono";
import type { BlankEnv } from "hono/types";
import { within } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { newId, parseId } from "../core/ids.ts";
import { identify } from "./identity/identify.ts";
import { mayCall, type Access, type Identity } from "./identity/identity.ts";
import { insistOwnHost } from "./identity/origin.ts";
import { documentOf, register } from "./openapi.ts";
import { servePage } from "./page/page.ts";
import type { AppParts } from "./parts.ts";
import { problem, RequestRefusal } from "./problem.ts";
import type { Route } from "./route.ts";
import { allRoutes } from "./routes/all.ts";
import { openApiRoute } from "./routes/openapi.ts";

/** The longest time for an answer. A route that waits for something to happen has more. */
const ANSWER_MS_MAX = 30_000;
const REQUEST_ID = /^[\w.-]{8,64}$/;

/** Makes the `fetch` of the server. Throws if a route names no caller. */
export function createApp(parts: AppParts, own: readonly Route[] = allRoutes(parts)): Hono {
  const app = new OpenAPIHono<BlankEnv>();
  app.use(guardedHeaders(parts));
  app.use((context, next) => {
    insistOwnHost(context.req.raw, parts.identify.origin);
    return next();
  });
  const onMethodNotAllowed = (context: Context, methods: readonly string[]): Promise<Response> =>
    refuse(parts, context, wrongMethod(methods));
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  app.notFound((context) => refuse(parts, context, unknownPath(context.req.path)));
  app.onError((error, context) => {
    const id = requestIdOf(parts, context);
    const answer = problem(error, id);
    if (isFault(error, answer.status)) parts.failed(error, id);
    return answer;
  });
  const routes = [...own, openApiRoute(() => documentOf(app, parts.base))];
  for (const route of routes) {
    insistAccess(route);
    register(app.openAPIRegistry, route);
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, (context) => answered(parts, route, context));
  }
  servePage(app, parts);
  return app;
}

/**
 * Whether an operator must look at the error. A refusal with 503 is an answer: an operator has
 * closed an intake, or the server stops. Producers that repeat the request would fill the log.
 */
function isFault(error: unknown, status: number): boolean {
  const isClosed = error instanceof MillraceError && error.code === "INTAKE_CLOSED";
  const isRefusal = error instanceof RequestRefusal && status === 503;
  return status >= 500 && !isClosed && !isRefusal;
}

function insistAccess({ access, method, path }: Route): void {
  if (access === "public" || access.roles.length + (access.kinds?.length ?? 0) > 0) return;
  throw new Error(`the route ${method} ${path} names no caller`);
}

/** The time limit includes the question whose credential it is, which the store answers. */
async function answered(parts: AppParts, route: Route, context: Context): Promise<Response> {
  const limitMs = ANSWER_MS_MAX + (route.waitsMsMax ?? 0);
  let isLate = true;
  const answer = answerOf(parts, route, context).finally(() => (isLate = false));
  await within(parts.clock, limitMs, answer);
  if (!isLate) return answer;
  void answer.then(discard, () => {});
  const detail = `The answer took longer than ${limitMs / 1_000} seconds.`;
  throw new RequestRefusal("REQUEST_TIMED_OUT", detail);
}

async function answerOf(parts: AppParts, route: Route, context: Context): Promise<Response> {
  const { raw: request } = context.req;
  const identity = await callerOf(parts, route.access, request);
  insistOwnJob(identity, context.req.param("id"));
  const { tenant } = identity;
  const answer = await route.answer({
    request,
    params: context.req.param(),
    identity,
    isStillValid: () => isStillValid(parts, route.access, request, identity),
    mill: tenant === null ? parts.mill : parts.mill.forTenant(tenant),
    base: parts.base,
    signal: AbortSignal.any([request.signal, parts.closing]),
  });
  return request.method === "HEAD" ? withoutBody(answer) : answer;
}

/** Whether the credential of an answer that goes on for long is neither revoked nor expired. */
async function isStillValid(
  parts: AppParts,
  access: Access,
  request: Request,
  { tokenId }: Identity,
): Promise<boolean> {
  if (tokenId === null) return true;
  try {
    return (await callerOf(parts, access, request)).tokenId === tokenId;
  } catch (error) {
    // A store that does not answer now has not revoked anything.
    return !(error instanceof RequestRefusal);
  }
}

/** No client reads the body of an answer to HEAD, and a stream would stay open. */
async function withoutBody(answer: Response): Promise<Response> {
  await discard(answer);
  return new Response(null, answer);
}

async function discard({ body }: Response): Promise<void> {
  await body?.cancel();
}

const ANONYMOUS: Identity = {
  actor: "",
  kind: "person",
  roles: [],
  tenant: null,
  types: null,
  jobId: null,
  tokenId: null,
};

async function callerOf(parts: AppParts, access: Access, request: Request): Promise<Identity> {
  if (access === "public") return ANONYMOUS;
  const mayBeInUrl = access.kinds?.includes("stream") === true;
  const identity = await identify(request, parts.identify, mayBeInUrl);
  if (mayCall(access, identity)) return identity;
  throw new RequestRefusal("FORBIDDEN", forbidden(access, identity));
}

/** A stream token reads one job, whichever route about a job takes it. */
function insistOwnJob({ kind, jobId }: Identity, id: string | undefined): void {
  if (kind !== "stream" || id === undefined || parseId(id) === jobId) return;
  throw new RequestRefusal("FORBIDDEN", `The token reads the job ${jobId} alone.`);
}

function forbidden(access: Exclude<Access, "public">, { kind, roles, tenant }: Identity): string {
  const has = kind === "person" ? `the roles ${roles.join(", ") || "none"}` : `the kind ${kind}`;
  if (access.isInstanceWide === true && tenant !== null) {
    return "This concerns all tenants, and the credential is for one tenant.";
  }
  const wanted = [
    ...(access.roles.length > 0 ? [`a person with the role ${access.roles.join(" or ")}`] : []),
    ...(access.kinds ?? []).map((each) => `a ${each} token`),
  ];
  return `This needs ${wanted.join(" or ")}; the credential has ${has}.`;
}

/** Without a credential, a caller does not learn which paths of the API exist. */
async function refuse(parts: AppParts, context: Context, why: RequestRefusal): Promise<Response> {
  const { path, raw } = context.req;
  const id = requestIdOf(parts, context);
  try {
    if (path.startsWith("/api/")) await identify(raw, parts.identify, false);
    return problem(why, id);
  } catch (error) {
    return problem(error, id);
  }
}

function unknownPath(path: string): RequestRefusal {
  return new RequestRefusal("NOT_FOUND", `The path ${path} does not exist.`);
}

function wrongMethod(methods: readonly string[]): RequestRefusal {
  const allow = methods.join(", ");
  return new RequestRefusal("METHOD_NOT_ALLOWED", `The path accepts only ${allow}.`, [], { allow });
}

/** The id of the caller, if it has a harmless form, or a new one. */
function requestIdOf({ clock, dice }: AppParts, context: Context): string {
  const known: unknown = context.get("requestId");
  if (typeof known === "string") return known;
  const given = context.req.header("x-request-id") ?? "";
  const id = REQUEST_ID.test(given) ? given : newId(clock.now(), dice);
  context.set("requestId", id);
  return id;
}

/** The content security policy allows the dashboard only what it needs. */
function guardedHeaders(parts: AppParts): ReturnType<typeof secureHeaders> {
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
    referrerPolicy: "no-referrer",
    // The proxy that has the certificate decides about this.
    strictTransportSecurity: false,
    xFrameOptions: "DENY",
  });
  return async (context, next) => {
    const id = requestIdOf(parts, context);
    await headers(context, next);
    context.header("x-request-id", id);
    if (!context.res.headers.has("cache-control")) context.header("cache-control", "no-store");
  };
}
