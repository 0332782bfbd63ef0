/** Calls the HTTP API of a server. */
import { wait } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { systemClock } from "../lib/system.ts";
import { refusalOf, unreachable, notMillrace } from "./server-errors.ts";

/** A request that the server has not begun to answer after this time has failed. */
const ANSWER_MS_MAX = 90_000;
/** How long a server that has answered before may be away: a restart takes seconds. */
const AWAY_MS_MAX = 15_000;
const AWAY_POLL_MS = 500;

export interface ServerAddress {
  /** Such as `https://jobs.example.com`, or with the path under which the API is mounted. */
  readonly url: string;
  /** The secret of a token; null: none was given. */
  readonly token: string | null;
}

export interface ServerCall {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal;
}

export class ServerCalls {
  readonly #address: ServerAddress;
  #hasAnswered = false;

  constructor(address: ServerAddress) {
    this.#address = address;
  }

  /** The JSON of an answer; undefined: the answer has none. */
  async json<Answer>(path: string, call: ServerCall = {}): Promise<Answer> {
    const { method = "GET" } = call;
    const since = systemClock.monotonic();
    for (;;) {
      try {
        return await this.#once<Answer>(path, call);
      } catch (error) {
        const isAway = error instanceof MillraceError && error.code === "SERVER_UNREACHABLE";
        // Only a read can be repeated: a change may have been made before the connection was lost.
        if (!isAway || method !== "GET" || !this.#hasAnswered) throw error;
        if (systemClock.monotonic() - since > AWAY_MS_MAX) throw error;
        await wait(systemClock, AWAY_POLL_MS);
        call.signal?.throwIfAborted();
      }
    }
  }

  /** The lines of an answer that is too long for memory, each with its line break. */
  async *lines(path: string, call: ServerCall = {}): AsyncGenerator<string> {
    const url = this.#urlOf(path, call);
    const response = await fetch(url, this.#init(call)).catch((error: unknown) => {
      throw unreachable(url, error);
    });
    if (!response.ok || response.body === null) {
      const answer = { url, method: "GET", response, text: await response.text() };
      throw response.ok ? notMillrace(answer) : refusalOf(answer, this.#address.token !== null);
    }
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const parts = `${rest}${chunk}`.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield `${part}\n`;
    }
  }

  async #once<Answer>(path: string, call: ServerCall): Promise<Answer> {
    const url = this.#urlOf(path, call);
    const limit = AbortSignal.timeout(ANSWER_MS_MAX);
    const signal = call.signal === undefined ? limit : AbortSignal.any([call.signal, limit]);
    try {
      const response = await fetch(url, { ...this.#init(call), signal });
      const text = await response.text();
      const answer = { url, method: call.method ?? "GET", response, text };
      if (!response.ok) throw refusalOf(answer, this.#address.token !== null);
      const value: any = text === "" ? undefined : jsonOf(text);
      // Every answer of Millrace has the id of its request.
      if (value === null || !response.headers.has("x-request-id")) throw notMillrace(answer);
      this.#hasAnswered = true;
      return value;
    } catch (error) {
      if (error instanceof MillraceError || call.signal?.aborted === true) throw error;
      throw unreachable(url, error);
    }
  }

  #urlOf(path: string, { query = {} }: ServerCall): URL {
    checkSegments(path);
    const url = new URL(`${this.#address.url.replace(/\/+$/, "")}${path}`);
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    return url;
  }

  #init({ method = "GET", body, idempotencyKey: key }: ServerCall): RequestInit {
    const { token } = this.#address;
    return {
      method,
      headers: {
        accept: "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { "idempotency-key": quoted(key) }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A redirect might lead to another host, which must not get the token.
      redirect: "manual",
    };
  }
}

/** A URL drops such segments of a path, and would name another route. */
function checkSegments(path: string): void {
  const [, ...segments] = path.split("?", 1).join("").split("/");
  const dropped = segments.find((segment) => ["", ".", ".."].includes(segment));
  if (dropped === undefined) return;
  const message = `the name ${JSON.stringify(dropped)} cannot be sent to a server`;
  throw new MillraceError("OPTION_INVALID", message);
}

/** A key may contain quotes. */
function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** The JSON of a text; null: the text is no JSON. No answer of Millrace is `null`. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
