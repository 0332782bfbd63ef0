/** Makes the OpenAPI document from the list of routes. */
import type { Route } from "./route.ts";
import type { JsonSchema } from "./schema.ts";
import { PROBLEM } from "./schemas.ts";

/** `isGuarded` is true for the paths that need the token. */
export function openApiDocument(
  routes: readonly Route[],
  isGuarded: (path: string) => boolean,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method]: {
        ...operation(route),
        security: isGuarded(route.path) ? [{ bearer: [] }, { cookie: [] }] : [],
      },
    };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Millrace", version: "1", description: "Durable background jobs." },
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "millrace-7333" },
      },
    },
  };
}

function operation(route: Route): object {
  const { name, summary, inPath = {}, inQuery = {}, inHeaders = {}, body } = route;
  const parameters = [
    ...parametersIn("path", inPath),
    ...parametersIn("query", inQuery),
    ...parametersIn("header", inHeaders),
  ];
  return {
    operationId: name,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: asJson(body) } }),
    responses: { ...answersOf(route), ...problemsOf(route) },
  };
}

function parametersIn(place: string, schemas: Readonly<Record<string, JsonSchema>>): object[] {
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    in: place,
    required: place === "path",
    schema,
  }));
}

function answersOf({ answers }: Route): object {
  const entries = Object.entries(answers).map(([status, { description, schema }]) => [
    status,
    { description, content: asJson(schema) },
  ]);
  return Object.fromEntries(entries);
}

function problemsOf({ problems }: Route): object {
  const content = {
    "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
  };
  const answer = { description: "An error; the body has the details.", content };
  return Object.fromEntries([...problems, 421].map((status) => [String(status), answer]));
}

function asJson(schema: JsonSchema): object {
  return { "application/json": { schema } };
}
