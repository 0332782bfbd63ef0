/**
 * The world around the queue, for the tour and the tests: one server on 127.0.0.1 that makes up
 * WAV files to download, and takes objects under the hash of their content.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { writeWhole } from "./media-folder.ts";
import { encodeWav } from "./wav.ts";

const SECONDS = 1;
const RATE = 44_100;
const OBJECT_BYTES_MAX = 20_000_000;

export interface LoopbackOptions {
  /** Where objects are kept. */
  readonly folder: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Waited for before each quarter of a download, and before the answer to an upload. */
  readonly pace?: (request: string, percent: number) => Promise<void>;
}

export interface Loopback extends AsyncDisposable {
  readonly media: string;
  readonly objects: string;
  /** Every request so far, such as `GET /media/440.wav`. */
  readonly requests: readonly string[];
  /** The next requests of this method are answered with these statuses, one after the other. */
  refuse(method: "GET" | "PUT", ...statuses: number[]): void;
}

export async function startLoopback(options: LoopbackOptions): Promise<Loopback> {
  const requests: string[] = [];
  const refusals: Record<string, number[]> = { GET: [], PUT: [] };
  await mkdir(options.folder, { recursive: true });
  const server = createServer((request, response) => {
    requests.push(nameOf(request));
    const refusal = refusals[request.method ?? ""]?.shift();
    answer(request, response, refusal, options).catch(() => response.destroy());
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    media: `http://127.0.0.1:${port}/media`,
    objects: `http://127.0.0.1:${port}/objects`,
    requests,
    refuse: (method, ...statuses) => void refusals[method]?.push(...statuses),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: number | undefined,
  options: LoopbackOptions,
): Promise<void> {
  const [, place, name = ""] = (request.url ?? "").split("/");
  const isTone = place === "media" && /^\d{2,4}\.wav$/.test(name);
  const isObject = place === "objects" && /^[0-9a-f]{64}\.wav$/.test(name);
  if (refusal !== undefined) return end(request, response, refusal);
  if (request.method === "GET" && isTone) return sendTone(request, response, options);
  if (request.method === "PUT" && isObject) return keepObject(request, response, options);
  end(request, response, 404);
}

async function sendTone(
  request: IncomingMessage,
  response: ServerResponse,
  { pace }: LoopbackOptions,
): Promise<void> {
  const wav = encodeWav(tone(Number.parseInt(request.url?.split("/").at(-1) ?? "", 10)));
  response.writeHead(200, { "content-type": "audio/wav", "content-length": wav.length });
  for (const quarter of [0, 1, 2, 3]) {
    await pace?.(nameOf(request), quarter * 25);
    const [from, to] = [quarter, quarter + 1].map((part) => Math.round((wav.length * part) / 4));
    response.write(wav.subarray(from, to));
  }
  response.end();
}

/** Left and right of different loudness, so that it can be heard what became of them. */
function tone(hz: number) {
  const channel = (loudness: number): Float32Array =>
    Float32Array.from({ length: SECONDS * RATE }, (_, at) => {
      return loudness * Math.sin((2 * Math.PI * hz * at) / RATE);
    });
  return { rate: RATE, channels: [channel(0.3), channel(0.1)] };
}

async function keepObject(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, pace }: LoopbackOptions,
): Promise<void> {
  const content = await contentOf(request);
  const name = `${createHash("sha256").update(content).digest("hex")}.wav`;
  // An object is what its name says.
  if (!request.url?.endsWith(name)) return end(request, response, 422);
  await pace?.(nameOf(request), 100);
  await writeWhole(join(folder, name), content);
  end(request, response, 201);
}

async function contentOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > OBJECT_BYTES_MAX) throw new Error("an object has at most 20 MB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function end(request: IncomingMessage, response: ServerResponse, status: number): void {
  // What was sent along is taken in and forgotten, so that the connection serves again.
  request.resume();
  response.writeHead(status).end();
}

function nameOf({ method, url }: IncomingMessage): string {
  return `${method} ${url}`;
}
