/**
 * Sends a cancel request for a statement that has timed out. Otherwise the statement could wait for
 * a lock, or hold one, long after its caller has retried on another connection. The request uses a
 * connection of its own and gets no answer; delivery is best effort.
 */
import { createConnection } from "node:net";
import { systemClock } from "../../../lib/system.ts";

/** The code of a cancel request, in place of the protocol version. */
const CANCEL = 80_877_102;
const REQUEST_MS_MAX = 5_000;

/** The properties of `pg.Client` that identify its server process. */
interface BackendKey {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/** Never throws. Does nothing for a client of another library without these properties. */
export function cancelStatement(client: object): void {
  const backend = backendKeyOf(client);
  if (backend === null) return;
  const { host, port, processID, secretKey } = backend;
  const socket = createConnection(
    host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  const request = Buffer.alloc(16);
  for (const [index, value] of [16, CANCEL, processID, secretKey].entries()) {
    request.writeInt32BE(value, index * 4);
  }
  const stop = systemClock.after(REQUEST_MS_MAX, () => socket.destroy());
  socket.on("error", () => {});
  socket.on("close", stop);
  socket.unref();
  socket.end(request);
}

function backendKeyOf(client: object): BackendKey | null {
  const [host, port, processID, secretKey] = ["host", "port", "processID", "secretKey"].map(
    (name): unknown => Reflect.get(client, name),
  );
  const isKnown =
    typeof host === "string" &&
    typeof port === "number" &&
    typeof processID === "number" &&
    typeof secretKey === "number";
  return isKnown ? { host, port, processID, secretKey } : null;
}
