/** An HTTP server on loopback that keeps what it is asked. */
import { createServer, type IncomingMessage } from "node:http";

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The body never ends. */
  readonly isEndless?: boolean;
}

export async function openHttp(answer: (count: number) => Answer) {
  const requests: Asked[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body });
      const given = answer(requests.length);
      response.writeHead(given.status, given.headers);
      if (given.isEndless === true) response.write(given.body ?? "");
      else response.end(given.body ?? "");
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    origin: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
