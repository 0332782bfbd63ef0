/**
 * The part of JSON Schema that the API uses. One schema both checks requests and describes them in
 * the OpenAPI document, so that the two cannot differ.
 */
import { shown } from "../core/text.ts";
import { closest } from "../lib/closest.ts";

type TypeName = "array" | "boolean" | "integer" | "null" | "number" | "object" | "string";

export interface JsonSchema {
  readonly description?: string;
  readonly type?: TypeName | readonly TypeName[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
  readonly items?: JsonSchema;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

export interface SchemaMismatch {
  /** The path in the value, such as `options.tags.area`. */
  readonly path: string;
  readonly message: string;
}

/** The first part of `value` that `schema` does not allow, or `null`. */
export function mismatchOf(
  schema: JsonSchema,
  value: unknown,
  path: string,
): SchemaMismatch | null {
  const own = ownMismatch(schema, value);
  if (own !== null) return { path, message: own };
  if (Array.isArray(value)) return first(value, (item, index) => itemOf(schema, item, path, index));
  return isRecord(value) ? insideOf(schema, value, path) : null;
}

/** The mismatch of the value itself, without its parts. */
function ownMismatch(schema: JsonSchema, value: unknown): string | null {
  const refuse = (expected: string): string => `must be ${expected}, not ${shown(value)}`;
  if (schema.anyOf?.every((each) => mismatchOf(each, value, "") !== null)) {
    return refuse(schema.description ?? "of another form");
  }
  if (!hasType(schema, value)) return refuse(typesOf(schema).map(withArticle).join(" or "));
  if (typeof value === "string") return textMismatch(schema, value, refuse);
  if (typeof value === "number") {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return value >= minimum && value <= maximum ? null : refuse(`from ${minimum} to ${maximum}`);
  }
  const isLong = Array.isArray(value) && value.length > (schema.maxItems ?? Infinity);
  return isLong ? `has more than ${schema.maxItems} entries` : null;
}

function textMismatch(
  schema: JsonSchema,
  text: string,
  refuse: (expected: string) => string,
): string | null {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(text)) {
    const meant = closest(text, schema.enum);
    return `${refuse(schema.enum.join(", "))}${meant === null ? "" : `; did you mean ${meant}?`}`;
  }
  if (text.length < minLength || text.length > maxLength) {
    return `must have ${minLength} to ${maxLength} characters, not ${text.length}`;
  }
  if (pattern !== undefined && !new RegExp(pattern, "u").test(text)) {
    return refuse(schema.description ?? `like ${pattern}`);
  }
  return null;
}

function insideOf(
  schema: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  path: string,
): SchemaMismatch | null {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: within(path, missing), message: "is missing" };
  return first(Object.entries(value), ([name, each]) => {
    const place = within(path, name);
    const rule = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof rule === "object") return mismatchOf(rule, each, place);
    return rule === false ? { path: place, message: unknownName(name, properties) } : null;
  });
}

/** The message for an unknown name, with the name that was probably meant. */
export function unknownName(name: string, known: object): string {
  const names = Object.keys(known);
  const meant = closest(name, names);
  return meant === null ? `is unknown; the known names are ${names.join(", ")}` : unknownBut(meant);
}

function unknownBut(meant: string): string {
  return `is unknown; did you mean ${meant}?`;
}

function itemOf(
  schema: JsonSchema,
  item: unknown,
  path: string,
  index: number,
): SchemaMismatch | null {
  return schema.items === undefined ? null : mismatchOf(schema.items, item, `${path}[${index}]`);
}

function hasType(schema: JsonSchema, value: unknown): boolean {
  return schema.type === undefined || typesOf(schema).some((type) => isOf(type, value));
}

function typesOf({ type = [] }: JsonSchema): readonly TypeName[] {
  return typeof type === "string" ? [type] : type;
}

function withArticle(type: TypeName): string {
  if (type === "null") return type;
  return `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;
}

function isOf(type: TypeName, value: unknown): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "null":
      return value === null;
    case "object":
      return isRecord(value);
    case "boolean":
    case "number":
    case "string":
      return typeof value === type;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function within(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function first<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => SchemaMismatch | null,
): SchemaMismatch | null {
  for (const [index, item] of items.entries()) {
    const mismatch = check(item, index);
    if (mismatch !== null) return mismatch;
  }
  return null;
}
