/**
 * Asks the server to give up a statement whose answer nobody waits for any more. Otherwise it might
 * wait for a lock, or hold one, long after its caller has tried again on another connection. The
 * request goes its own way and is never answered; whether it arrives is up to the network.
 */
import { createConnection } from "node:net";
import { systemClock } from "../../../lib/system.ts";

/** What stands in the place of a version in a request to cancel. */
const CANCEL = 80_877_102;
const HANG_UP_MS_MAX = 5_000;

/** The part of `pg.Client` by which a server knows a session. */
interface BackendKey {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/** Never throws. A client of another make, which does not say where it leads, is left alone. */
export function cancelStatement(client: object): void {
  const session = sessionOf(client);
  if (session === null) return;
  const { host, port, processID, secretKey } = session;
  const socket = createConnection(
    host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  const call = Buffer.alloc(16);
  for (const [index, word] of [16, CANCEL, processID, secretKey].entries()) {
    call.writeInt32BE(word, index * 4);
  }
  const stop = systemClock.after(HANG_UP_MS_MAX, () => socket.destroy());
  socket.on("error", () => {});
  socket.on("close", stop);
  socket.unref();
  socket.end(call);
}

function sessionOf(client: object): BackendKey | null {
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
