/**
 * The server as one function from request to response. It knows no socket, so that tests ask it
 * directly, and no store: it is handed the little that it reads.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { State } from "../core/job.ts";
import { STATES } from "../core/job.ts";
import { foreignHost, notFound, problem } from "./problem.ts";

/** Counting stops here: nobody acts differently on the eleven-thousandth job. */
const COUNT_MAX = 10_000;

const OWN_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);

const PAGE: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "index.html", type: "text/html; charset=utf-8" },
  "/style.css": { file: "style.css", type: "text/css; charset=utf-8" },
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
};

export interface AppParts {
  /** Counts jobs in a state, up to `max`. Rejects when the store does not answer. */
  count(filter: { readonly states: readonly State[] }, max: number): Promise<number>;
  /** The folder with the dashboard's files. */
  readonly pageFolder: string;
}

interface Overview {
  readonly states: readonly {
    readonly state: State;
    readonly count: number;
    /** There are more than `count`. */
    readonly more: boolean;
  }[];
}

/** Makes the server's `fetch`. */
export function createApp(parts: AppParts): Hono {
  const app = new Hono();
  app.use(guardedHeaders());
  app.use(async (context, next) => {
    const isOwn = isOwnName(context.req.header("host") ?? new URL(context.req.url).host);
    return isOwn ? next() : foreignHost();
  });
  app.notFound((context) => notFound(context.req.path));
  app.onError((error) => problem(error));

  app.get("/livez", (context) => context.json({ status: "alive" }));
  app.get("/readyz", async (context) => {
    await parts.count({ states: ["running"] }, 1);
    return context.json({ status: "ready", checks: { store: "answers" } });
  });
  app.get("/api/v1/overview", async (context) => context.json(await overview(parts)));

  for (const [path, { file, type }] of Object.entries(PAGE)) {
    app.get(path, async (context) => {
      const text = await readFile(join(parts.pageFolder, file), "utf8");
      return context.body(text, 200, { "content-type": type });
    });
  }
  return app;
}

/** What a page of ours may do is listed; everything else is refused by the browser. */
function guardedHeaders(): ReturnType<typeof secureHeaders> {
  const headers = secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      imgSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
    referrerPolicy: "no-referrer",
    // Meaningless on a loopback address without TLS.
    strictTransportSecurity: false,
    xFrameOptions: "DENY",
  });
  return async (context, next) => {
    await headers(context, next);
    context.header("cache-control", "no-store");
  };
}

/** A page elsewhere can make its name point to this machine, but its requests bear that name. */
function isOwnName(host: string): boolean {
  return OWN_NAMES.has(host.replace(/:\d+$/, "").toLowerCase());
}

async function overview(parts: AppParts): Promise<Overview> {
  const states = STATES.map(async (state) => {
    const count = await parts.count({ states: [state] }, COUNT_MAX + 1);
    return { state, count: Math.min(count, COUNT_MAX), more: count > COUNT_MAX };
  });
  return { states: await Promise.all(states) };
}
