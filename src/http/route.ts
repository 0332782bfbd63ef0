/**
 * A route as a value: how it is asked, what it answers, and the function between the two. The app
 * is made of a list of them, and so is its OpenAPI document.
 */
import type { Context } from "hono";
import { isRecord, mismatchOf, unknownName, type Schema } from "./schema.ts";
import { invalid, Refusal } from "./problem.ts";

/** Refuses what is not UTF-8, instead of storing something else than was sent. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

export interface Route {
  readonly method: "get" | "post";
  /** As OpenAPI writes it: `/api/v1/jobs/{id}`. */
  readonly path: string;
  /** The name that generated clients give to the call. */
  readonly name: string;
  readonly summary: string;
  /** What may stand in the path, the query and the headers. */
  readonly inPath?: Readonly<Record<string, Schema>>;
  readonly inQuery?: Readonly<Record<string, Schema>>;
  readonly inHeaders?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  /** By status. Problems need not be told apart. */
  readonly answers: Readonly<Record<number, { description: string; schema: Schema }>>;
  readonly problems: readonly number[];
  answer(asked: Asked): Promise<Response>;
}

/** A request after its form was checked. */
export interface Asked {
  readonly inPath: Readonly<Record<string, string>>;
  readonly inQuery: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  readonly url: URL;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Reads a request as its route wants it, or refuses it and names the place. */
export async function askedOf(route: Route, context: Context): Promise<Asked> {
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
  known: Readonly<Record<string, Schema>>,
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

/** A query knows texts alone; the schema says which of them are lists and numbers. */
function valueOf(schema: Schema, name: string, texts: readonly string[]): unknown {
  if (schema.type === "array") return texts;
  const [text = "", ...more] = texts;
  if (more.length > 0) throw invalid({ path: name, message: "may be given only once" });
  return schema.type === "integer" && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

async function bodyOf(schema: Schema, context: Context): Promise<Asked["body"]> {
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new Refusal("BODY_NOT_JSON", `The body is ${type ?? "of no type"}, not JSON.`);
  }
  const body = await parsed(context);
  const mismatch = mismatchOf(schema, body, "");
  if (mismatch !== null) throw invalid({ ...mismatch, path: mismatch.path || "the body" });
  return isRecord(body) ? body : {};
}

async function parsed(context: Context): Promise<unknown> {
  const bytes = await context.req.arrayBuffer();
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    throw invalid({ path: "the body", message: `is not JSON: ${reason}` });
  }
}
