/**
 * A route as a value: the schemas of its request and responses, and its handler. The app and its
 * OpenAPI document are both made from the list of routes.
 */
import type { Context } from "hono";
import { duplicateKey } from "../lib/duplicate-key.ts";
import { isRecord, mismatchOf, unknownName, type JsonSchema } from "./schema.ts";
import { invalid, RequestRefusal } from "./problem.ts";

/** Throws for bytes that are not UTF-8, instead of replacing them. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

export interface Route {
  readonly method: "get" | "post";
  /** In the form of OpenAPI: `/api/v1/jobs/{id}`. */
  readonly path: string;
  /** The name of the call in generated clients. */
  readonly name: string;
  readonly summary: string;
  /** The parameters in the path, the query and the headers. */
  readonly inPath?: Readonly<Record<string, JsonSchema>>;
  readonly inQuery?: Readonly<Record<string, JsonSchema>>;
  readonly inHeaders?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** The responses by status. `problems` lists the statuses of errors. */
  readonly answers: Readonly<Record<number, { description: string; schema: JsonSchema }>>;
  readonly problems: readonly number[];
  answer(request: RouteRequest): Promise<Response>;
}

/** A request after its check against the schemas of the route. */
export interface RouteRequest {
  readonly inPath: Readonly<Record<string, string>>;
  readonly inQuery: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly url: URL;
  /** Aborts when the caller has closed the connection. */
  readonly signal: AbortSignal;
}

/** Reads and checks a request, or throws a refusal that names the wrong part. */
export async function readRequest(route: Route, context: Context): Promise<RouteRequest> {
  const url = new URL(context.req.url);
  return {
    inPath: context.req.param(),
    inQuery: queryOf(route.inQuery ?? {}, url.searchParams),
    headers: context.req.raw.headers,
    body: route.body === undefined ? {} : await bodyOf(route.body, context),
    url,
    signal: context.req.raw.signal,
  };
}

function queryOf(
  known: Readonly<Record<string, JsonSchema>>,
  given: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const query: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    if (schema === undefined) throw invalid({ path: name, message: unknownName(name, known) });
    const value = valueOf(schema, name, given.getAll(name));
    const mismatch = mismatchOf(schema, value, name);
    if (mismatch !== null) throw invalid(mismatch);
    query[name] = value;
  }
  return query;
}

/** The value of a query parameter. The schema says which parameters are lists or numbers. */
function valueOf(schema: JsonSchema, name: string, texts: readonly string[]): unknown {
  if (schema.type === "array") return texts;
  const [text = "", ...more] = texts;
  if (more.length > 0) throw invalid({ path: name, message: "may be given only once" });
  return schema.type === "integer" && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

async function bodyOf(schema: JsonSchema, context: Context): Promise<RouteRequest["body"]> {
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new RequestRefusal(
      "BODY_NOT_JSON",
      `The body has the type ${type ?? "none"}, not application/json.`,
    );
  }
  const body = await parsed(context);
  const mismatch = mismatchOf(schema, body, "");
  if (mismatch !== null) throw invalid({ ...mismatch, path: mismatch.path || "the body" });
  return isRecord(body) ? body : {};
}

async function parsed(context: Context): Promise<unknown> {
  const bytes = await context.req.arrayBuffer();
  const { text, value } = read(bytes);
  const path = duplicateKey(text);
  if (path !== null) throw invalid({ path, message: "is given twice" });
  return value;
}

function read(bytes: ArrayBuffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = UTF8.decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    throw invalid({ path: "the body", message: `is not JSON: ${reason}` });
  }
}
