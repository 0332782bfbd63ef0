/** `createHandler`: the HTTP API as a `fetch` function that any framework can mount. */
import type { Millrace } from "../api/client.ts";
import type { Logger } from "../api/context.ts";
import type { AnyContract } from "../api/definition.ts";
import { aFunction, anObject, listOf, must, type Rule } from "../api/rules.ts";
import { someLinks } from "../jobs/links-rule.ts";
import { insistOn } from "../jobs/check-text.ts";
import { stderrLogger } from "../lib/stderr-logger.ts";
import { systemClock } from "../lib/system.ts";
import { createApp } from "./app.ts";
import type { Authenticate } from "./identity/identify.ts";
import { makeParts } from "./make-parts.ts";
import { pageFolder } from "./page/page-folder.ts";
import { redactionRules } from "../core/redaction.ts";

export interface HandlerOptions {
  readonly mill: Millrace;
  /** The path under which the handler is mounted, such as `/jobs`. Default: the root. */
  readonly basePath?: string;
  /**
   * The user of a request, by the login of the application; `null` if there is none. Requests with
   * a token of `mill.tokens` need no such user.
   */
  readonly authenticate?: Authenticate;
  /**
   * The address under which browsers reach the application, such as `https://app.example.com`.
   * Requests for other hosts are refused, and cookies are sent over TLS only.
   */
  readonly publicUrl?: string;
  /** The jobs whose payloads are checked and whose settings apply. Other types are accepted too. */
  readonly jobs?: readonly AnyContract[];
  /** More fields whose values only managers read, such as `iban` or `card.number`. */
  readonly redact?: readonly string[];
  /** Also serve the dashboard, at the path of the handler. Default: the API alone. */
  readonly dashboard?: boolean;
  /**
   * Links from a job to other systems, by name: at most 20 URLs with placeholders, such as
   * `{ trace: "https://trace.example/{correlation_id}" }`. The dashboard shows them. Placeholders
   * are `{id}`, `{type}`, `{tenant}`, `{correlation_id}`, `{parent_id}`, `{tags.NAME}` and
   * `{payload.PATH}`.
   */
  readonly links?: Readonly<Record<string, string>>;
  /** Where unexpected errors go. Default: the standard error output. */
  readonly logger?: Logger;
}

const aText = must((value) => typeof value === "string" && value !== "", "a text");
const BASE_PATH = must(
  (value) => typeof value === "string" && /^(\/[\w.~-]+)*$/.test(value),
  "a path such as /jobs, without a slash at its end",
);
const PUBLIC_URL = must(isPublicUrl, "a URL such as https://app.example.com, without a path");

const OPTIONS: Rule = anObject(
  {
    required: { mill: must((value) => typeof value === "object" && value !== null, "a mill") },
    optional: {
      basePath: BASE_PATH,
      authenticate: aFunction,
      publicUrl: PUBLIC_URL,
      jobs: must(Array.isArray, "a list of jobs"),
      redact: listOf(aText),
      dashboard: must((value) => typeof value === "boolean", "true or false"),
      links: someLinks,
      logger: must((value) => typeof value === "object" && value !== null, "a logger"),
    },
  },
  "an object such as { mill }",
);

/**
 * Makes the HTTP API of a mill, as a function from `Request` to `Response`. Hono, Bun, Deno and
 * Next.js call it as it is; `toNodeHandler` makes it a listener of `node:http`, Express or Fastify.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHandler } from "millrace/http";
 * import { createTestMill } from "millrace/testing";
 *
 * await using test = await createTestMill();
 * const { mill } = test;
 * const handler = createHandler({ mill, basePath: "/jobs" });
 *
 * const { secret } = await mill.tokens.create({ kind: "person", name: "Ada", roles: ["viewer"] });
 * const headers = { authorization: `Bearer ${secret}` };
 * const request = new Request("http://localhost/jobs/api/v1/jobs", { headers });
 * assert.equal((await handler(request)).status, 200);
 * ```
 */
export function createHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  insistOn("createHandler", OPTIONS, options, "");
  const { mill, basePath: base = "", jobs = [], redact = [], links = {} } = options;
  const { dashboard: hasPage = false } = options;
  const logger = options.logger ?? stderrLogger("warn", () => systemClock.now());
  const origin = {
    publicUrl: options.publicUrl === undefined ? null : new URL(options.publicUrl),
    hosts: "any",
  } as const;
  const app = createApp(
    makeParts({
      mill,
      contracts: () => jobs,
      identify: { origin, authenticate: options.authenticate ?? null },
      redaction: redactionRules(redact),
      linkTemplates: { ...links },
      base,
      pageFolder: hasPage ? pageFolder() : null,
      failed: (error, requestId) => logger.error("a request failed", { error, requestId }),
    }),
  );
  return async (request) => {
    // The addresses of the page are relative: they need the slash at the end of its own.
    if (hasPage && isBareBase(request, base)) {
      return new Response(null, { status: 308, headers: { location: `${base}/` } });
    }
    return app.fetch(withoutBase(request, base));
  };
}

function isBareBase({ url, method }: Request, base: string): boolean {
  return base !== "" && method === "GET" && new URL(url).pathname === base;
}

/** Some frameworks remove the path of a mounted handler, others do not. */
function withoutBase(request: Request, base: string): Request {
  const url = new URL(request.url);
  if (base === "" || (url.pathname !== base && !url.pathname.startsWith(`${base}/`))) {
    return request;
  }
  url.pathname = url.pathname.slice(base.length) || "/";
  return new Request(url, request);
}

export function isPublicUrl(value: unknown): boolean {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, pathname, search, hash, username } = new URL(value);
  const isBare = pathname === "/" && search === "" && hash === "" && username === "";
  return isBare && (protocol === "https:" || protocol === "http:");
}
