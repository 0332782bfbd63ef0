/** Errors as HTTP answers, in the form of RFC 9457. */
import { MillraceError } from "../core/errors.ts";

/** An answer that says what went wrong. Only errors that are meant for callers show their words. */
export function problem(error: unknown): Response {
  if (error instanceof MillraceError) {
    const { status, code, message, hint } = error;
    return answer({ status, title: code, code, detail: message, hint });
  }
  return answer({ status: 500, title: "Something broke inside the server." });
}

export function notFound(path: string): Response {
  return answer({ status: 404, title: "There is nothing here.", detail: path });
}

/** A browser was tricked into asking us under somebody else's name. */
export function foreignHost(): Response {
  return answer({
    status: 421,
    title: "This server answers to its own address only.",
    detail: "Ask for it as localhost or 127.0.0.1.",
  });
}

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly code?: string;
  readonly hint?: string;
}

function answer(body: Problem): Response {
  return Response.json(body, {
    status: body.status,
    headers: { "content-type": "application/problem+json" },
  });
}
