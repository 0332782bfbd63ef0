/** The OpenAPI document, made from the routes. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Access } from "./identity/identity.ts";
import type { Answer, RouteForm } from "./route.ts";
import { PROBLEM } from "./schemas/problem.ts";

type Registry = OpenAPIHono["openAPIRegistry"];
type Responses = Parameters<Registry["registerPath"]>[0]["responses"];

const PROBLEM_TYPE = "application/problem+json";

/** Adds a route to the document. */
export function register(registry: Registry, route: RouteForm): void {
  const { method, path, name, summary, access, params, query, headers, body } = route;
  registry.registerPath({
    method,
    path,
    operationId: name,
    summary,
    description: accessText(access),
    security: access === "public" ? [] : [{ bearer: [] }, { cookie: [] }],
    request: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined
        ? {}
        : { body: { content: { "application/json": { schema: body } } } }),
    },
    responses: responsesOf(route),
  });
}

/** `base`: the path under which the API is mounted. */
export function documentOf(app: OpenAPIHono, base: string): object {
  const { openAPIRegistry: registry } = app;
  registry.registerComponent("securitySchemes", "bearer", { type: "http", scheme: "bearer" });
  registry.registerComponent("securitySchemes", "cookie", {
    type: "apiKey",
    in: "cookie",
    name: "millrace-7333",
  });
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Millrace",
      version: "1",
      description: "Durable background jobs.",
      license: { name: "MIT", url: "https://spdx.org/licenses/MIT.html" },
    },
    servers: [{ url: base === "" ? "/" : base }],
  });
}

function responsesOf(route: RouteForm): Responses {
  const responses: Responses = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    responses[status] = responseOf(answer);
  }
  for (const status of problemsOf(route)) {
    const content = { [PROBLEM_TYPE]: { schema: PROBLEM } };
    responses[String(status)] = { description: "A problem: see its code.", content };
  }
  return responses;
}

/**
 * The statuses of the errors of a route. Every route refuses unknown query parameters and foreign
 * hosts. A route with a credential or with problems of its store may also find the store failed,
 * busy or slow.
 */
function problemsOf({ access, body, method, problems }: RouteForm): readonly number[] {
  const statuses = new Set([400, 421, ...problems]);
  if (access !== "public") for (const status of [401, 403, 500, 503, 504]) statuses.add(status);
  // The disk of the store is full.
  if (method !== "get") statuses.add(507);
  if (body !== undefined) for (const status of [413, 415]) statuses.add(status);
  return [...statuses].toSorted((a, b) => a - b);
}

function responseOf({ description, schema, type = "application/json" }: Answer): Responses[string] {
  return schema === undefined ? { description } : { description, content: { [type]: { schema } } };
}

function accessText(access: Access): string {
  if (access === "public") return "Open to all callers.";
  const kinds = (access.kinds ?? []).map((kind) => `${kind} tokens`);
  const callers = [...access.roles, ...kinds].join(", ");
  const scope = access.isInstanceWide === true ? " Not for credentials of one tenant." : "";
  return `For: ${callers}.${scope}`;
}
