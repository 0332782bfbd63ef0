/** `millrace server` as a process of its own, on the loopback address. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../../../src/cli/main.ts", import.meta.url));
const READY = /^Millrace is at (\S+)$/m;

/** The secret of the owner of every server of a show. */
export const TOKEN = "a-token-for-shows-alone";

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  /** Where it listens, such as `http://127.0.0.1:7333`. */
  readonly origin: string;
  /** What it has printed: the origin, or without a token the link that signs a browser in. */
  readonly link: string;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** What it has written to its log. */
  readonly log: () => string;
  kill(signal: NodeJS.Signals): void;
}

export interface ServerSettings {
  /** The address of the store. */
  readonly url: string;
  readonly port: number;
  /** Null: there is no token, and the server prints a link. */
  readonly token?: string | null;
  readonly nodeOptions?: readonly string[];
  /** Runs the demo jobs as well. */
  readonly demo?: boolean;
  /** What is started, in place of `millrace server`. */
  readonly command?: readonly string[];
}

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/** Resolves when the server accepts requests. */
export async function startServer(settings: ServerSettings): Promise<ServerProcess> {
  const { url, port, token = TOKEN, nodeOptions = [], demo = false } = settings;
  const { command = ["server"] } = settings;
  const { MILLRACE_TOKEN: _, ...env } = process.env;
  const also = demo ? ["--demo"] : [];
  const args = [PROGRAM, ...command, ...also, "--db", url, "--port", String(port)];
  const child = spawn(process.execPath, ["--conditions=source", ...nodeOptions, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, ...(token === null ? {} : { MILLRACE_TOKEN: token }) },
  });
  alive.add(child);
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  const ended = once(child, "exit").then(([code, signal]: (number | NodeJS.Signals)[]) => {
    alive.delete(child);
    return code ?? signal ?? 0;
  });
  const ready = new Promise<string>((resolve) => {
    child.stdout.on("data", (text: Buffer) => {
      stdout += text.toString();
      const link = READY.exec(stdout)?.[1];
      if (link !== undefined) resolve(link);
    });
  });
  const early = ended.then((how) => Promise.reject(new Error(`ended early: ${how} ${stderr}`)));
  // An end after the start is no error.
  early.catch(() => {});
  const link = await Promise.race([ready, early]);
  return {
    pid: child.pid ?? 0,
    origin: new URL(link).origin,
    link,
    ended,
    log: () => stderr,
    kill: (signal) => void child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A port that no process listens on, and that a server may take again after a restart. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = addressOf(server.address());
  server.close();
  await once(server, "close");
  return port;
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (typeof address === "object" && address !== null) return address;
  throw new Error("the server has no port");
}

/** The memory of a process that is in RAM, in MB. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

/**
 * The connections that the server of a port has open. A client that does not read never learns that
 * it was cut off, so the client cannot be asked.
 */
export function connectionsOf(origin: string): number {
  const port = Number(new URL(origin).port).toString(16).toUpperCase().padStart(4, "0");
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  const fields = rows.map((row) => row.trim().split(/\s+/));
  return fields.filter(([, local, , state]) => local?.endsWith(`:${port}`) && state === "01")
    .length;
}
