/**
 * The HTTP app: one function from request to response. It has no socket, so that tests call it
 * directly, and reaches the store through a client.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { methodNotAllowed } from "hono/method-not-allowed";
import { secureHeaders } from "hono/secure-headers";
import { ownHostOnly, signIn, tokenOnly } from "./access.ts";
import { openApiDocument } from "./openapi.ts";
import { problem, RequestRefusal } from "./problem.ts";
import { readRequest, type Route } from "./route.ts";
import { jobRoutes, type JobRouteParts } from "./routes/jobs.ts";
import { serviceRoutes, type ServiceRouteParts } from "./routes/service.ts";

/** The size of the largest payload, with room for escaped characters. */
const BODY_BYTES_MAX = 2_000_000;

const PAGE: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/style.css": { file: "style.css", type: "text/css; charset=utf-8" },
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
};

export interface AppParts extends JobRouteParts, ServiceRouteParts {
  /** The token that requests to the API must carry. */
  readonly token: string;
  /** The folder with the dashboard's files. */
  readonly pageFolder: string;
  /** Called with unexpected errors, whose details the caller does not see. */
  readonly failed: (error: unknown) => void;
}

/** Makes the server's `fetch`. */
export function createApp(parts: AppParts): Hono {
  const app = new Hono();
  app.use(guardedHeaders());
  app.use(ownHostOnly());
  app.use("/", signIn(parts.token));
  app.use("/api/*", tokenOnly(parts.token), boundedBody());
  app.use(methodNotAllowed({ app, onMethodNotAllowed: (_, methods) => wrongMethod(methods) }));
  app.notFound((context) =>
    problem(new RequestRefusal("NOT_FOUND", `The path ${context.req.path} does not exist.`)),
  );
  app.onError((error) => {
    const answer = problem(error);
    if (answer.status >= 500) parts.failed(error);
    return answer;
  });
  for (const route of routesOf(parts)) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method, path, async (context) => route.answer(await readRequest(route, context)));
  }
  servePage(app, parts.pageFolder);
  return app;
}

/** All routes of the server. The last one returns their OpenAPI document. */
function routesOf(parts: AppParts): readonly Route[] {
  const routes: Route[] = [...serviceRoutes(parts), ...jobRoutes(parts)];
  routes.push({
    method: "get",
    path: "/openapi.json",
    name: "getOpenApi",
    summary: "This document.",
    answers: { 200: { description: "OpenAPI 3.1.", schema: { type: "object" } } },
    problems: [],
    answer: async () => Response.json(document),
  });
  const document = openApiDocument(routes, (path) => path.startsWith("/api/"));
  return routes;
}

/** The page needs no token: it has no data, and says how to sign in. */
function servePage(app: Hono, folder: string): void {
  for (const [path, { file, type }] of Object.entries(PAGE)) {
    app.get(path, async (context) => {
      const text = await readFile(join(folder, file), "utf8");
      return context.body(text, 200, { "content-type": type });
    });
  }
}

function boundedBody(): ReturnType<typeof bodyLimit> {
  return bodyLimit({
    maxSize: BODY_BYTES_MAX,
    onError: () =>
      problem(
        new RequestRefusal("BODY_TOO_LARGE", `The body has more than ${BODY_BYTES_MAX} bytes.`),
      ),
  });
}

function wrongMethod(methods: readonly string[]): Response {
  const allow = methods.join(", ");
  return problem(new RequestRefusal("METHOD_NOT_ALLOWED", `The path accepts only ${allow}.`), {
    allow,
  });
}

/** The content security policy allows the dashboard only what it needs. */
function guardedHeaders(): ReturnType<typeof secureHeaders> {
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
    // Meaningless on a loopback address without TLS.
    strictTransportSecurity: false,
    xFrameOptions: "DENY",
  });
  return async (context, next) => {
    await headers(context, next);
    context.header("cache-control", "no-store");
  };
}
