/** The network as Node reaches it. */
import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { EgressAnswer, EgressConnection } from "./egress.ts";

export async function resolveByNode(hostname: string): Promise<readonly string[]> {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

/** The socket goes to an address: no name is looked up, and no agent keeps the socket. */
export function connectByNode(connection: EgressConnection): Promise<EgressAnswer> {
  const { protocol, address, port, hostname, host, path, method, body, signal } = connection;
  const start = protocol === "https:" ? httpsRequest : httpRequest;
  const length = { "content-length": String(Buffer.byteLength(body ?? "")) };
  return new Promise((resolve, reject) => {
    const request = start(
      {
        protocol,
        host: address,
        port,
        path,
        method,
        headers: { ...connection.headers, host, ...length },
        agent: false,
        signal,
        // A certificate is checked for the name; the name of an address is the address.
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      },
      (answer) => {
        const head = { status: answer.statusCode ?? 0, headers: headersOf(answer) };
        if (connection.ignoresBody === true) {
          resolve({ ...head, body: "" });
          answer.destroy();
          return;
        }
        textOf(answer, connection).then((text) => resolve({ ...head, body: text }), reject);
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

async function textOf(
  answer: IncomingMessage,
  { answerBytesMax, host }: EgressConnection,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      answer.destroy();
      throw new Error(`${host} answered more than ${answerBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function headersOf({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]),
  );
}
