/** The handler as a listener of `node:http`, and so of Express, Fastify and others. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";

/**
 * Makes a `fetch` handler a request listener of `node:http`. Express mounts the listener with
 * `app.use("/jobs", listener)`.
 *
 * @example
 * const listener = toNodeHandler(createHandler({ mill }));
 * const server = createServer(listener).listen(0);
 * server.close();
 */
export function toNodeHandler(
  handler: (request: Request) => Response | Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const listener = getRequestListener((request) => handler(request));
  return (request, response) => void listener(request, response);
}
