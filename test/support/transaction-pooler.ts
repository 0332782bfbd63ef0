/**
 * A pooler in transaction mode, as PgBouncer has it: a client gets one of a few sessions of the
 * server for each transaction, and another one for the next. What a session remembers beyond a
 * transaction is lost to the client, and notifications are not delivered.
 */
import { once } from "node:events";
import { connect as connectTo, createServer, type Socket } from "node:net";

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
const PROTOCOL = 196_608;

export interface TransactionPooler extends AsyncDisposable {
  readonly url: string;
}

/** Starts a pooler with so many sessions, in front of a server that asks for no password. */
export async function startPooler(server: string, sessions: number): Promise<TransactionPooler> {
  const { hostname, port, username } = new URL(server);
  const clients = new Set<Socket>();
  const idle: Session[] = [];
  const waiting: ((session: Session) => void)[] = [];
  const lend = async (): Promise<Session> => idle.pop() ?? new Promise((go) => waiting.push(go));
  const giveBack = (session: Session): void => {
    session.owner = null;
    const next = waiting.shift();
    if (next === undefined) idle.push(session);
    else next(session);
  };
  const open = () => Session.open({ host: hostname, port: Number(port), user: username }, giveBack);
  const all = await Promise.all(Array.from({ length: sessions }, open));
  idle.push(...all);

  const pooler = createServer((client) => {
    clients.add(client);
    client.on("error", () => client.destroy());
    serve(client, lend);
  });
  pooler.listen(0, "127.0.0.1");
  await once(pooler, "listening");
  const address = new URL(server);
  const bound = pooler.address();
  address.port = String(typeof bound === "object" ? bound?.port : "");
  return {
    url: address.href,
    async [Symbol.asyncDispose]() {
      pooler.close();
      for (const client of clients) client.destroy();
      for (const session of all) session.socket.destroy();
    },
  };
}

/** Takes the messages of one client to the session of its present transaction. */
function serve(client: Socket, lend: () => Promise<Session>): void {
  let isStarted = false;
  let work: Promise<void> = Promise.resolve();
  let session: Session | null = null;
  const pass = async (before: Promise<void>, bytes: Buffer): Promise<void> => {
    await before;
    if (session?.owner !== client) session = await lend();
    session.owner = client;
    session.socket.write(bytes);
  };
  const messages = new Messages((bytes, kind) => {
    if (!isStarted) {
      isStarted = startUp(client, bytes);
      messages.hasKinds = isStarted;
      return;
    }
    if (kind === "X") {
      client.end();
      return;
    }
    work = pass(work, bytes);
  });
  client.on("data", (bytes) => messages.add(bytes));
  // A client that leaves within a transaction takes its session with it.
  client.on("close", () => void (session?.owner === client && session.socket.destroy()));
}

/** Answers the first messages of a client. True: the client is logged in. */
function startUp(client: Socket, bytes: Buffer): boolean {
  const code = bytes.readInt32BE(4);
  if (code === CANCEL_REQUEST) client.destroy();
  if (code === SSL_REQUEST) client.write("N");
  if (code !== PROTOCOL) return false;
  client.write(
    Buffer.concat([message("R", int32(0)), message("K", int32(1), int32(1)), message("Z", "I")]),
  );
  return true;
}

class Session {
  readonly socket: Socket;
  owner: Socket | null = null;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  static async open(
    { host, port, user }: { host: string; port: number; user: string },
    giveBack: (session: Session) => void,
  ): Promise<Session> {
    const socket = connectTo({ host, port });
    const session = new Session(socket);
    const ready = Promise.withResolvers<void>();
    const messages = new Messages((bytes, kind) => {
      session.owner?.write(bytes);
      if (kind !== "Z") return;
      ready.resolve();
      const isOver = bytes.toString("latin1", 5, 6) === "I";
      if (isOver && session.owner !== null) giveBack(session);
    });
    messages.hasKinds = true;
    socket.on("data", (bytes) => messages.add(bytes));
    socket.on("error", () => session.owner?.destroy());
    await once(socket, "connect");
    const parameters = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
    socket.write(Buffer.concat([int32(8 + parameters.length), int32(PROTOCOL), parameters]));
    await ready.promise;
    return session;
  }
}

/** Cuts a stream into messages. The first one of a client has no kind. */
class Messages {
  hasKinds = false;
  #rest: Buffer = Buffer.alloc(0);
  readonly #take: (bytes: Buffer, kind: string) => void;

  constructor(take: (bytes: Buffer, kind: string) => void) {
    this.#take = take;
  }

  add(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.hasKinds ? 1 : 0;
      if (this.#rest.length < head + 4) return;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      const taken = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      this.#take(taken, taken.toString("latin1", 0, head));
    }
  }
}

function message(kind: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([Buffer.from(kind), int32(4 + body.length), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
