/**
 * A page that shows the queue while it works, in a browser. It reads the HTTP API of Millrace, and
 * the example mounts this API with its own login: a link with a key, exchanged for a cookie.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { toNodeHandler, type HostUser } from "millrace/http";
import type { JobQueue } from "./job-queue.ts";

/** Where the API of Millrace is; the page names the same path. */
const API = "/millrace";
const COOKIE = "media_queue";
const FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "live-page.html", type: "text/html; charset=utf-8" },
  "/live-page.js": { file: "live-page.js", type: "text/javascript; charset=utf-8" },
};

export interface LivePage extends AsyncDisposable {
  /** Opens the page, signed in. */
  readonly link: string;
}

/** Serves the page on the loopback address. Port 0 means any free port. */
export async function serveLivePage(queue: JobQueue, port = 0): Promise<LivePage> {
  const key = randomBytes(24).toString("base64url");
  const server = createServer(toNodeHandler(livePageHandler(queue, key)));
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const used = typeof address === "object" && address !== null ? address.port : port;
  return {
    link: `http://127.0.0.1:${used}/?key=${key}`,
    async [Symbol.asyncDispose]() {
      // Streams would never end by themselves.
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function livePageHandler(queue: JobQueue, key: string): (request: Request) => Promise<Response> {
  const authenticate = (request: Request): HostUser | null =>
    isSame(cookieOf(request), key) ? { actor: "the page", roles: ["viewer"] } : null;
  const api = queue.createHandler({ basePath: API, authenticate });
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith(`${API}/`)) return api(request);
    const given = searchParams.get("key");
    if (given !== null) return signIn(isSame(given, key) ? key : null);
    if (authenticate(request) === null)
      return new Response("Open the printed link.", { status: 401 });
    // The same events in the words of this queue, for programs.
    if (pathname === "/events") return events(queue, request);
    const page = FILES[pathname];
    if (page === undefined) return new Response("There is nothing here.", { status: 404 });
    const text = await readFile(join(import.meta.dirname, page.file));
    return new Response(text, { headers: { "content-type": page.type } });
  };
}

/** The key leaves the address bar, and with it the history of the browser. */
function signIn(key: string | null): Response {
  const cookie = `${COOKIE}=${key}; HttpOnly; SameSite=Strict; Path=/`;
  const headers = { location: "/", ...(key === null ? {} : { "set-cookie": cookie }) };
  return new Response(null, { status: 303, headers });
}

function events(queue: JobQueue, request: Request): Response {
  const lastEventId = request.headers.get("last-event-id");
  const stream = queue.createEventStream(lastEventId === null ? {} : { lastEventId });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
  return new Response(stream, { headers });
}

function cookieOf(request: Request): string {
  const cookies = request.headers.get("cookie") ?? "";
  return new RegExp(`(?:^|; )${COOKIE}=([^;]*)`).exec(cookies)?.[1] ?? "";
}

function isSame(given: string, key: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(key));
}
