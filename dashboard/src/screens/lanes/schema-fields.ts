/**
 * The fields of a form, made from a JSON Schema. Pure: from a schema to fields, from what a person
 * typed to a payload. What the form cannot ask for becomes a field of JSON; a schema that is no
 * object has no form.
 */
import { jsonParts } from "../../lib/json-text.ts";

export type Scalar = "text" | "number" | "integer";

export interface FormField {
  /** The place in the payload: `customer.name`. */
  readonly path: string;
  readonly name: string;
  readonly kind: Scalar | "boolean" | "choice" | "moment" | "list" | "group" | "json";
  readonly isRequired: boolean;
  readonly hint: string;
  readonly first: string;
  /** Of a choice: the values, as JSON. */
  readonly options: readonly string[];
  /** Of a list. */
  readonly items: Scalar;
  /** Of a group. */
  readonly fields: readonly FormField[];
}

export type Values = Readonly<Record<string, string>>;
type Schema = Readonly<Record<string, unknown>>;

/** Objects in an object; what lies deeper is written as JSON. */
const DEPTH_MAX = 1;

/** The fields of a payload; null: the schema is missing, or is not of an object with properties. */
export function fieldsOf(schema: unknown): readonly FormField[] | null {
  if (!isSchema(schema) || !isPlainObject(schema)) return null;
  const fields = propertyFields(schema, "", 0);
  return fields.length === 0 ? null : fields;
}

/** What the fields hold before a person types. */
export function firstValues(fields: readonly FormField[]): Values {
  return Object.assign(
    {},
    ...fields.map((field) =>
      field.kind === "group" ? firstValues(field.fields) : { [field.path]: field.first },
    ),
  );
}

export interface Filled {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly problems: Readonly<Record<string, string>>;
}

/** The payload of what was typed. An empty field that is not required is left out. */
export function payloadOf(fields: readonly FormField[], values: Values): Filled {
  const payload: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const read = field.kind === "group" ? readGroup(field, values) : readField(field, values);
    Object.assign(problems, read.problems);
    if (read.value !== undefined) payload[field.name] = read.value;
  }
  return { payload, problems };
}

/** The messages of the server by field. Paths come as `payload.to` or `payload.items[0].to`. */
export function problemsOf(
  errors: readonly { readonly path: string; readonly message: string }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(errors.map(({ path, message }) => [fieldPath(path), message]));
}

