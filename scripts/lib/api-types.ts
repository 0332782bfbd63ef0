/** TypeScript types from an OpenAPI document: one entry per operation, one type per component. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const HEAD = `/**
 * The calls of the HTTP API, made from its routes by scripts/embed-api.ts. Not edited by hand.
 */
`;

export function operationTypes({ paths, components }: ApiDocument): string {
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .toSorted((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1));
  const named = Object.entries(components.schemas ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`);
  const types = operations.map(({ operation }) => operationType(operation));
  const places = operations.map(({ path, method, operation: { operationId } }) => {
    return `  ${operationId}: { method: "${method.toUpperCase()}", path: "${path}" },\n`;
  });
  return (
    HEAD +
    `${named.join("\n")}\n` +
    `export interface Operations {\n${types.join("")}}\n\n` +
    `export const PLACES: Readonly<\n  Record<keyof Operations, { readonly method: string; ` +
    `readonly path: string }>\n> = {\n${places.join("")}};\n`
  );
}

function operationType(operation: Operation): string {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const fields = [
    `readonly params: ${fieldsOf(parameters.filter((each) => each.in === "path"))}`,
    `readonly query: ${fieldsOf(parameters.filter((each) => each.in === "query"))}`,
    `readonly body: ${mediaType(requestBody) ?? "undefined"}`,
    `readonly answer: ${answerType(responses)}`,
  ];
  return `  readonly ${operationId}: {\n${fields.map((each) => `    ${each};\n`).join("")}  };\n`;
}

function fieldsOf(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "{}";
  const fields = parameters.map(({ name, required, schema }) => {
    return `readonly ${key(name)}${required === true ? "" : "?"}: ${typeOf(schema)}`;
  });
  return `{ ${fields.join("; ")} }`;
}

function answerType(responses: Operation["responses"]): string {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const types = new Set(good.map(([, media]) => mediaType(media) ?? "undefined"));
  return [...types].join(" | ");
}

function mediaType(media: Media | undefined): string | null {
  const schema = media?.content?.["application/json"]?.schema;
  if (schema !== undefined) return typeOf(schema);
  return media?.content === undefined ? null : "string";
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts !== undefined) return [...new Set(parts.map(typeOf))].join(" | ");
  if (schema.allOf !== undefined)
    return schema.allOf.map((each) => `(${typeOf(each)})`).join(" & ");
  const kinds = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (kinds.length === 0) return "unknown";
  return [...new Set(kinds.map((kind) => typeOfKind(kind, schema)))].join(" | ");
}

function typeOfKind(kind: string, schema: Schema): string {
  if (kind === "string" || kind === "boolean" || kind === "null") return kind;
  if (kind === "integer" || kind === "number") return "number";
  if (kind === "array") return arrayType(schema);
  return objectType(schema);
}

function arrayType({ items, prefixItems }: Schema): string {
  if (prefixItems !== undefined) return `readonly [${prefixItems.map(typeOf).join(", ")}]`;
  return `readonly (${items === undefined ? "unknown" : typeOf(items)})[]`;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, each]) => {
    return `readonly ${key(name)}${required.includes(name) ? "" : "?"}: ${typeOf(each)}`;
  });
  if (typeof additionalProperties === "object" && fields.length === 0) {
    return `Readonly<Record<string, ${typeOf(additionalProperties)}>>`;
  }
  const isOpen = additionalProperties === true || typeof additionalProperties === "object";
  if (isOpen) fields.push("readonly [name: string]: unknown");
  return fields.length === 0 ? "Readonly<Record<string, unknown>>" : `{ ${fields.join("; ")} }`;
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
