/**
 * Stands between clients and PostgreSQL on loopback, and knows where one request ends and the next
 * begins. So it can cut a connection right before a statement reaches the server, or right after
 * the server has answered, or leave it half open.
 */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";

/** One request: what a client sends before it waits for an answer. */
export interface Request {
  readonly link: Link;
  /** The statement; empty for what is none. */
  readonly sql: string;
}

/** How a cut looks to the client: the connection ends, or is reset. */
export type Manner = "end" | "reset";

/** What becomes of a request. An answer that is not worth the cut is passed on after all. */
export type Fate =
  | { readonly kind: "pass" }
  | { readonly kind: "cut before"; readonly manner: Manner }
  | {
      readonly kind: "cut after";
      readonly manner: Manner;
      readonly isWorth: (rows: number) => boolean;
    };

export interface ProxyOptions {
  /** The address of the server. */
  readonly url: string;
  /** Whether a client of this name may connect. */
  readonly admits?: (application: string) => boolean;
  readonly fateOf?: (request: Request) => Fate;
}

export interface Proxy extends AsyncDisposable {
  /** The same address by way of the proxy. */
  readonly url: string;
  readonly links: ReadonlySet<Link>;
}

export async function openProxy(options: ProxyOptions): Promise<Proxy> {
  const links = new Set<Link>();
  const server = createServer({ noDelay: true }, (client) => {
    const link = new Link(client, options);
    links.add(link);
    client.once("close", () => links.delete(link));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(options.url);
  const address = server.address();
  url.port = String(typeof address === "object" ? address?.port : "");
  return {
    url: url.href,
    links,
    async [Symbol.asyncDispose]() {
      for (const link of links) link.cut();
      server.close();
      await once(server, "close");
    },
  };
}

type CutAfter = Extract<Fate, { readonly kind: "cut after" }>;

const READY_FOR_QUERY = "Z";
const DATA_ROW = "D";

/** One connection of a client, and the one to the server that belongs to it. */
export class Link {
  /** By the name that it gave when it connected. */
  application = "";
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #options: ProxyOptions;
  #isFrozen = false;
  /** What has come in and is not a whole message yet. */
  #fromClient: Buffer = Buffer.alloc(0);
  #fromServer: Buffer = Buffer.alloc(0);
  /** The messages of a request that is not complete yet. */
  #request: Buffer[] = [];
  #sql = "";
  /** The answer that is held back, and what for. */
  #held: { readonly fate: CutAfter; rows: number; readonly parts: Buffer[] } | null = null;
  #hasBegun = false;

  constructor(client: Socket, options: ProxyOptions) {
    const { hostname, port } = new URL(options.url);
    this.#client = client;
    this.#options = options;
    this.#server = connect({ host: hostname, port: Number(port), noDelay: true });
    for (const socket of [this.#client, this.#server]) socket.on("error", () => {});
    this.#client.on("close", () => this.cut());
    // The client of a half-open connection does not hear of its end.
    this.#server.on("close", () => this.#isFrozen || this.cut());
    this.#client.on("data", (chunk: Buffer) => this.#hearClient(chunk));
    this.#server.on("data", (chunk: Buffer) => this.#hearServer(chunk));
  }

  /** Ends both sides. */
  cut(manner: Manner = "end"): void {
    if (manner === "reset") this.#client.resetAndDestroy();
    this.#client.destroy();
    this.#server.destroy();
  }

  /** From now on nothing passes in either direction, and neither side is told. */
  freeze(): void {
    this.#isFrozen = true;
  }

  #hearClient(chunk: Buffer): void {
    if (this.#isFrozen) return;
    this.#fromClient = Buffer.concat([this.#fromClient, chunk]);
    if (!this.#hasBegun && !this.#begin()) return;
    const { messages, rest } = split(this.#fromClient);
    this.#fromClient = rest;
    for (const message of messages) this.#take(message);
  }

  /** The first message has no letter before its length. False: it is not whole yet, or refused. */
  #begin(): boolean {
    const bytes = this.#fromClient;
    if (bytes.length < 4 || bytes.length < bytes.readInt32BE(0)) return false;
    const length = bytes.readInt32BE(0);
    const words = bytes.toString("utf8", 8, length).split("\0");
    this.application = words[words.indexOf("application_name") + 1] ?? "";
    if (this.#options.admits?.(this.application) === false) {
      this.cut();
      return false;
    }
    this.#hasBegun = true;
    this.#server.write(bytes.subarray(0, length));
    this.#fromClient = bytes.subarray(length);
    return true;
  }

  /** Collects messages until the client waits: after a simple query, or a Sync. */
  #take(message: Buffer): void {
    const letter = letterOf(message);
    this.#request.push(message);
    if (letter === "Q") this.#sql = textAt(message, 5);
    // The name of the statement comes first, and is empty.
    if (letter === "P") this.#sql = textAt(message, message.indexOf(0, 5) + 1);
    if (letter !== "Q" && letter !== "S" && letter !== "X" && letter !== "p") return;
    const [bytes, sql] = [Buffer.concat(this.#request), this.#sql];
    this.#request = [];
    this.#sql = "";
    const fate = this.#options.fateOf?.({ link: this, sql }) ?? { kind: "pass" };
    if (fate.kind === "cut before") return this.cut(fate.manner);
    if (fate.kind === "cut after") this.#held = { fate, rows: 0, parts: [] };
    this.#server.write(bytes);
  }

  #hearServer(chunk: Buffer): void {
    if (this.#isFrozen) return;
    if (this.#held === null) {
      this.#client.write(chunk);
      return;
    }
    this.#fromServer = Buffer.concat([this.#fromServer, chunk]);
    const { messages, rest } = split(this.#fromServer);
    this.#fromServer = rest;
    for (const message of messages) this.#hold(message);
  }

  /** The server is ready: what it was asked to do is done, and committed. */
  #hold(message: Buffer): void {
    const held = this.#held;
    if (held === null) {
      this.#client.write(message);
      return;
    }
    held.parts.push(message);
    if (letterOf(message) === DATA_ROW) held.rows += 1;
    if (letterOf(message) !== READY_FOR_QUERY) return;
    this.#held = null;
    if (held.fate.isWorth(held.rows)) return this.cut(held.fate.manner);
    this.#client.write(Buffer.concat(held.parts));
  }
}

/** Whole messages: a letter, a length that counts itself, and the rest. */
function split(bytes: Buffer): { messages: Buffer[]; rest: Buffer } {
  const messages: Buffer[] = [];
  let from = 0;
  while (bytes.length - from >= 5) {
    const end = from + 1 + bytes.readInt32BE(from + 1);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(from, end));
    from = end;
  }
  return { messages, rest: bytes.subarray(from) };
}

function letterOf(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0);
}

function textAt(message: Buffer, from: number): string {
  return message.toString("utf8", from, message.indexOf(0, from));
}