function fieldPath(path: string): string {
  return path
    .replaceAll(/\[["']?(.*?)["']?\]/g, ".$1")
    .replaceAll("/", ".")
    .replace(/^\.?payload\./, "")
    .replace(/\.\d+(\..*)?$/, "");
}

export type Checked = { readonly value: unknown } | { readonly problem: string };

/** Reads JSON that a person typed. A number that would lose digits on its way is refused. */
export function checkJson(text: string): Checked {
  if (text.trim() === "") return { value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    const lost = jsonParts(text).find((part) => part.kind === "number" && isLost(part.text));
    if (lost === undefined) return { value };
    return { problem: `${lost.text} ${LOSES_DIGITS}` };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : "This is no JSON." };
  }
}

const LOSES_DIGITS = "loses digits when JavaScript reads it: write it as a text.";
/** The most that `toPrecision` takes. */
const DIGITS_MAX = 100;

/** Whether the number that is read has other digits than the text. */
function isLost(text: string): boolean {
  const value = Number(text);
  const digits = digitsOf(text);
  if (!Number.isFinite(value) || digits.length > DIGITS_MAX) return true;
  return digits !== "" && digits !== digitsOf(value.toPrecision(digits.length));
}

/** The digits that count: without sign, point, exponent and zeros at the ends. */
function digitsOf(text: string): string {
  const [mantissa = ""] = text.toLowerCase().replace(/^[+-]/, "").split("e");
  return mantissa.replace(".", "").replace(/^0+/, "").replace(/0+$/, "");
}

function readGroup(
  field: FormField,
  values: Values,
): { value: unknown; problems: Filled["problems"] } {
  const { payload, problems } = payloadOf(field.fields, values);
  const isTyped = field.fields.some(({ path }) => (values[path] ?? "").trim() !== "");
  // The required fields of a group that is left out are not asked for.
  if (!isTyped && !field.isRequired) return { value: undefined, problems: {} };
  return { value: payload, problems };
}

function readField(
  field: FormField,
  values: Values,
): { value: unknown; problems: Filled["problems"] } {
  const text = values[field.path] ?? "";
  const wrong = (message: string) => ({ value: undefined, problems: { [field.path]: message } });
  if (text.trim() === "") {
    if (!field.isRequired) return { value: undefined, problems: {} };
    return field.kind === "text" ? { value: text, problems: {} } : wrong("This is required.");
  }
  const read = valueOf(field, text);
  return "problem" in read ? wrong(read.problem) : { value: read.value, problems: {} };
}

function valueOf(field: FormField, text: string): Checked {
  switch (field.kind) {
    case "text":
      return { value: text };
    case "number":
    case "integer":
      return scalarOf(field.kind, text);
    case "moment":
      return momentOf(text);
    case "list":
      return listOf(field.items, text);
    case "boolean":
    case "choice":
    case "json":
    case "group":
      return checkJson(text);
  }
}

function scalarOf(kind: Scalar, text: string): Checked {
  if (kind === "text") return { value: text };
  const value = Number(text.trim());
  if (Number.isNaN(value) || text.trim() === "") return { problem: `"${text}" is no number.` };
  if (kind === "integer" && !Number.isInteger(value)) return { problem: "Give a whole number." };
  if (isLost(text.trim())) return { problem: `${text.trim()} ${LOSES_DIGITS}` };
  return { value };
}

/** A field of the browser has no zone: the time is meant in the zone of the person. */
function momentOf(text: string): Checked {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return { problem: `"${text}" is no date and time.` };
  return { value: new Date(ms).toISOString() };
}

function listOf(items: Scalar, text: string): Checked {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map((line) => scalarOf(items, line));
  const problem = values.find((each) => "problem" in each);
  if (problem !== undefined) return problem;
  return { value: values.map((each) => ("value" in each ? each.value : null)) };
}

function propertyFields(schema: Schema, prefix: string, depth: number): readonly FormField[] {
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).map(([name, given]) =>
    fieldOf(name, isSchema(given) ? given : {}, {
      prefix,
      depth,
      isRequired: required.includes(name),
    }),
  );
}

interface Position {
  readonly prefix: string;
  readonly depth: number;
  readonly isRequired: boolean;
}

function fieldOf(name: string, schema: Schema, { prefix, depth, isRequired }: Position): FormField {
  const path = prefix + name;
  const kind = kindOf(schema, depth);
  const given = schema["default"];
  return {
    path,
    name,
    kind,
    isRequired,
    hint: typeof schema["description"] === "string" ? schema["description"] : "",
    first: given === undefined ? "" : typedText(given, kind),
    options: optionsOf(schema, kind),
    items: itemsOf(schema),
    fields: kind === "group" ? propertyFields(schema, `${path}.`, depth + 1) : [],
  };
}

/** A default as a person would have typed it. */
function typedText(value: unknown, kind: FormField["kind"]): string {
  if (typeof value === "string" && (kind === "text" || kind === "moment")) return value;
  if (kind === "list" && Array.isArray(value)) return value.map(String).join("\n");
  return JSON.stringify(value);
}

function optionsOf(schema: Schema, kind: FormField["kind"]): readonly string[] {
  if (kind === "boolean") return ["true", "false"];
  if (kind !== "choice") return [];
  const values: readonly unknown[] = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  return values.map((value) => JSON.stringify(value));
}

function kindOf(schema: Schema, depth: number): FormField["kind"] {
  if (hasBranches(schema)) return "json";
  if (Array.isArray(schema["enum"])) return "choice";
  switch (schema["type"]) {
    case "string":
      return schema["format"] === "date-time" ? "moment" : "text";
    case "number":
    case "integer":
    case "boolean":
      return schema["type"];
    case "array":
      return scalarKind(schema["items"]) === null ? "json" : "list";
    case "object":
      return depth < DEPTH_MAX && isPlainObject(schema) ? "group" : "json";
    default:
      return "json";
  }
}

function itemsOf(schema: Schema): Scalar {
  return scalarKind(schema["items"]) ?? "text";
}

function scalarKind(schema: unknown): Scalar | null {
  if (!isSchema(schema) || hasBranches(schema) || Array.isArray(schema["enum"])) return null;
  if (schema["type"] === "string") return "text";
  return schema["type"] === "number" || schema["type"] === "integer" ? schema["type"] : null;
}

function isPlainObject(schema: Schema): boolean {
  const properties = schema["properties"];
  return (
    schema["type"] === "object" &&
    !hasBranches(schema) &&
    isSchema(properties) &&
    Object.keys(properties).length > 0
  );
}

/** The form cannot tell which branch a person means. */
function hasBranches(schema: Schema): boolean {
  return ["oneOf", "anyOf", "allOf", "not", "if", "$ref", "const"].some((word) =>
    Object.hasOwn(schema, word),
  );
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
