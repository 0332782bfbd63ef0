/** PgBouncer in front of a server that asks for no password, where the system has the program. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { connect, freePort, UNPRIVILEGED } from "./postgres.ts";

/** Debian has the program where the PATH of most users does not lead. */
const FOLDERS = ["/usr/sbin", "/usr/local/sbin"];
const START_TRIES_MAX = 200;

export type PoolMode = "transaction" | "session";

export interface PgBouncer extends AsyncDisposable {
  readonly url: string;
}

/** The path and the version of the program. Null: the system does not have it. */
export function findPgBouncer(): { readonly path: string; readonly version: string } | null {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...FOLDERS];
  for (const folder of folders) {
    const path = join(folder, "pgbouncer");
    const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
    if (status === 0) return { path, version: stdout.split("\n", 1)[0] ?? "" };
  }
  return null;
}

/** Starts the program with so many sessions of the server, and waits until it answers. */
export async function startPgBouncer(
  program: string,
  server: string,
  options: { readonly mode: PoolMode; readonly sessions: number },
): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-pgbouncer-"));
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, configuration(new URL(server), { ...options, port }));
  // PgBouncer refuses to run as root, and reads its file as another user.
  await chmod(folder, 0o755);
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const child = spawn(program, [file], { ...identity, cwd: folder, stdio: "pipe" });
  const url = new URL(server);
  url.port = String(port);
  const dispose = async (): Promise<void> => {
    await ended(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReached(child, url.href);
  } catch (error) {
    await dispose();
    throw error;
  }
  return { url: url.href, [Symbol.asyncDispose]: dispose };
}

/** Like that of many systems: nothing is tuned for Millrace. */
function configuration(
  { hostname, port: serverPort, username }: URL,
  { mode, sessions, port }: { mode: PoolMode; sessions: number; port: number },
): string {
  return `[databases]
postgres = host=${hostname} port=${serverPort} user=${username} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${sessions}
max_client_conn = 200
`;
}

async function untilReached(program: ChildProcess, url: string): Promise<void> {
  let log = "";
  for (const stream of [program.stdout, program.stderr]) {
    stream?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  }
  for (let tries = 0; tries < START_TRIES_MAX && program.exitCode === null; tries += 1) {
    try {
      await (await connect(url)).end();
      return;
    } catch {
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
  }
  throw new Error(`PgBouncer does not answer:\n${log}`);
}

async function ended(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, "exit");
  program.kill("SIGTERM");
  await exit;
}
