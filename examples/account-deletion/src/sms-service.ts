/** A provider of text messages with the contract of `smsChannel`: JSON, and a key for repeats. */
import { createServer } from "node:http";

interface Sms {
  readonly to: string;
  readonly text: string;
}

export interface SmsService extends AsyncDisposable {
  readonly url: string;
  /** The messages that were accepted, once for each idempotency key. */
  readonly sent: readonly Sms[];
  /** Refuses the next messages, as a provider in trouble does. */
  refuse(times: number): void;
}

export async function startSmsService(): Promise<SmsService> {
  const sent = new Map<string, Sms>();
  let refusals = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (refusals > 0) {
        refusals -= 1;
        response.writeHead(503).end();
        return;
      }
      const id = String(request.headers["idempotency-key"]);
      if (!sent.has(id)) sent.set(id, JSON.parse(Buffer.concat(chunks).toString("utf8")));
      response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ id }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/messages`,
    get sent() {
      return [...sent.values()];
    },
    refuse: (times) => {
      refusals = times;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
