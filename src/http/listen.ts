/** Gives an app a socket. */
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";

export interface Listening {
  readonly port: number;
  /** Takes no new requests, lets those under way finish, then resolves. */
  close(): Promise<void>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Resolves once requests are taken. Rejects with Node's own error, `EADDRINUSE` for example. */
export function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  address: Address,
): Promise<Listening> {
  const server = createAdaptorServer({ fetch });
  let isClosing = false;
  const cancelStatement = (): void => {
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  };
  const close = (): Promise<void> =>
    new Promise((resolve, reject) => {
      isClosing = true;
      server.close((error) => (error === undefined ? resolve() : reject(error)));
      cancelStatement();
    });
  // A connection that was answered during the close would be kept alive for seconds.
  server.on("request", (_: unknown, response: ServerResponse) => {
    response.once("close", () => {
      if (isClosing) cancelStatement();
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
