/** A real SMTP server on this machine that keeps what it receives. */
import { SMTPServer } from "smtp-server";

export interface MailServer extends AsyncDisposable {
  readonly url: string;
  /** The messages as they came over the wire, by their Message-ID. */
  readonly received: ReadonlyMap<string, string>;
  /** Refuses the next messages, as a server in trouble does. */
  refuse(times: number): void;
}

export async function startMailServer(): Promise<MailServer> {
  const received = new Map<string, string>();
  let refusals = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusals > 0) {
          refusals -= 1;
          done(Object.assign(new Error("try again later"), { responseCode: 451 }));
          return;
        }
        const text = Buffer.concat(chunks).toString("utf8");
        // The channel sends a message again with the same id if the worker died in between.
        received.set(/^message-id: *(\S+)/im.exec(text)?.[1] ?? "", text);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refuse: (times) => {
      refusals = times;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
