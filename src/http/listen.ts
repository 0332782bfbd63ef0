/** Serves an app on a socket. */
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { systemClock } from "../lib/system.ts";

/** A client that reads nothing would otherwise keep the server from ending. */
const CLOSE_MS_MAX = 10_000;

export interface HttpListener {
  readonly port: number;
  /**
   * Accepts no new requests, and resolves when the current requests are finished. After
   * {@link CLOSE_MS_MAX} the connections that are left are cut.
   */
  close(): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Resolves when the server accepts requests. Rejects with the error of Node, e.g. `EADDRINUSE`. */
export function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  address: Address,
  graceMs: number = CLOSE_MS_MAX,
): Promise<HttpListener> {
  const server = createAdaptorServer({ fetch });
  let isClosing = false;
  const closeIdle = (): void => {
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  };
  const close = (): Promise<void> =>
    new Promise((resolve, reject) => {
      isClosing = true;
      const cancel = systemClock.after(graceMs, () => {
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
      server.close((error) => {
        cancel();
        if (error === undefined) resolve();
        else reject(error);
      });
      closeIdle();
    });
  // A keep-alive connection would otherwise stay open for seconds after its last response.
  server.on("request", (_: unknown, response: ServerResponse) => {
    response.once("close", () => {
      if (isClosing) closeIdle();
    });
  });

  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      resolve({ port: portOf(server.address()), close });
    });
  });
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
