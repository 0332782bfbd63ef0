/** Reads the query and the body of a request, and checks them. */
import { z } from "@hono/zod-openapi";
import { storable } from "../core/text.ts";
import { duplicateKey } from "../lib/duplicate-key.ts";
import { readExactly } from "../lib/exact-json.ts";
import { invalid, RequestRefusal } from "./problem.ts";
import { checked, NAME_LENGTH_MAX, unknownName, unwrapped } from "./validation.ts";

/** Throws for bytes that are not UTF-8, instead of replacing them. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** The size of the largest payload, with room for escaped characters. */
const BODY_BYTES_MAX = 2_000_000;
/** No schema is deeper, apart from payloads. */
const DEPTH_MAX = 20;

export function readQuery(schema: z.ZodObject | undefined, given: URLSearchParams): unknown {
  const shape = schema?.shape ?? {};
  const query: Record<string, unknown> = {};
  for (const name of new Set(given.keys())) {
    if (!Object.hasOwn(shape, name)) {
      const path = storable(name, NAME_LENGTH_MAX);
      throw invalid({ path, message: unknownName(name, Object.keys(shape)) });
    }
    query[name] = valueOf(unwrapped(shape[name]), name, given.getAll(name));
  }
  return schema === undefined ? query : checked(schema, query, "");
}

/** The value of a query parameter. The schema says which parameters are lists or numbers. */
function valueOf(schema: z.core.$ZodType, name: string, texts: readonly string[]): unknown {
  if (schema instanceof z.ZodArray) return texts;
  const [text = "", ...more] = texts;
  if (more.length > 0) throw invalid({ path: name, message: "may be given only once" });
  if (schema instanceof z.ZodNumber && /^\d{1,15}$/.test(text)) return Number(text);
  if (schema instanceof z.ZodBoolean && (text === "true" || text === "false")) {
    return text === "true";
  }
  return text;
}

export interface BodyRules {
  /** By default enough for a job with the largest payload. */
  readonly bytesMax?: number | undefined;
  /** Numbers that JavaScript cannot hold are read as `JSON.rawJSON`. */
  readonly keepsDigits?: boolean | undefined;
}

/** A route whose fields are all optional takes a request without a body as well. */
export async function readBody(
  schema: z.ZodType,
  request: Request,
  { bytesMax = BODY_BYTES_MAX, keepsDigits = false }: BodyRules = {},
): Promise<unknown> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    const detail = "The body is compressed, and the server reads only plain JSON.";
    throw new RequestRefusal("BODY_NOT_JSON", detail);
  }
  const bytes = await readBytes(request, bytesMax);
  if (bytes.byteLength === 0 && schema.safeParse({}).success) return checked(schema, {}, "");
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    const given = type ?? "none";
    throw new RequestRefusal(
      "BODY_NOT_JSON",
      `The body has the type ${given}, not application/json.`,
    );
  }
  return checked(schema, parsed(bytes, keepsDigits ? readExactly : JSON.parse), "");
}

/** Reads no more than the limit, regardless of the headers. */
async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(request)) {
    size += chunk.byteLength;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A connection that breaks off is a fault of the caller, and none of the server. */
async function* chunksOf({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    yield* body;
  } catch {
    throw invalid({ path: "the body", message: "was cut off" });
  }
}

function tooLarge(bytesMax: number): RequestRefusal {
  return new RequestRefusal("BODY_TOO_LARGE", `The body has more than ${bytesMax} bytes.`);
}

type Reader = (text: string) => unknown;

function parsed(bytes: Uint8Array, reader: Reader): unknown {
  const { text, value } = read(bytes, reader);
  const path = duplicateKey(text);
  if (path !== null) throw invalid({ path, message: "is given twice" });
  const lost = prototypeKey(value, "");
  if (lost !== null) throw invalid({ path: lost, message: "is not a name that can be stored" });
  return value;
}

/** Schemas drop `__proto__` without a word. Payloads are checked where they are encoded. */
function prototypeKey(value: unknown, place: string, depth = 0): string | null {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return null;
  for (const [key, each] of Object.entries(value)) {
    const path = place === "" ? key : `${place}.${key}`;
    if (key === "__proto__") return path;
    const found = key === "payload" ? null : prototypeKey(each, path, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function read(
  bytes: Uint8Array,
  reader: Reader,
): { readonly text: string; readonly value: unknown } {
  try {
    const text = UTF8.decode(bytes);
    return { text, value: reader(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    throw invalid({ path: "the body", message: `is not JSON: ${reason}` });
  }
}
