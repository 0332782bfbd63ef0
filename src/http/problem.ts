/** Errors as HTTP responses, in the form of RFC 9457. */
import { MillraceError } from "../core/errors.ts";
import { isRecord, type SchemaMismatch } from "./schema.ts";

/** The body of an error. `errors` lists the wrong parts of the request. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
  readonly errors?: readonly SchemaMismatch[];
}

/** The errors of requests, besides those of the library. */
const REFUSALS = {
  NOT_FOUND: { status: 404, hint: "Read /openapi.json for the list of paths." },
  METHOD_NOT_ALLOWED: { status: 405, hint: "Use a method that the Allow header names." },
  UNAUTHORIZED: {
    status: 401,
    hint: "Open the URL that the server printed when it started, or send the token as Bearer.",
  },
  CROSS_SITE: { status: 403, hint: "Send the token as Bearer instead of the cookie." },
  FOREIGN_HOST: { status: 421, hint: "Use the host localhost or 127.0.0.1." },
  BODY_TOO_LARGE: { status: 413, hint: "Store large data elsewhere and send a reference." },
  BODY_NOT_JSON: { status: 415, hint: "Send JSON, with Content-Type: application/json." },
  INPUT_INVALID: { status: 400, hint: "Correct the parts of the request that errors lists." },
  INTERNAL: { status: 500, hint: "Read the log of the server." },
} as const;

type RefusalCode = keyof typeof REFUSALS;

/** Thrown while a request is read. */
export class RequestRefusal extends Error {
  readonly code: RefusalCode;
  readonly errors: readonly SchemaMismatch[];

  constructor(code: RefusalCode, detail: string, errors: readonly SchemaMismatch[] = []) {
    super(detail);
    this.code = code;
    this.errors = errors;
  }
}

/** A refusal that names one part of the request. */
export function invalid(mismatch: SchemaMismatch): RequestRefusal {
  return new RequestRefusal("INPUT_INVALID", `${mismatch.path} ${mismatch.message}`, [mismatch]);
}

/** The response for an error. Only refusals and MillraceErrors show their message. */
export function problem(error: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const body = bodyOf(error);
  return Response.json(body, {
    status: body.status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

function bodyOf(error: unknown): Problem {
  if (error instanceof RequestRefusal) {
    const { status, hint } = REFUSALS[error.code];
    return form(error.code, { status, hint, detail: error.message, errors: error.errors });
  }
  if (error instanceof MillraceError) {
    const { status, code, message, hint } = error;
    return form(code, { status, hint, detail: message, errors: placesIn(error) });
  }
  return bodyOf(new RequestRefusal("INTERNAL", "The server failed with an unexpected error."));
}

function form(
  code: string,
  {
    errors,
    ...rest
  }: Pick<Problem, "status" | "hint" | "detail"> & { errors: readonly SchemaMismatch[] },
): Problem {
  const words = code.toLowerCase().replaceAll("_", " ");
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const type = `urn:millrace:error:${code}`;
  return { type, title, ...rest, code, ...(errors.length === 0 ? {} : { errors }) };
}

/** The wrong parts of a payload or option, from the details of a MillraceError. */
function placesIn({ details, message }: MillraceError): readonly SchemaMismatch[] {
  const { issues, path, option, place } = details;
  if (Array.isArray(issues)) return issues.filter(isMismatch);
  const where = path ?? option ?? place;
  return typeof where === "string" && where !== "" ? [{ path: where, message }] : [];
}

function isMismatch(issue: unknown): issue is SchemaMismatch {
  if (!isRecord(issue)) return false;
  return typeof issue["path"] === "string" && typeof issue["message"] === "string";
}
