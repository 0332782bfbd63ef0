/** Streams on bare sockets, which may never read. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { TOKEN } from "./server-process.ts";

export interface RawStream {
  readonly socket: Socket;
  /** The bytes that were read. */
  readonly bytes: () => number;
  readonly isClosed: () => boolean;
}

/** Resolves when the server has answered. `reads`: or the socket is never read again. */
async function openRawStream(origin: string, path: string, reads: boolean): Promise<RawStream> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let bytes = 0;
  let isClosed = false;
  // A server that cuts a client off may reset the connection.
  socket.on("error", () => {});
  socket.on("close", () => (isClosed = true));
  await once(socket, "connect");
  const lines = [`GET ${path} HTTP/1.1`, `host: ${hostname}:${port}`];
  socket.write([...lines, `authorization: Bearer ${TOKEN}`, "", ""].join("\r\n"));
  await once(socket, "readable");
  const head = String(socket.read() ?? "");
  if (!head.startsWith("HTTP/1.1 200")) throw new Error(head.split("\r\n")[0]);
  if (reads) socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  return { socket, bytes: () => bytes, isClosed: () => isClosed };
}

/** Opens many, a few at a time. */
export async function openRawStreams(
  origin: string,
  count: number,
  { path, reads }: { readonly path: string; readonly reads: boolean },
): Promise<RawStream[]> {
  const streams: RawStream[] = [];
  while (streams.length < count) {
    const more = Math.min(50, count - streams.length);
    const opened = Array.from({ length: more }, () => openRawStream(origin, path, reads));
    streams.push(...(await Promise.all(opened)));
  }
  return streams;
}
