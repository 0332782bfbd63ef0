/** The server without a socket: a request in, a response out, on a real store in memory. */
import { fileURLToPath } from "node:url";
import type { Hono } from "hono";
import type { AppParts } from "../../../src/http/parts.ts";
import { createApp } from "../../../src/http/app.ts";
import { makeParts } from "../../../src/http/make-parts.ts";
import type { Millrace } from "../../../src/index.ts";
import { openMillrace } from "../../../src/open.ts";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import type { Verb } from "../../../src/store/verbs.ts";
import { wrapStore } from "../../../src/store/wrap-store.ts";

export const TOKEN = "a-token-for-tests-alone";
const HOST = "127.0.0.1:7333";
const ROLES = ["viewer", "operator", "manager", "admin"] as const;

/** Who asks: a client with the token, a signed-in browser, or a caller without a credential. */
type Caller = "bearer" | "cookie" | "anonymous";

export interface Question {
  readonly as?: Caller;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface TestServer extends AsyncDisposable {
  readonly app: Hono;
  readonly mill: Millrace;
  readonly links: AppParts["links"];
  readonly streams: AppParts["streams"];
  /** Errors that the server reported. */
  readonly failures: readonly unknown[];
  ask(path: string, question?: Question): Promise<Response>;
}

/** What a test chooses. */
type ServerParts = Partial<Omit<AppParts, "mill" | "identify">> & {
  readonly mill?: Millrace;
  readonly identify?: Partial<AppParts["identify"]>;
};

export async function openServer(parts: ServerParts = {}): Promise<TestServer> {
  const mill = parts.mill ?? (await openMillrace(makeSqliteStore({ path: ":memory:" })));
  const failures: unknown[] = [];
  const made = makeParts({
    mill,
    pageFolder: fileURLToPath(new URL("page", import.meta.url)),
    failed: (error) => failures.push(error),
    ...parts,
    identify: {
      origin: { publicUrl: null, hosts: "loopback" },
      ownerSecret: TOKEN,
      ...parts.identify,
    },
  });
  const app = createApp(made);
  const owner = { kind: "session", name: "test", roles: ROLES } as const;
  const { secret: session } = await mill.tokens.create(owner);
  return {
    app,
    mill,
    links: made.links,
    streams: made.streams,
    failures,
    ask: async (path, question = {}) =>
      app.request(`http://${HOST}${path}`, requestOf(question, session)),
    [Symbol.asyncDispose]: () => mill.close(),
  };
}

/** A mill on a real store, one verb of which fails. */
export async function failingMill(verb: Verb, error: Error): Promise<Millrace> {
  const store = makeSqliteStore({ path: ":memory:" });
  return openMillrace(
    wrapStore(store, (name) => (call) => (name === verb ? Promise.reject(error) : call())),
  );
}

/** The JSON of an answer, which the test says the form of. */
export async function jsonOf<Body>(response: Response): Promise<Body> {
  const body: any = await response.json();
  return body;
}

function requestOf(
  { as = "bearer", method, headers, json, body }: Question,
  session: string,
): RequestInit {
  const text = json === undefined ? body : JSON.stringify(json);
  return {
    method: method ?? (text === undefined ? "GET" : "POST"),
    headers: {
      host: HOST,
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      ...(as === "bearer" ? { authorization: `Bearer ${TOKEN}` } : {}),
      ...(as === "cookie" ? { cookie: `millrace-7333=${session}` } : {}),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  };
}
