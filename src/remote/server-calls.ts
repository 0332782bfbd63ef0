/** Calls the HTTP API of a server, and turns its problems into errors of the library. */
import { CATALOGUE, MillraceError, type ErrorCode } from "../core/errors.ts";

/** A request that the server has not begun to answer after this time has failed. */
const ANSWER_MS_MAX = 90_000;

export interface ServerAddress {
  /** Such as `https://jobs.example.com`, or with the path under which the API is mounted. */
  readonly url: string;
  /** The secret of a token; null: none was given. */
  readonly token: string | null;
}

export interface ServerCall {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export class ServerCalls {
  readonly #address: ServerAddress;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** The JSON of an answer; undefined: the answer has none. */
  async json<Answer>(path: string, call: ServerCall = {}): Promise<Answer> {
    const response = await this.open(path, { ...call, signal: timed(call.signal) });
    const answer: any = response.status === 204 ? undefined : await response.json();
    return answer;
  }

  /** The answer itself, for streams. Rejects if the server refuses the call. */
  async open(
    path: string,
    { method = "GET", query = {}, body, signal }: ServerCall,
  ): Promise<Response> {
    const url = new URL(`${this.#address.url.replace(/\/+$/, "")}${path}`);
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    const { token } = this.#address;
    const headers = {
      accept: "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const response = await this.#fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      redirect: "error",
    });
    if (response.ok) return response;
    throw await errorOf(response);
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted === true && !isTimeOut(init.signal.reason)) throw error;
      throw new MillraceError("SERVER_UNREACHABLE", `the server at ${url.origin} does not answer`, {
        cause: error,
      });
    }
  }
}

function timed(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(ANSWER_MS_MAX);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
}

function isTimeOut(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}

/** The problem of an answer, under the code that the library would have used. */
async function errorOf(response: Response): Promise<MillraceError> {
  const problem: unknown = await response.json().catch(() => null);
  const { code, detail, hint } = fieldsOf(problem);
  const message = detail ?? `the server answered ${response.status}`;
  const known = Object.keys(CATALOGUE).find((each): each is ErrorCode => each === code);
  if (known !== undefined) return new MillraceError(known, message, hint === null ? {} : { hint });
  const isCredential = response.status === 401;
  return new MillraceError("SERVER_REFUSED", message, {
    details: { status: response.status, code },
    hint: isCredential ? "Set MILLRACE_TOKEN to a valid token." : (hint ?? "Read the message."),
  });
}

function fieldsOf(problem: unknown): Record<"code" | "detail" | "hint", string | null> {
  const of = (name: string): string | null => {
    if (typeof problem !== "object" || problem === null) return null;
    const value: unknown = Reflect.get(problem, name);
    return typeof value === "string" ? value : null;
  };
  return { code: of("code"), detail: of("detail"), hint: of("hint") };
}
