import { describe, expect, test } from "vitest";
import { operationTypes } from "../../scripts/lib/api-types.ts";

const answer = (schema: object) => ({ content: { "application/json": { schema } } });

describe("types from an OpenAPI document", () => {
  test("name parameters, bodies and answers of each operation", () => {
    const text = operationTypes({
      components: { schemas: { Job: { type: "object", properties: { id: { type: "string" } } } } },
      paths: {
        "/jobs/{id}": {
          put: {
            operationId: "putJob",
            parameters: [
              { name: "id", in: "path", required: true, schema: { type: "string" } },
              { name: "limit", in: "query", schema: { type: "integer" } },
            ],
            requestBody: answer({ type: ["string", "null"] }),
            responses: {
              "200": answer({ $ref: "#/components/schemas/Job" }),
              "204": {},
              "400": answer({ type: "number" }),
            },
          },
        },
      },
    });

    expect(text).toContain("export type Job = { readonly id?: string };");
    expect(text).toContain("readonly params: { readonly id: string };");
    expect(text).toContain("readonly query: { readonly limit?: number };");
    expect(text).toContain("readonly body: string | null;");
    expect(text).toContain("readonly answer: Job | undefined;");
    expect(text).toContain('putJob: { method: "PUT", path: "/jobs/{id}" },');
  });

  test("know unions, constants, lists, tuples and open objects", () => {
    const typeOf = (schema: object): string =>
      operationTypes({ paths: {}, components: { schemas: { T: schema } } });

    expect(typeOf({ enum: ["a", 1] })).toContain('T = "a" | 1;');
    expect(typeOf({ anyOf: [{ const: "x" }, { type: "null" }] })).toContain('T = "x" | null;');
    expect(typeOf({ type: "array", items: { type: "boolean" } })).toContain("readonly (boolean)[]");
    expect(typeOf({ type: "array", prefixItems: [{ type: "string" }] })).toContain(
      "readonly [string]",
    );
    expect(typeOf({ type: "object", additionalProperties: { type: "number" } })).toContain(
      "Readonly<Record<string, number>>",
    );
    expect(typeOf({})).toContain("T = unknown;");
  });
});
