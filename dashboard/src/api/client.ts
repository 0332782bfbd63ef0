/**
 * Calls of the HTTP API, typed by the schemas of its routes. Addresses are relative to the page, so
 * that the page works under any path.
 */
import { signal } from "@preact/signals";
import { PLACES, type Operations, type Problem } from "./operations.gen.ts";

export type Name = keyof Operations;
export type AnswerOf<Of extends Name> = Operations[Of]["answer"];

type Without<Value> = keyof Value extends never ? { readonly [name: string]: never } : Value;

export interface CallOptions<Of extends Name> {
  readonly params?: Without<Operations[Of]["params"]>;
  readonly query?: Operations[Of]["query"];
  readonly body?: Operations[Of]["body"];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The body as JSON text, in place of `body`: numbers in it keep all their digits. */
  readonly bodyText?: string;
}

/** The server has refused a call, or could not be reached (`status` 0). */
export class ApiProblem extends Error {
  readonly status: number;
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.title ?? `The server answered with status ${status}.`);
    this.status = status;
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code ?? (this.status === 0 ? "NOT_REACHED" : `HTTP_${this.status}`);
  }
}

/** Becomes true when the server no longer knows the caller, and false at the next sign-in. */
export const isSignedOut = signal(false);

/** Makes a call. Throws {@link ApiProblem}. */
export async function call<Of extends Name>(
  name: Of,
  options: CallOptions<Of> = {},
): Promise<AnswerOf<Of>> {
  const { method, path } = PLACES[name];
  const url = addressOf(path, options.params ?? {}, options.query ?? {});
  const { body, headers = {}, signal: abort } = options;
  const text = options.bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await send(url, {
    method,
    headers: text === undefined ? headers : { "content-type": "application/json", ...headers },
    ...(text === undefined ? {} : { body: text }),
    ...(abort === undefined ? {} : { signal: abort }),
  });
  if (!response.ok) throw await problemOf(response);
  if (response.status === 204 || response.status === 304) return undefined;
  return response.json();
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiProblem(0, { title: "The server does not answer." });
  }
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const problem: Partial<Problem> = await response.json().catch(() => ({}));
  if (response.status === 401) isSignedOut.value = true;
  return new ApiProblem(response.status, problem);
}

/** The address of a call, such as for a link or a stream. */
export function addressOf(path: string, params: object, query: object): URL {
  const fields = new Map(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(fields.get(name) ?? ""),
  );
  const url = new URL(filled.slice(1), document.baseURI.replace(/[?#].*$/, ""));
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, String(each));
    }
  }
  return url;
}
