/** Errors as HTTP responses, in the form of RFC 9457. */
import { MillraceError } from "../core/errors.ts";

/** One wrong part of a request. */
export interface Mismatch {
  /** The path in the value, such as `options.tags.area`. */
  readonly path: string;
  readonly message: string;
}

/** The body of an error. `errors` lists the wrong parts of the request. */
interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
  readonly request_id: string;
  /** The job that holds the key of the request. */
  readonly holder?: string;
  readonly errors?: readonly Mismatch[];
}

/** The errors of requests, besides those of the library. */
const REFUSALS = {
  NOT_FOUND: { status: 404, hint: "Read /openapi.json for the list of paths." },
  METHOD_NOT_ALLOWED: { status: 405, hint: "Use a method that the Allow header names." },
  UNAUTHORIZED: {
    status: 401,
    hint: "Open the link that the server printed, or send a token as Authorization: Bearer.",
  },
  FORBIDDEN: { status: 403, hint: "Use a credential that the message allows." },
  CROSS_SITE: { status: 403, hint: "Send a token as Bearer instead of the cookie." },
  FOREIGN_HOST: { status: 421, hint: "Use the host that the server was started for." },
  BODY_TOO_LARGE: { status: 413, hint: "Store large data elsewhere and send a reference." },
  BODY_NOT_JSON: { status: 415, hint: "Send JSON, with Content-Type: application/json." },
  INPUT_INVALID: { status: 400, hint: "Correct the parts of the request that errors lists." },
  TOO_MANY_LOGINS: { status: 429, hint: "Wait as long as Retry-After says." },
  TOO_MANY_STREAMS: { status: 503, hint: "Close other streams, or wait as Retry-After says." },
  STOPPING: { status: 503, hint: "Send the request to another server, or later." },
  REQUEST_TIMED_OUT: { status: 504, hint: "Ask for less: a smaller page, or a narrower filter." },
  INTERNAL: { status: 500, hint: "Read the log of the server for the request id." },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** Thrown while a request is read. */
export class RequestRefusal extends Error {
  readonly code: RefusalCode;
  readonly errors: readonly Mismatch[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: RefusalCode,
    detail: string,
    errors: readonly Mismatch[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = errors;
    this.headers = headers;
  }
}

/** A refusal that names one part of the request. */
export function invalid(mismatch: Mismatch): RequestRefusal {
  return new RequestRefusal("INPUT_INVALID", `${mismatch.path} ${mismatch.message}`, [mismatch]);
}

/** The response for an error. Only refusals and MillraceErrors show their message. */
export function problem(error: unknown, requestId: string): Response {
  const body = { ...bodyOf(error), request_id: requestId };
  const headers = error instanceof RequestRefusal ? error.headers : headersOf(error);
  return Response.json(body, {
    status: body.status,
    headers: { ...headers, "content-type": "application/problem+json" },
  });
}

/** How long a producer should wait for an intake: no time is known at which it opens. */
const INTAKE_SECONDS = 60;

/** The same for waiting jobs of a tenant: some of them start at any time. */
const WAITING_SECONDS = 5;

function headersOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof MillraceError)) return {};
  if (error.code === "INTAKE_CLOSED") return { "retry-after": String(INTAKE_SECONDS) };
  if (error.code !== "QUOTA_EXCEEDED") return {};
  const { retryAfterMs } = error.details;
  const isKnown = typeof retryAfterMs === "number";
  return { "retry-after": String(isKnown ? Math.ceil(retryAfterMs / 1_000) : WAITING_SECONDS) };
}

/** The same as a part of a response about several jobs. */
export function bodyOf(error: unknown): Omit<Problem, "request_id"> {
  if (error instanceof RequestRefusal) {
    const { status, hint } = REFUSALS[error.code];
    return form(error.code, { status, hint, detail: error.message, errors: error.errors });
  }
  if (error instanceof MillraceError) {
    const { status, code, message, hint } = error;
    const body = form(code, { status, hint, detail: message, errors: placesIn(error) });
    return { ...body, ...holderOf(error) };
  }
  return bodyOf(new RequestRefusal("INTERNAL", "The server failed with an unexpected error."));
}

/** Other errors name as holder the job of the request, or one that does not exist. */
const HELD = new Set(["DEDUP_KEY_HELD", "IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_KEY_USED"]);

function holderOf({ code, details: { holder } }: MillraceError): { holder?: string } {
  return HELD.has(code) && typeof holder === "string" ? { holder } : {};
}

function form(
  code: string,
  {
    errors,
    ...rest
  }: Pick<Problem, "status" | "hint" | "detail"> & { errors: readonly Mismatch[] },
): Omit<Problem, "request_id"> {
  const words = code.toLowerCase().replaceAll("_", " ");
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  const type = `urn:millrace:error:${code}`;
  return { type, title, ...rest, code, ...(errors.length === 0 ? {} : { errors }) };
}

/** The wrong parts of a payload or option, from the details of a MillraceError. */
function placesIn({ details, message }: MillraceError): readonly Mismatch[] {
  const { issues, path, option, place } = details;
  if (Array.isArray(issues)) return issues.filter(isMismatch);
  const where = path ?? option ?? place;
  return typeof where === "string" && where !== "" ? [{ path: where, message }] : [];
}

function isMismatch(issue: unknown): issue is Mismatch {
  if (typeof issue !== "object" || issue === null) return false;
  return (
    "path" in issue &&
    typeof issue.path === "string" &&
    "message" in issue &&
    typeof issue.message === "string"
  );
}
