/** The handler as a listener of `node:http`, and so of Express, Fastify and others. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";

/**
 * Makes a `fetch` handler a request listener of `node:http`. Express mounts the listener with
 * `app.use("/jobs", listener)`.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createHandler, toNodeHandler } from "millrace/http";
 * import { createTestMill } from "millrace/testing";
 *
 * await using test = await createTestMill();
 * const server = createServer(toNodeHandler(createHandler({ mill: test.mill }))).listen(0);
 * server.close();
 * ```
 */
export function toNodeHandler(
  handler: (request: Request) => Response | Promise<Response>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const listener = getRequestListener((request) => handler(request));
  return (request, response) => void listener(request, response);
}
