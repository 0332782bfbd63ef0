import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../test/support/http-server.ts";
import { mismatchOf, type JsonSchema } from "./schema.ts";

const PAGE_PATHS = new Set(["/", "/style.css", "/page.js"]);

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<
    Record<string, { content: Record<string, { schema: JsonSchema & { $ref?: string } }> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

describe("the OpenAPI document", () => {
  test("has every route of the server, and the server every route of the document", async () => {
    await using server = await openServer();

    const served = server.app.routes
      .filter(({ method, path }) => method !== "ALL" && !PAGE_PATHS.has(path))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);

    const { openapi, paths } = await documentOf(server);
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(openapi).toBe("3.1.0");
    expect(described.toSorted()).toEqual(served.toSorted());
    expect(described).toContain("POST /api/v1/jobs");
  });

  test("tells for each path whether it needs the token, as the server does", async () => {
    await using server = await openServer();
    const { paths } = await documentOf(server);

    for (const [path, { get }] of Object.entries(paths)) {
      const { status } = await server.ask(path.replace("{id}", "x"), { as: "nobody" });
      expect({ path, needsToken: get?.security.length !== 0 }).toEqual({
        path,
        needsToken: status === 401,
      });
    }
  });

  test("gives every operation a name of its own", async () => {
    await using server = await openServer();

    const { paths } = await documentOf(server);

    const names = Object.values(paths).flatMap((each) =>
      Object.values(each).map(({ operationId }) => operationId),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    ["/livez", "/livez"],
    ["/readyz", "/readyz"],
    ["/healthz", "/healthz"],
    ["/api/v1/overview", "/api/v1/overview"],
    ["/api/v1/jobs", "/api/v1/jobs"],
    ["/api/v1/jobs/{id}", "/api/v1/jobs/ID"],
  ])("describes what %s answers, and nothing is left out", async (path, asked) => {
    await using server = await openServer();
    const made = await server.ask("/api/v1/jobs", { json: { type: "email", payload: { a: 1 } } });
    const { id } = await jsonOf<{ id: string }>(made);
    const { paths } = await documentOf(server);

    const body: unknown = await (await server.ask(asked.replace("ID", id))).json();

    const schema = paths[path]?.["get"]?.responses["200"]?.content["application/json"]?.schema;
    expect(mismatchOf(strict(schema ?? { type: "null" }), body, "body")).toBeNull();
  });

  test("describes problems", async () => {
    await using server = await openServer();
    const { components } = await documentOf(server);

    const body: unknown = await (await server.ask("/api/v1/jobs?limit=0")).json();

    expect(mismatchOf(strict(components.schemas["Problem"] ?? {}), body, "problem")).toBeNull();
  });
});

async function documentOf(server: { ask(path: string): Promise<Response> }): Promise<Document> {
  const document = await jsonOf<Document>(await server.ask("/openapi.json"));
  return document;
}

/** The same schema, in which nothing may stand that it does not name. */
function strict(schema: JsonSchema): JsonSchema {
  const { properties, items } = schema;
  const named = Object.entries(properties ?? {}).map(([name, each]) => [name, strict(each)]);
  return {
    ...schema,
    ...(items === undefined ? {} : { items: strict(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(named), additionalProperties: false }),
  };
}
