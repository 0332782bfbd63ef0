/** Bodies and answers of the HTTP API. */
import { MillraceError } from "millrace";

const BODY_LETTERS_MAX = 10_000;

/** A request that is refused. */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { "cache-control": "no-store", ...headers } });
}

/** Errors of Millrace bring their status: 404 for a job that has expired or never was. */
export function problem(error: unknown): Response {
  if (error instanceof ApiError) return json(error.status, { error: error.message });
  if (!(error instanceof MillraceError)) throw error;
  return json(error.status, { error: error.message, code: error.code });
}

/** The JSON object of a request. */
export async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const text = await request.text();
  if (text.length > BODY_LETTERS_MAX) throw new ApiError(413, "the body is too large");
  const body = parsed(text);
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return { ...body };
  throw new ApiError(400, "the body must be a JSON object");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
