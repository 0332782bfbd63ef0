/** An SMTP server on loopback that answers as told, command by command. */
import { createServer, type Socket } from "node:net";

export interface RawSmtp extends AsyncDisposable {
  readonly url: string;
  /** All lines that clients have sent. */
  readonly lines: readonly string[];
  /** How many mails were accepted. */
  readonly accepted: number;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
}

/** The answer to a line, `.` for the end of a mail; null: the usual one. */
type Answers = (line: string) => string | null | Promise<string>;

export async function openRawSmtp(
  answers: Answers = () => null,
  greeting = "220 ready",
): Promise<RawSmtp> {
  const lines: string[] = [];
  const counted = { accepted: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.write(`${greeting}\r\n`);
    const session = { isInData: false };
    let text = "";
    socket.on("data", (chunk) => {
      const parts = (text + String(chunk)).split("\r\n");
      text = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        void answer(socket, session, line);
      }
    });
  });
  const answer = async (socket: Socket, session: { isInData: boolean }, line: string) => {
    if (session.isInData && line !== ".") return;
    const given = (await answers(line)) ?? usualAnswer(line);
    session.isInData = given.startsWith("354");
    if (line === "." && given.startsWith("2")) counted.accepted += 1;
    if (!socket.destroyed) socket.write(`${given}\r\n`);
    if (/^QUIT/i.test(line)) socket.end();
  };
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  return {
    url: `smtp://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    lines,
    get accepted() {
      return counted.accepted;
    },
    async idle() {
      const closed = [...sockets].map(
        (socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve())),
      );
      await Promise.all(closed);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function usualAnswer(line: string): string {
  if (/^DATA/i.test(line)) return "354 go on";
  return /^QUIT/i.test(line) ? "221 bye" : "250 ok";
}
