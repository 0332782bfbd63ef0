/**
 * A route as a value: who may call it, the schemas of its request and answers, and its handler. The
 * app, its OpenAPI document and its access control are all made from the list of routes.
 */
import type { z } from "@hono/zod-openapi";
import type { Access, Identity } from "./identity/identity.ts";
import type { HttpMill } from "./parts.ts";
import { readBody, readQuery } from "./request-parts.ts";
import { checked } from "./validation.ts";

type Fields = z.ZodObject;
type FieldsOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<string, never>;

export interface Answer {
  readonly description: string;
  /** Without a schema the answer has no body. */
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly type?: string;
}

/** What a route declares. */
export interface RouteForm {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** In the form of OpenAPI: `/api/v1/jobs/{id}`. */
  readonly path: string;
  /** The name of the call in generated clients. */
  readonly name: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: Fields;
  readonly query?: Fields;
  readonly headers?: Fields;
  readonly body?: z.ZodType;
  /** The largest body; by default enough for a job with the largest payload. */
  readonly bodyBytesMax?: number;
  /** Numbers of the body that JavaScript cannot hold keep their digits, for payloads. */
  readonly keepsDigits?: boolean;
  /** The answers by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** The statuses of its own errors, besides those that follow from the form of the route. */
  readonly problems: readonly number[];
  /** A route that is no GET, and is served by a server that only reads. */
  readonly changesNothing?: true;
  /** The route answers when something happens, and waits for that at most so long. */
  readonly waitsMsMax?: number;
}

/** A request after its check against the schemas of the route. */
export interface RouteRequest<Params, Query, Headers, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly identity: Identity;
  /** Whether the credential still counts, for answers that go on for long. */
  readonly isStillValid: () => Promise<boolean>;
  /** The jobs that the caller reaches: those of the tenant of its credential, or all. */
  readonly mill: HttpMill;
  readonly request: Request;
  readonly url: URL;
  /** The path under which the API is mounted; empty for the root. */
  readonly base: string;
  /** Aborts when the caller has closed the connection, or the server stops. */
  readonly signal: AbortSignal;
}

/** A declared route, and its handler for a raw request. */
export interface Route extends RouteForm {
  readonly answer: (call: Call) => Promise<Response>;
}

/** A request that was routed, and whose caller is known. */
export interface Call {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly identity: Identity;
  readonly isStillValid: () => Promise<boolean>;
  readonly mill: HttpMill;
  readonly base: string;
  readonly signal: AbortSignal;
}

/** Declares a route. The schemas give the types of what `answer` gets. */
export function route<
  Params extends Fields | undefined = undefined,
  Query extends Fields | undefined = undefined,
  Headers extends Fields | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>(
  form: RouteForm & {
    readonly params?: Params;
    readonly query?: Query;
    readonly headers?: Headers;
    readonly body?: Body;
  },
  answer: (
    request: RouteRequest<FieldsOf<Params>, FieldsOf<Query>, FieldsOf<Headers>, FieldsOf<Body>>,
  ) => Promise<Response>,
): Route {
  return {
    ...form,
    answer: async ({ request, params, ...rest }) => {
      const url = new URL(request.url);
      const read: any = {
        ...rest,
        request,
        url,
        params: form.params === undefined ? {} : checked(form.params, params, ""),
        query: readQuery(form.query, url.searchParams),
        headers: form.headers === undefined ? {} : checked(form.headers, headersOf(request), ""),
        body:
          form.body === undefined
            ? undefined
            : await readBody(form.body, request, {
                bytesMax: form.bodyBytesMax,
                keepsDigits: form.keepsDigits,
              }),
      };
      return answer(read);
    },
  };
}

/** Header names are in lower case, in the schemas as well. */
function headersOf({ headers }: Request): Record<string, string> {
  return Object.fromEntries(headers.entries());
}
