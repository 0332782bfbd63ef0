/** Bodies and answers of the admin API. */
import { MillraceError } from "millrace";

const BODY_LETTERS_MAX = 10_000;

/** A request that is refused. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function json(body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { headers: { "cache-control": "no-store", ...headers } });
}

/** Errors of Millrace bring their status, such as 404 for a job of another firm. */
export function refused(error: unknown): Response {
  const isKnown = error instanceof Refusal || error instanceof MillraceError;
  if (!isKnown) throw error;
  const { status, message } = error;
  const headers = { "cache-control": "no-store" };
  if (status !== 401) return Response.json({ detail: message }, { status, headers });
  const challenge = { ...headers, "www-authenticate": "Bearer" };
  return Response.json({ detail: message }, { status, headers: challenge });
}

/** The notes of a reviewer, who may send none. */
export async function notesOf(request: Request): Promise<{ notes?: string }> {
  const text = await request.text();
  if (text.length > BODY_LETTERS_MAX) throw new Refusal(413, "the body is too large");
  if (text === "") return {};
  const body = parsed(text);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refusal(400, "the body must be a JSON object");
  }
  const { notes, ...rest } = { notes: undefined, ...body };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new Refusal(400, `the body has the unknown field ${unknown}`);
  if (notes === undefined) return {};
  if (typeof notes !== "string") throw new Refusal(400, "notes must be a text");
  return { notes };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
