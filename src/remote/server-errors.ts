/** What a server refuses, as errors of the library, and what is no server at all. */
import { CATALOGUE, MillraceError, type ErrorCode } from "../core/errors.ts";
import { shownUrl } from "../lib/url-password.ts";

/** The types of the problems that Millrace answers begin so. */
const PROBLEM_TYPE = "urn:millrace:error:";
/** A proxy answers so when it does not reach the server behind it. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

export interface ServerAnswer {
  readonly url: URL;
  readonly method: string;
  readonly response: Response;
  readonly text: string;
}

/** The error of an answer that is none of the expected ones. */
export function refusalOf(answer: ServerAnswer, hasToken: boolean): MillraceError {
  const { url, method, response } = answer;
  const { type, code, detail, hint, request_id: request } = problemOf(answer.text);
  if (type === null || !type.startsWith(PROBLEM_TYPE)) return strange(answer);
  const message = detail ?? `the server answered ${response.status}`;
  const known = Object.keys(CATALOGUE).find((each): each is ErrorCode => each === code);
  if (known !== undefined) return new MillraceError(known, message, hint === null ? {} : { hint });
  switch (code) {
    case "UNAUTHORIZED":
      return unauthorized(url, hasToken);
    case "INPUT_INVALID":
      return new MillraceError("OPTION_INVALID", message, { hint: "Correct the named value." });
    case "NOT_FOUND":
    case "METHOD_NOT_ALLOWED":
      return refused(`the server at ${url.origin} does not know ${method} ${url.pathname}`, {
        hint: "The server has another version of Millrace; use the same one here and there.",
      });
    case "INTERNAL":
      return refused(`the server at ${url.origin} failed: request ${request}`, {
        hint: "Read the log of the server for the id of the request.",
      });
    case null:
    default:
      return refused(message, { hint: hint ?? CATALOGUE.SERVER_REFUSED.hint });
  }
}

export function unreachable(url: URL, cause: unknown): MillraceError {
  const message = `the server at ${url.origin} does not answer`;
  return new MillraceError("SERVER_UNREACHABLE", message, { cause });
}

/** The error of an answer that Millrace would not give. */
export function notMillrace({ url, method, response }: ServerAnswer): MillraceError {
  return new MillraceError(
    "SERVER_UNREACHABLE",
    `there is no Millrace server at ${url.origin}: ${method} ${url.pathname} was answered with ` +
      `${response.status} ${response.headers.get("content-type") ?? "without a body"}`,
  );
}

/** A proxy without its server, a redirect, or another program. */
function strange(answer: ServerAnswer): MillraceError {
  const { url, response } = answer;
  if (GATEWAY_STATUSES.has(response.status)) {
    const message = `a proxy at ${url.origin} does not reach the server: ${response.status}`;
    return new MillraceError("SERVER_UNREACHABLE", message);
  }
  const location = response.headers.get("location");
  if (location === null || !URL.canParse(location, url.href)) return notMillrace(answer);
  const { origin } = new URL(location, url);
  const message = `${url.origin} redirects to ${shownUrl(origin)}, which gets no token`;
  return new MillraceError("SERVER_UNREACHABLE", message, {
    hint: "Name the address of the server itself in --server or MILLRACE_SERVER.",
  });
}

function unauthorized(url: URL, hasToken: boolean): MillraceError {
  const message = hasToken
    ? `the server at ${url.origin} refuses the token in MILLRACE_TOKEN: it is unknown, expired ` +
      "or revoked"
    : `the server at ${url.origin} wants a token, and MILLRACE_TOKEN is not set`;
  return refused(message, {
    hint: "Create a token where the database is: millrace token create NAME --role operator",
  });
}

function refused(message: string, options: { readonly hint: string }): MillraceError {
  return new MillraceError("SERVER_REFUSED", message, options);
}

type Field = "type" | "code" | "detail" | "hint" | "request_id";

function problemOf(text: string): Record<Field, string | null> {
  const problem = objectOf(text);
  const of = (name: Field): string | null => {
    const value: unknown = Reflect.get(problem, name);
    return typeof value === "string" ? value : null;
  };
  return {
    type: of("type"),
    code: of("code"),
    detail: of("detail"),
    hint: of("hint"),
    request_id: of("request_id"),
  };
}

function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
