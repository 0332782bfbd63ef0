import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../test/support/http/http-server.ts";

const PAGE_PATHS = new Set(["/", "/icon.svg", "/licences.md", "/assets/:file"]);

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
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

  test("tells for each path whether it needs a credential, as the server does", async () => {
    await using server = await openServer();
    const { paths } = await documentOf(server);

    for (const [path, { get }] of Object.entries(paths)) {
      if (get === undefined) continue;
      const { status } = await server.ask(path.replaceAll(/\{\w+\}/g, "x"), { as: "anonymous" });
      expect({ path, needsCredential: get.security.length !== 0 }).toEqual({
        path,
        needsCredential: status === 401,
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
});

async function documentOf(server: { ask(path: string): Promise<Response> }): Promise<Document> {
  return jsonOf<Document>(await server.ask("/openapi.json"));
}
